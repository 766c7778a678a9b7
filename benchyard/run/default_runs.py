"""How many runs a case has unless somebody says otherwise: as many as its comparisons need."""

from collections.abc import Sequence

from benchyard.core.model import Case
from benchyard.statistics.comparison import LEVEL
from benchyard.statistics.intervals import fewest_for_median
from benchyard.statistics.ranks import fewest_values

#: With fewer runs there is no interval of the median, however alike they are.
FEWEST = fewest_for_median()


def comparisons_of(case: Case, compared: Sequence[Case] = ()) -> int:
    """Return how many comparisons are judged together: the measured steps, by their durations.

    Args:
        case: Compared alone, all points of its matrix together.
        compared: Points of cases that are one family of tests with it; empty without others.
    """
    return sum(map(_measured, compared)) if compared else case.points * _measured(case)


def default_runs(comparisons: int) -> int:
    """Return the fewest runs of each side that can tell so many comparisons apart at the level.

    Holm's correction asks the first of them for level / comparisons.
    """
    return max(FEWEST, fewest_values(LEVEL / max(1, comparisons)))


def _measured(case: Case) -> int:
    return sum(step.measure for step in case.steps)
