"""The two forms of rows.

tidy: a row for each run, step, repetition and metric.
summarized: a row for each case or point, step and metric, as summary.json has them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject, Outcome
from benchyard.core.wording import some
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.subject import differences, digest_of, subject_of, told_versions
from benchyard.results.summary import summarize
from benchyard.results.summary_metrics import (
    UNFINISHED_RUN,
    Numbers,
    declared_kinds,
    left_out_because,
    levels_of,
    name_of,
    numbers_of,
    sampled_numbers,
    unit_and_direction,
)
from benchyard.results.trust import Suspect, counts_suspect, host_quality
from benchyard.show.export.columns import (
    ORIGIN,
    STATISTICS,
    Cell,
    Cells,
    Metrics,
    Rows,
    in_utc,
    in_words,
    own_column,
    point_cell,
    point_columns,
    text,
)
from benchyard.show.export.sources import CaseFolder, read

#: Why executions are left out, beside the reasons of ``summary.json``.
SET_UP, WARMUP, OTHER_SUBJECT = "set_up", "warmup", "other_subject"
_COLUMNS = (
    *("campaign", "run", "step", "step_id", "step_name", "attempt", "repetition"),
    *("metric", "value", "unit", "direction", "source"),
    *("outcome", "left_out", "suspect", "suspect_reasons", "began", *ORIGIN, "host_quality"),
)
#: Digits of a subject's digest, as in the name of a campaign's folder.
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the runs is wanted.

    Args:
        metrics: Metric, or glob; may be given several times. Without any all are taken.
        suspect: Suspect executions; auto counts them, marked, where too few others are left.
        counted: Only executions that the statistics describe.
    """

    metrics: tuple[str, ...] = ()
    suspect: Suspect = Suspect.AUTO
    counted: bool = False


@dataclass(frozen=True, slots=True)
class _Execution:
    """Numbers that belong together: of one execution of a command, or of a step's samples.

    Args:
        attempt: Which one; None if there was none.
        repetition: Its place in the attempt; None for what never began, and for samples.
        numbers: Source and name to value.
        left_out: Why it does not count; None if it does.
        began: ISO 8601; None if it is not known.
    """

    attempt: int | None
    repetition: int | None
    numbers: Numbers
    outcome: Outcome
    left_out: str | None
    suspect: Sequence[str] = ()
    began: str | None = None

    @property
    def of_command(self) -> bool:
        """Whether these are no samples of what another one tells of already."""
        return ("clock", DURATION) in self.numbers


class Tally:
    """What was seen while rows were read: what cannot be read, and what does not count.

    Each reading of the rows begins it anew.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was seen."""
        self.executions = self.suspect = 0
        self.left_out: Counter[str] = Counter()
        self.unreadable: list[str] = []

    def counts(self, made: _Execution) -> bool:
        """Count an execution, and tell whether it counts in the statistics."""
        self.executions += made.of_command
        self.suspect += made.of_command and made.left_out is None and bool(made.suspect)
        if made.left_out is not None and made.of_command:
            self.left_out[made.left_out] += 1
        return made.left_out is None


def tidy(sources: Sequence[CaseFolder], choice: Choice, tally: Tally) -> Rows:
    """Return the rows of all runs of some cases, case by case and in the order of the runs."""
    return rows_of_sources(_COLUMNS, sources, choice, tally, _of_source)


