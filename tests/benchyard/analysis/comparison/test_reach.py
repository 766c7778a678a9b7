"""What so few runs can never tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.analysis.comparison.samples import cannot_tell
from benchyard.statistics.ranks import smallest_p


@pytest.mark.parametrize(
    ("n", "m", "comparisons", "text"),
    [
        (5, 5, 1, ""),
        (3, 9, 1, ""),
        (1, 1, 1, "1 and 1 runs cannot tell at the 1 % level; 5 and 5 can"),
        (10, 2, 1, "10 and 2 runs cannot tell at the 1 % level; 3 against the baseline's 10 can"),
        (0, 5, 1, "0 and 5 runs cannot tell at the 1 % level; 5 and 5 can"),
        (
            *(5, 5, 22),
            "5 and 5 runs cannot tell at the 1 % level over 22 comparisons; 8 and 8 can, "
            "or 12 against the baseline's 5",
        ),
    ],
)
def test_it_is_said_how_many_runs_can(n: int, m: int, comparisons: int, text: str) -> None:
    assert cannot_tell(n, m, 0.01, comparisons) == text


@given(st.integers(1, 40), st.integers(1, 40), st.floats(1e-6, 0.5), st.integers(1, 500))
def test_it_is_silent_exactly_where_the_test_can_reach_its_share_of_the_level(
    n: int, m: int, level: float, comparisons: int
) -> None:
    silent = not cannot_tell(n, m, level, comparisons)
    assert silent is (smallest_p(n, m) <= level / comparisons)
