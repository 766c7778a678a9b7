"""In what two sets of traces differ, name by name, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from benchyard.core.errors import InputError
from benchyard.statistics.comparison import (
    LEVEL,
    THRESHOLD,
    Difference,
    Judgement,
    Verdict,
    compare_samples,
    judge,
)
from benchyard.traces.model import Trace
from benchyard.traces.statistics import statistics_of

#: The names that lead to a slice, the outermost first; a single one if paths do not count.
Names = tuple[str, ...]


class Measure(Enum):
    """What is compared of a name."""

    SELF = "self"
    TOTAL = "total"
    COUNT = "count"
    SHARE = "critical share"

    @property
    def unit(self) -> str:
        """Of its values: ``s`` or ``1``."""
        return "s" if self in (Measure.SELF, Measure.TOTAL) else "1"


@dataclass(frozen=True, slots=True)
class NamedDifference:
    """What differs of one name or path.

    Args:
        names: That lead to it.
        measure: What of it.
        difference: Of the values, one a trace; seconds for times.
        judgement: Corrected for all names of the same measure.
        measured_in: The unit of the traces' durations.
    """

    names: Names
    measure: Measure
    difference: Difference
    judgement: Judgement
    measured_in: str = "s"

    @property
    def unit(self) -> str:
        """Of the values."""
        return self.measured_in if self.measure.unit == "s" else self.measure.unit

    @property
    def is_shown(self) -> bool:
        """Whether a difference is shown."""
        unshown = (Verdict.NO_CHANGE_SHOWN, Verdict.CANNOT_TELL)
        return self.judgement.verdict not in unshown


@dataclass(frozen=True, slots=True)
class Profiled:
    """One trace, summed up by name or path.

    Args:
        values: Of each measure: time without and with what is inside, in seconds or else in
            ``unit``; how many slices; of a run's time the share that each step on its critical
            path took, 0 to 1, empty of others.
        unit: Of the trace's durations.
    """

    values: Mapping[Measure, Mapping[Names, float]]
    unit: str = "s"

    @property
    def total_s(self) -> Mapping[Names, float]:
        """Time with what is inside."""
        return self.values[Measure.TOTAL]


def profiled(
    trace: Trace, *, by_path: bool = False, shares: Mapping[str, float] | None = None
) -> Profiled:
    """Return a trace summed up; that is all that a comparison needs of it.

    Args:
        trace: Its slices may be in any order.
        by_path: Whether equal names at different places are told apart.
        shares: Of the critical path that steps took, by their names.
    """
    found = statistics_of(trace)
    rows = found.by_path if by_path else found.by_name
    which: list[int] = rows.which.tolist()
    names = [found.path(one) if by_path else (found.names[one],) for one in which]
    columns = {
        Measure.SELF: rows.self_time / trace.unit.scale,
        Measure.TOTAL: rows.total / trace.unit.scale,
        Measure.COUNT: rows.count.astype(float),
    }
    values = {
        one: dict(zip(names, column.tolist(), strict=True)) for one, column in columns.items()
    }
    values[Measure.SHARE] = {(name,): share for name, share in (shares or {}).items()}
    if trace.unit.sampled:  # how many slices there are means nothing
        values[Measure.COUNT] = {}
    return Profiled(values, trace.unit.name)


def mean_totals(side: Sequence[Profiled]) -> dict[Names, float]:
    """Return the mean total of each name over the traces of a side."""
    names = dict.fromkeys(name for one in side for name in one.total_s)
    return {name: sum(one.total_s.get(name, 0.0) for one in side) / len(side) for name in names}


def differences(
    baseline: Sequence[Profiled],
    candidate: Sequence[Profiled],
    *,
    level: float = LEVEL,
    threshold: float = THRESHOLD,
) -> list[NamedDifference]:
    """Compare repetitions on both sides, name by name; what is missing in one counts as 0 there.

    Each measure is a family of its own: the chance of even one false call among all its names is
    at most the level, by Holm. What is surest comes first: called before uncalled, self times
    before others, the smallest p-value and then the largest difference first.

    Args:
        baseline: A trace each.
        candidate: A trace each.
        level: Chance of even one false call over all names, from 0 to 1.
        threshold: Smallest relative change that is called.

    Raises:
        InputError: If the traces have different units.
    """
    units = {one.unit for side in (baseline, candidate) for one in side} or {"s"}
    if len(units) > 1:
        raise InputError(f"values in {' and '.join(sorted(units))} cannot be compared")
    found: list[NamedDifference] = []
    for measure in Measure:
        sides = [[one.values[measure] for one in side] for side in (baseline, candidate)]
        names = [*dict.fromkeys(name for side in sides for one in side for name in one)]
        compared = [
            compare_samples(
                *([one.get(name, 0.0) for one in side] for side in sides),
                smaller_is_better=True if measure.unit == "s" else None,
                level=level,
                threshold=threshold,
            )
            for name in names
        ]
        judged = zip(names, compared, judge(compared, level), strict=True)
        found.extend(
            NamedDifference(name, measure, one, what, *units) for name, one, what in judged
        )
    return sorted(found, key=_rank)


def _rank(one: NamedDifference) -> tuple[bool, int, float, float, Names]:
    measure = [*Measure].index(one.measure)
    size = abs(one.difference.shift or 0.0)
    return not one.is_shown, measure, one.difference.p_value, -size, one.names
