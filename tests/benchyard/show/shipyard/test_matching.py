"""Ends find their starts."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.shipyard.matching import Edge, Span, match

End = tuple[float, float | None, int | None]

MOMENTS = st.integers(0, 30).map(float)
LENGTHS = st.none() | st.integers(0, 10).map(float)
ENDS = st.tuples(MOMENTS, LENGTHS, st.none() | st.integers(0, 3))


def matched(starts: Sequence[float], ends: Sequence[End], name: str = "") -> tuple[list[Span], int]:
    ended = [Edge(at, name, length, size) for at, length, size in ends]
    return match([Edge(at, name) for at in starts], ended)


@pytest.mark.parametrize(
    ("starts", "ends", "expected"),
    [
        ([0.0, 400.0], [(30.0, None, None), (430.0, 428.0, None)], [(0, 30), (400, 428)]),
        ([0.0, 400.0], [(430.0, 428.0, None), (440.0, 39.0, None)], [(0, 428), (400, 39)]),
        ([0.0], [(31.5, 30.0, None)], [(0, 30)]),
        ([12345.6], [(12345.0, None, None)], [(12345.6, 0)]),
        ([0.0, 400.0], [(30.0, None, None)], [(0, 30), (400, None)]),
    ],
    ids=["turns", "its-length-tells-its-start", "told-length-holds", "whole-seconds", "last-open"],
)
def test_an_end_belongs_to(
    starts: list[float], ends: list[End], expected: list[tuple[float, float | None]]
) -> None:
    found, _ = matched(starts, ends)
    assert [(span.start, span.duration) for span in found] == expected


def test_of_two_tries_the_end_is_the_later_ones_and_the_first_was_given_up() -> None:
    found, strays = matched([0.0, 400.0], [(430.0, None, 7)], "img")
    assert found == [Span("img", 0, None, None, superseded=True), Span("img", 400, 30, 7)]
    assert (found[0].is_open, strays) == (False, 0)


@given(st.lists(MOMENTS, max_size=8), st.lists(ENDS, max_size=8))
def test_every_start_is_told_once_and_no_end_twice(starts: list[float], ends: list[End]) -> None:
    found, strays = matched(starts, ends)
    begun = [span for span in found if span.start in starts]
    assert len({*starts}) <= len(found)
    assert {*starts} <= {span.start for span in begun}
    finished = sum(span.duration is not None for span in found)
    assert finished + strays == len({*ends})
    assert sum(span.is_open for span in found) <= 1


def _best(starts: list[float], ends: list[float]) -> int:
    """Return how many starts can have an end, tried out."""
    return max(
        sum(start <= end for start, end in zip(starts, order, strict=False))
        for order in permutations(ends)
    )


@given(st.lists(MOMENTS, unique=True, max_size=4), st.lists(MOMENTS, unique=True, max_size=4))
def test_no_more_starts_than_must_be_stay_without_an_end(
    starts: list[float], ends: list[float]
) -> None:
    # Halves, so that no end is a whole second and allowed to come too early.
    found, _ = matched(starts, [(at + 0.5, None, None) for at in ends])
    done = sum(span.duration is not None for span in found)
    padded = [at + 0.5 for at in ends] + [-1.0] * max(0, len(starts) - len(ends))
    assert done == _best(starts, padded)


def test_many_of_one_name_take_no_more_than_their_number() -> None:
    # Looking through all starts for each end would take minutes for as many.
    count = 20_000
    starts = [float(n) for n in range(count)]
    ends: list[End] = [(n + 1e6, 1e6 - 0.25, None) for n in range(count)]
    found, strays = matched(starts, ends[::-1])
    assert (len(found), strays) == (count, 0)
    assert all(span.duration == 1e6 - 0.25 for span in found)
