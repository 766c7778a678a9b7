"""Which executions of a step count, and why the others do not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchyard.core.model import JsonObject, Outcome
from benchyard.results.record import Repetition, StepRecord
from benchyard.statistics import median

SUSPECT = "suspect"
NO_DURATION = "no_duration"
UNFINISHED_RUN = "unfinished_run"


#: Share by which a program's own time differs from its step's before it is shown beside it.
_WORTH_SHOWING = 0.01


def own_time(metrics: Mapping[str, Any]) -> float | None:
    """Return the median of ``run_s``, a program's own time, where it is not nearly the step's.

    Args:
        metrics: Of a step, as in ``summary.json``.
    """
    own, whole = (_median_of(metrics, name) for name in ("run_s", "duration_s"))
    if own is None or whole is None or abs(whole - own) <= _WORTH_SHOWING * whole:
        return None
    return own


def _median_of(metrics: Mapping[str, Any], name: str) -> float | None:
    described: dict[str, Any] = metrics.get(name) or {}
    statistics: dict[str, Any] = described.get("statistics") or {}
    return statistics.get("median")


def left_out_because(step: StepRecord, *, include_suspect: bool) -> str | None:
    """Return why one execution of a step is not described, or None if it is."""
    if step.outcome is not Outcome.COMPLETED:
        return step.outcome.value
    if not step.measured:
        return NO_DURATION
    return SUSPECT if step.suspect and not include_suspect else None


def counting(step: StepRecord, *, include_suspect: bool) -> list[Repetition]:
    """Return the measured repetitions of one execution of a step that are described."""
    if not step.measure or left_out_because(step, include_suspect=include_suspect):
        return []
    return step.measured


def left_out(
    by_run: Mapping[int, StepRecord], unfinished: Iterable[StepRecord], *, include_suspect: bool
) -> JsonObject:
    """Count the executions of a step that are not described, by the reason why.

    Args:
        unfinished: Those of runs that were not finished.
    """
    reasons = [left_out_because(s, include_suspect=include_suspect) for s in by_run.values()]
    reasons += [_of_unfinished_run(step) for step in unfinished]
    return dict(Counter(reason for reason in reasons if reason is not None))


def _of_unfinished_run(step: StepRecord) -> str:
    return UNFINISHED_RUN if step.outcome is Outcome.COMPLETED else step.outcome.value


def all_suspect(
    by_index: Mapping[int, Mapping[int, StepRecord]], *, include_suspect: bool
) -> Iterator[str]:
    """Say of each step that nothing is left of it because what there is is suspect."""
    for by_run in by_index.values():
        steps = [step for step in by_run.values() if step.measure and step.measured]
        if include_suspect or not steps or not all(step.suspect for step in steps):
            continue
        reasons = dict.fromkeys(reason for step in steps for reason in step.suspect)
        number = "its only run is" if len(steps) == 1 else f"all its {len(steps)} runs are"
        yield (
            f"step {steps[0].index} {steps[0].name}: {number} suspect "
            f"({'; '.join(list(reasons)[:3])}), so nothing is described; quieten the testbed and "
            "run again, or take them in with --include-suspect"
        )


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of what is known, or None if nothing is."""
    known = [value for value in values if value is not None]
    if len(known) == 1:
        return known[0]
    return median(known) if known else None
