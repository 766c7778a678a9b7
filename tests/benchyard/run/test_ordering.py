"""In which order the runs of several cases are executed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.run.ordering import (
    LONGEST,
    Order,
    Turn,
    cooldown_of,
    rest_after,
    turns,
)
from benchyard.suite.course import without_rest

WANTED = st.lists(st.sets(st.integers(1, 20), max_size=6).map(sorted), max_size=5)


def flat(planned: list[Turn]) -> list[tuple[int, int]]:
    return [(turn.case, run) for turn in planned for run in turn.runs]


@settings(deadline=None)
@given(wanted=WANTED, order=st.sampled_from(Order), seed=st.integers(0, 2**31))
def test_every_wanted_run_is_done_once_and_those_of_a_case_in_order(
    wanted: list[list[int]], order: Order, seed: int
) -> None:
    planned = flat(turns(wanted, order, seed))
    assert planned == flat(turns(wanted, order, seed)), "the same seed gives the same order"
    expected = {(case, run) for case, runs in enumerate(wanted) for run in runs}
    assert len(planned) == len(expected)
    assert set(planned) == expected
    for case, runs in enumerate(wanted):
        assert [run for of, run in planned if of == case] == runs


def test_by_case_all_runs_of_a_case_are_one_turn() -> None:
    assert turns([[1, 2], [], [3]], Order.CASE, 0) == [Turn(0, (1, 2)), Turn(2, (3,))]


@settings(deadline=None)
@given(wanted=WANTED)
def test_round_robin_never_lets_a_case_wait_for_two_of_another(wanted: list[list[int]]) -> None:
    planned = [case for case, _ in flat(turns(wanted, Order.ROUND_ROBIN, 0))]
    for position in range(len(planned)):
        done = [planned[:position].count(case) for case in range(len(wanted))]
        left = [n for n, runs in zip(done, wanted, strict=True) if n < len(runs)]
        assert not left or max(left) - min(left) <= 1


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
