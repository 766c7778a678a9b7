"""The document of ``summary.json``, from the records of the runs alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.folders import SUMMARY_FORMAT
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.summary.counting import all_suspect, counting, left_out, middle
from benchyard.results.summary.metrics import describe_metrics, levels_of
from benchyard.statistics.advice import advise

FORMAT = SUMMARY_FORMAT
VERSION = 3

#: The metric that is told of whatever a resource owns.
_CPU = "resource_cpu_s"
_ByRun = Mapping[int, StepRecord]


def summarize(
    title: str,
    runs: Iterable[RunRecord],
    *,
    unfinished: Sequence[RunRecord] = (),
    include_suspect: bool = False,
) -> JsonObject:
    """Return the document of ``summary.json``.

    Args:
        title: Title of the case.
        runs: The record of each done run, in any order; none at all is fine.
        unfinished: Records of runs that do not count; their steps are counted as left out.
        include_suspect: Whether executions that are not to be trusted are described too.
    """
    records = sorted(runs, key=lambda record: record.run)
    by_index = _by_index(records)
    undone, known = _by_index(unfinished), _differing(records)
    wholly = all_suspect(by_index, include_suspect=include_suspect)
    warnings = [*_unknown_use(records), *wholly]
    return {
        "format": FORMAT,
        "version": VERSION,
        "case": title,
        "made_by": _made_by(records),
        "n_runs": len(records),
        "runs": [_about(record) for record in records],
        "include_suspect": include_suspect,
        "median_run": median_run(records, include_suspect=include_suspect),
        "warnings": list[Json](warnings),
        "steps": [
            _step(by_run, undone.get(index, {}), known, include_suspect=include_suspect)
            for index, by_run in sorted(by_index.items())
        ],
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
        told = [_inside(record.environment, path) for record in records]
        values = list(dict.fromkeys(str(value) for value in told if value is not None))
        if 1 < len(values) < len(records):
            found.append(what if path == ("boot", "id") else f"{what} {' and '.join(values)}")
    return ", ".join(found)


def _inside(facts: Mapping[str, Json], path: Sequence[str]) -> Json:
    value: Json = dict(facts)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


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


def median_run(records: Iterable[RunRecord], *, include_suspect: bool = False) -> int | None:
    """Return the number of the run that stands for all, or None if nothing was measured.

    Runs in which fewer measured steps count than in others took less time for less work, and are
    left out. Of an even number of runs it is the lower one of the two in the middle, so that the
    run is always one that took place.
    """
    totals: list[tuple[int, float, int]] = []
    for record in records:
        found = [duration_s(step, include_suspect=include_suspect) for step in record.steps]
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


def _measured(by_run: _ByRun, known: str, *, include_suspect: bool) -> JsonObject:
    found = {run: counting(step, include_suspect=include_suspect) for run, step in by_run.items()}
    repetitions = {run: made for run, made in found.items() if made}
    levels = [levels_of(by_run[run].sampled) for run in repetitions]
    middles = (middle(one.duration_s for one in made) for made in repetitions.values())
    lengths = [length for length in middles if length is not None]
    return {
        "suspect": [
            {"run": run, "reasons": list[Json](step.suspect)}
            for run, step in by_run.items()
            if step.suspect
        ],
        "advice": list[Json](advise(lengths, known=known) if lengths else ()),
        "runs": list[Json](repetitions),
        "repetitions": sum(len(made) for made in repetitions.values()),
        "metrics": describe_metrics(list(repetitions.values()), levels),
    }
