"""How long the host rests: in proportion, as the case says, or as asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.run.ordering import LONGEST, cooldown_of, rest_after, without_rest


@pytest.mark.parametrize(("took", "rest"), [(0.0, 0.0), (1.0, 0.5), (30.0, 15.0), (3600.0, 15.0)])
def test_an_automatic_rest_is_half_the_run_and_has_an_end(took: float, rest: float) -> None:
    assert rest_after(took, None) == rest


@pytest.mark.parametrize(
    ("asked", "of_case", "expected"), [(None, None, None), (None, 60.0, 60.0), (0.0, 60.0, 0.0)]
)
def test_what_is_asked_for_goes_before_what_the_case_says(
    asked: float | None, of_case: float | None, expected: float | None
) -> None:
    assert cooldown_of(asked, of_case) == expected


@given(st.floats(0, 1e5), st.none() | st.floats(0, 2 * LONGEST))
def test_the_length_of_a_run_is_found_again(took: float, cooldown: float | None) -> None:
    whole = took + rest_after(took, cooldown)
    assert without_rest(whole, cooldown) == pytest.approx(took, abs=1e-6)