def rows_of_sources(
    names: Sequence[str],
    sources: Sequence[CaseFolder],
    choice: Choice,
    tally: Tally,
    of_source: Callable[[CaseFolder, Choice, Tally, Metrics], Iterator[Cells]],
) -> Rows:
    """Return the rows of some cases, one after another.

    They begin with the case, its point and its campaign. Reading them raises an ``InputError`` at
    the end, if there was none, or a wanted metric is nowhere.

    Args:
        names: Of the columns but for those of the case and its point.
        of_source: Yields what stands behind the campaign.
    """
    points = point_columns([source.point for source in sources], ["case", *names])

    def read_rows() -> Iterator[Cells]:
        metrics, made = Metrics(choice.metrics), 0
        tally.begin()
        for source in sources:
            point = (point_cell(source.point.get(name), c.kind) for name, c in points.items())
            start = (text(source.case), *point, text(source.campaign))
            for cells in of_source(source, choice, tally, metrics):
                made += 1
                yield (*start, *cells)
        metrics.refuse_unmatched()
        refuse_nothing(made, sources, tally.unreadable)

    columns = [own_column("case"), *points.values(), *map(own_column, names)]
    return Rows(columns, read_rows)


def refuse_nothing(made: int, sources: Sequence[CaseFolder], unreadable: Sequence[str]) -> None:
    """Refuse to write a file without a row.

    Raises:
        InputError: It says where nothing was found, and what cannot be read.
    """
    if not made:
        where = some([source.title for source in sources])
        nothing = f"{where}: no run to export; benchyard run makes them"
        raise InputError("\n".join([nothing, *unreadable]))


def _of_source(
    source: CaseFolder, choice: Choice, tally: Tally, metrics: Metrics
) -> Iterator[Cells]:
    found = read(source)
    tally.unreadable += found.unreadable
    runs = [(r, OTHER_SUBJECT if at else None) for at, g in enumerate(found.groups) for r in g]
    runs += [(record, UNFINISHED_RUN) for record in found.unfinished]
    taken = {index: _measured(steps) for index, steps in _by_step(r for r, _ in runs).items()}
    newest = _by_step(chain(*found.groups[:1]))
    included = {index: counts_suspect(steps, choice.suspect) for index, steps in newest.items()}
    for record, why in sorted(runs, key=lambda one: one[0].run):
        end = (*origin(record), host_quality(record).value)
        for step in record.steps:
            before = (record.run, step.index, text(step.id), text(step.name))
            kinds = declared_kinds(step)
            include_suspect = included.get(step.index, True)
            for made in _executions(step, why, taken[step.index], include_suspect=include_suspect):
                if tally.counts(made) or not choice.counted:
                    yield from _rows(before, made, end, metrics, kinds)


def _by_step(records: Iterable[RunRecord]) -> dict[int, list[StepRecord]]:
    """Return the records of each step of some runs, by its index."""
    steps: dict[int, list[StepRecord]] = {}
    for step in (step for record in records for step in record.steps):
        steps.setdefault(step.index, []).append(step)
    return steps


def _measured(steps: Iterable[StepRecord]) -> set[str]:
    """Return the names that the lab itself measures."""
    attempts = (attempt for step in steps for attempt in step.attempts)
    return {DURATION}.union(*(made.used for one in attempts for made in one.repetitions))


def _executions(
    step: StepRecord, why: str | None, taken: Collection[str], *, include_suspect: bool
) -> Iterator[_Execution]:
    """Yield what one step of a run is told of.

    Args:
        why: Why the whole run is left out; None if it is not.
        taken: Names that the lab itself measures.
        include_suspect: Whether suspect executions of the step count.
    """
    reason = left_out_because(step, include_suspect=include_suspect)
    whole = why or (reason if step.measure else SET_UP)
    number = step.attempts[-1].number if step.attempts else None
    if not any(attempt.repetitions for attempt in step.attempts):
        reason = whole or step.outcome.value
        yield _Execution(number, None, {("clock", DURATION): None}, step.outcome, reason)
        return
    for attempt in step.attempts:
        last = attempt is step.attempts[-1]
        for place, made in enumerate(attempt.repetitions, 1):
            reason = WARMUP if made.kind == "warmup" else None if last else attempt.outcome.value
            yield _Execution(
                attempt.number,
                place,
                {(key[0], name_of(key, taken)): v for key, v in numbers_of(made).items()},
                made.outcome,
                whole or reason,
                made.suspect,
                made.started_at or attempt.started_at,
            )
    sampled = sampled_numbers(levels_of(step.sampled))
    if sampled:
        numbers = {("samples", name): value for name, value in sampled.items()}
        yield _Execution(number, None, numbers, step.outcome, whole, step.suspect)


