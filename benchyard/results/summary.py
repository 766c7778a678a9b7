"""What the done runs of a case say together: ``summary.json`` and KROWN's three CSV files.

The document, format ``benchyard-summary``:

case: title. made_by: "Benchyard", or "KROWN" for results without records. runs: number, outcome,
dates and host_quality (``quiet``, ``noisy``, ``suspect`` or ``unknown``) of each run, in order.
suspect_rule: what becomes of suspect executions: ``auto`` (those of a step count where fewer than
six of its runs are trusted), ``include`` or ``leave-out``. include_suspect: whether those of any
step are described below.
median_run: number of the run whose measured steps took the median of all totals (the lower one of
an even number), or null.
warnings: what a reader should know before comparing.
unreadable: numbers of finished runs that are left out, since what they left cannot be read; the
warnings say why.
adaptive: only where precision decided how many runs there are: the ``rule`` declared before the
first run, and what it came to (``stopped``, ``precise``, ``runs``, ``look``, ``why``, and each
step's relative half-width).
subject: what the runs measured, as in ``run.json``. other_subjects: of the runs in the same folder
that measured something else, documents with the members above and ``steps``, newest first.
files: only where another program made the runs, name to size and date (ns) of the files written
beside, so that those of the other program are known.
steps: in the order of the case, each with
  outcomes: how often it ended how, over all runs; attempts: the same for its single attempts.
  left_out: why to how many of its executions are not described below: an outcome ("failed",
    "tolerated", "skipped", "timed_out", "cancelled"), "suspect" (its counters or the testbed say
    that it was disturbed), "no_duration" (KROWN's samples do not tell it), "unfinished_run" (the
    run it belongs to was not finished).
  suspect: run and reasons of each suspect execution, described or not. suspect_counted: how many of
    them are described.
  advice: what to do for better numbers, in words, from the durations.
  runs: numbers of the runs that are described, the only ones that count below.
  repetitions: how many measured executions these have.
  metrics: name to unit, direction ("smaller is better", "larger is better" or null), source
    (clock, counters, samples or command), statistics over the runs (the members of
    ``benchyard.statistics.Description``), the runs' values in their order (of a run with several
    repetitions their median; null is unknown), and the repetitions' own values, or null where
    each run has one, which is its value.
A step with ``measure: false`` is listed without left_out and what follows it.

Versions of the format:
1: the first.
3: subject, other_subjects.
4: suspect_rule; host_quality of each run; of each step suspect_counted.
2: made_by, include_suspect, unreadable, adaptive, files; of each step left_out, suspect and advice;
   suspect executions are left out; metrics from samples; statistics have intervals and more;
   repetitions are null where each run has one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.quantity import plural
from benchyard.results.folders import SUMMARY_FORMAT
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.summary_metrics import (
    counting,
    declared_kinds,
    describe_metrics,
    left_out,
    levels_of,
    middle,
    suspicions,
)
from benchyard.results.trust import Suspect, counts_suspect, host_quality
from benchyard.statistics.advice import advise
from benchyard.statistics.intervals import fewest_for_median

FORMAT = SUMMARY_FORMAT
VERSION = 4

#: The metric that is told of whatever a resource owns.
_CPU = "resource_cpu_s"
_ByRun = Mapping[int, StepRecord]


def summarize(
    title: str,
    runs: Iterable[RunRecord],
    *,
    unfinished: Sequence[RunRecord] = (),
    suspect: Suspect = Suspect.AUTO,
) -> JsonObject:
    """Return the document of ``summary.json``.

    Args:
        title: Title of the case.
        runs: The record of each done run, in any order; none at all is fine.
        unfinished: Records of runs that do not count; their steps are counted as left out.
        suspect: What becomes of executions that are not to be trusted.
    """
    records = sorted(runs, key=lambda record: record.run)
    by_index = _by_index(records)
    undone, known = _by_index(unfinished), _differing(records)
    included = {index: counts_suspect(of.values(), suspect) for index, of in by_index.items()}
    warnings = [*_unknown_use(records), *suspicions(by_index, included)]
    steps = [
        _step(by_run, undone.get(index, {}), known, include_suspect=included[index])
        for index, by_run in sorted(by_index.items())
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "case": title,
        "made_by": _made_by(records),
        "n_runs": len(records),
        "runs": [_about(record) for record in records],
        "suspect_rule": suspect.value,
        "include_suspect": any(step.get("suspect_counted") for step in steps),
        "median_run": median_run(records, included),
        "warnings": list[Json](warnings),
        "steps": list[Json](steps),
    }


def _by_index(records: Iterable[RunRecord]) -> dict[int, dict[int, StepRecord]]:
    found: dict[int, dict[int, StepRecord]] = {}
    for record in records:
        for step in record.steps:
            found.setdefault(step.index, {})[record.run] = step
    return found


def _made_by(records: Sequence[RunRecord]) -> str:
    others = [made for r in records if isinstance(made := r.collector.get("made_by"), str)]
    return others[0] if others else "Benchyard"


def _about(record: RunRecord) -> JsonObject:
    return {
        "run": record.run,
        "outcome": record.outcome.value,
        "started_at": record.started_at or None,
        "duration_s": record.duration_s,
        "host_quality": host_quality(record).value,
    }


#: What of a testbed explains that runs of one subject differ: in words, and where it stands.
_CAUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("kernel", ("kernel",)),
    ("boot", ("boot", "id")),
    ("frequency governor", ("cpu", "governor")),
    ("turbo", ("cpu", "turbo")),
    ("power supply", ("power", "supply")),
    ("huge pages", ("huge_pages", "enabled")),
    ("Python", ("python",)),
    ("Benchyard", ("benchyard",)),
)


def _differing(records: Sequence[RunRecord]) -> str:
    """Say in what the testbed differed between runs: "turbo True and False".

    Nothing if each differs from all others, as boots after each run would.
    """
    found: list[str] = []
    for what, path in _CAUSES:
        told = [record.fact(*path) for record in records]
        values = list(dict.fromkeys(str(value) for value in told if value is not None))
        if 1 < len(values) < len(records):
            found.append(what if path == ("boot", "id") else f"{what} {' and '.join(values)}")
    return ", ".join(found)


def _unknown_use(records: Sequence[RunRecord]) -> list[str]:
    """Say how often nobody knows what the measured program used, which a null in a file hides."""
    steps = [step for record in records for step in record.steps if step.measure]
    measured = [one for step in steps for one in step.measured]
    owned = [one.used[_CPU] for one in measured if _CPU in one.used]
    unknown = owned.count(None)
    if not unknown:
        return []
    return [
        f"what the measured program used (CPU time, memory) is not known in {unknown} of "
        f"{len(owned)} executions; 'unknown' under 'collector' in run.json says why"
    ]


def median_run(
    records: Iterable[RunRecord], included: Mapping[int, bool] = MappingProxyType({})
) -> int | None:
    """Return the number of the run that stands for all, or None if nothing was measured.

    Runs in which fewer measured steps count than in others took less time for less work, and are
    left out. Of an even number of runs it is the lower one of the two in the middle, so that the
    run is always one that took place.

    Args:
        included: By the step's index, whether its suspect executions count; else they do not.
    """
    totals: list[tuple[int, float, int]] = []
    for record in records:
        found = [
            duration_s(step, include_suspect=included.get(step.index, False))
            for step in record.steps
        ]
        values = [value for value in found if value is not None]
        if values:
            totals.append((len(values), sum(values), record.run))
    most = max((steps for steps, _, _ in totals), default=0)
    ordered = sorted((total, run) for steps, total, run in totals if steps == most)
    return ordered[(len(ordered) - 1) // 2][1] if ordered else None


def duration_s(step: StepRecord, *, include_suspect: bool) -> float | None:
    """Return a measured step's time in one run (s), the median of its repetitions."""
    return middle(r.duration_s for r in counting(step, include_suspect=include_suspect))


