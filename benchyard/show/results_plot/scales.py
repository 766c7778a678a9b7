"""Which axes are logarithmic."""

from collections.abc import Sequence
from itertools import pairwise

#: Medians that differ by a larger factor are drawn on a logarithmic axis: below it the smallest
#: still takes 5 % of a linear one, and differences between its runs can be seen.
FACTOR = 20.0


def spans_factors(medians: Sequence[float], all_values: Sequence[float]) -> bool:
    """Tell whether values differ by so large factors that only a logarithmic axis shows them."""
    return (
        bool(medians) and min(all_values, default=0.0) > 0 and max(medians) > FACTOR * min(medians)
    )


def grows_by_factors(values: Sequence[float]) -> bool:
    """Tell whether a parameter's values are chosen by factors: 1, 2, 4, 8 or 0.01, 0.1.

    Args:
        values: Distinct, ascending.
    """
    if len(values) < 2 or values[0] <= 0:
        return False
    least = min(after / before for before, after in pairwise(values))
    return least >= (2 if len(values) > 2 else 5)