def _rows(
    before: Cells,
    made: _Execution,
    end: Cells,
    metrics: Metrics,
    kinds: Mapping[str, tuple[str | None, str | None]],
) -> Iterator[Cells]:
    after = (
        made.outcome.value,
        made.left_out,
        bool(made.suspect),
        text("; ".join(made.suspect)),
        in_utc(made.began),
        *end,
    )
    for (source, name), value in made.numbers.items():
        known = value is not None or name == DURATION
        if metrics.take(name) and known:
            declared = kinds.get(name) if source == "command" else None
            unit, direction = declared or unit_and_direction(name)
            metric = (text(name), value, unit, direction, source)
            yield (*before, made.attempt, made.repetition, *metric, *after)


def origin(record: RunRecord) -> Cells:
    """Return the cells that tell where a run's numbers come from."""
    subject = subject_of(record)
    commit, changes = record.commit or (None, None)
    return (
        text("; ".join(map(" ".join, told_versions(subject.get("versions"))))),
        text(commit),
        None if commit is None else changes is not None,
        digest_of(subject).removeprefix("sha256:")[:_DIGITS],
        text(record.environment.get("host")),
        text(record.benchyard_version),
    )


_SUMMARY_COLUMNS = (
    *("campaign", "step", "step_id", "step_name", "metric", "unit", "direction", "source"),
    *("n", "repetitions", *STATISTICS, "outcomes", "left_out", "suspect_counted", *ORIGIN),
)


def summarized(sources: Sequence[CaseFolder], choice: Choice, tally: Tally) -> Rows:
    """Return the rows of some cases; runs of another subject than the newest have their own."""
    return rows_of_sources(_SUMMARY_COLUMNS, sources, choice, tally, _summarized_source)


def _summarized_source(
    source: CaseFolder, choice: Choice, tally: Tally, metrics: Metrics
) -> Iterator[Cells]:
    for document, end in summaries(source, choice, tally):
        for cells in _of_summary(document, metrics):
            yield (*cells, *end)


def summaries(
    source: CaseFolder, choice: Choice, tally: Tally
) -> Iterator[tuple[JsonObject, Cells]]:
    """Yield the summary of each subject's runs, the newest first, and where its numbers come from.

    The latter as ``tidy.origin`` tells it of the newest run.
    """
    found = read(source)
    tally.unreadable += found.unreadable
    for group in filter(None, found.groups):
        subject = subject_of(group[0])
        document = summarize(
            source.title,
            group,
            unfinished=[r for r in found.unfinished if not differences(subject_of(r), subject)],
            suspect=choice.suspect,
        )
        yield document, origin(max(group, key=lambda record: record.began))


def _of_summary(document: Mapping[str, Any], metrics: Metrics) -> Iterator[Cells]:
    for step in document["steps"]:
        before = (step["index"], text(step["id"]), text(step["name"]))
        counts = [text(in_words(step.get(name) or {})) for name in ("outcomes", "left_out")]
        doubted = step.get("suspect_counted")
        for name, metric in metrics.of(step.get("metrics") or {}).items():
            yield (*before, *_of_metric(name, metric), *counts, doubted)


def _of_metric(name: str, metric: Mapping[str, Any]) -> Iterator[Cell]:
    yield from (text(name), metric["unit"], metric["direction"], metric["source"])
    yield from (metric["n_runs"], metric["n_repetitions"])
    statistics: dict[str, Any] = metric["statistics"]
    known = {**statistics["median_interval"], **statistics}
    known["cv"] = known["coefficient_of_variation"]
    yield from (known[name] for name in STATISTICS)