def _step(by_run: _ByRun, undone: _ByRun, known: str, *, include_suspect: bool) -> JsonObject:
    """Sum up one step over the runs, given in order."""
    last = list(by_run.values())[-1]
    attempts = [attempt for step in by_run.values() for attempt in step.attempts]
    document: JsonObject = {
        "index": last.index,
        "id": last.id,
        "name": last.name,
        "resource": last.resource,
        "command": last.command,
        "measured": last.measure,
        "outcomes": _counted(step.outcome for step in by_run.values()),
        "attempts": _counted(attempt.outcome for attempt in attempts),
    }
    if last.measure:
        document["left_out"] = left_out(by_run, undone.values(), include_suspect=include_suspect)
        document |= _measured(by_run, known, include_suspect=include_suspect)
    return document


def _counted(outcomes: Iterable[Outcome]) -> JsonObject:
    counts = Counter(outcomes)
    return {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]}


def _advice(lengths: Sequence[float], suspect: int, known: str) -> Sequence[str]:
    """Return what to do; where too few runs count as they are suspect, more alone do not help.

    Args:
        lengths: Of the runs that count (s).
        suspect: Runs that do not.
    """
    if not lengths:
        return ()
    if suspect and len(lengths) < fewest_for_median():
        verb = "counts" if len(lengths) == 1 else "count"
        return (
            f"{plural(len(lengths), 'run')} {verb}, {suspect} left out as suspect: quieten the "
            "host (benchyard doctor says how), and add runs",
        )
    return advise(lengths, known=known)


def _measured(by_run: _ByRun, known: str, *, include_suspect: bool) -> JsonObject:
    found = {run: counting(step, include_suspect=include_suspect) for run, step in by_run.items()}
    repetitions = {run: made for run, made in found.items() if made}
    levels = [levels_of(by_run[run].sampled) for run in repetitions]
    middles = (middle(one.duration_s for one in made) for made in repetitions.values())
    lengths = [length for length in middles if length is not None]
    doubted = sum(bool(step.suspect) for step in by_run.values())
    return {
        "suspect": [
            {"run": run, "reasons": list[Json](step.suspect)}
            for run, step in by_run.items()
            if step.suspect
        ],
        "suspect_counted": doubted if include_suspect else 0,
        "advice": list[Json](_advice(lengths, 0 if include_suspect else doubted, known)),
        "runs": list[Json](repetitions),
        "repetitions": sum(len(made) for made in repetitions.values()),
        "metrics": describe_metrics(
            list(repetitions.values()), levels, declared_kinds(list(by_run.values())[-1])
        ),
    }
