"""Series: what they say through time, and how they are read."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.core.quantity import duration
from benchyard.show.history.series import (
    Window,
    ratio,
    read_series,
)
from tests.benchyard.show.history.conftest import FakeReader, day, series


def test_the_last_is_held_against_the_median_of_those_before_it() -> None:
    found = series(1.0, 3.0, 2.0, 4.0)
    assert (found.last, found.median, found.median_before, found.change) == (4.0, 2.5, 2.0, 2.0)


def test_what_is_no_number_counts_in_no_figure() -> None:
    found = series(math.nan, 1.0, math.inf, 2.0)
    assert found.finite == (1.0, 2.0)
    assert (found.median, found.median_before, found.change) == (1.5, 1.0, 2.0)
    last = series(1.0, math.nan)
    assert last.last is not None
    assert math.isnan(last.last)
    assert (last.median, last.change) == (1.0, None)


@pytest.mark.parametrize(
    ("value", "usual", "expected"),
    [
        (2.0, 1.0, 2.0),
        (0.0, 1.0, None),
        (1.0, 0.0, None),
        (-1.0, -1.0, None),
        (1e308, 1e-308, None),
        (None, 1.0, None),
        (math.nan, 1.0, None),
        (math.inf, 1.0, None),
    ],
)
def test_a_ratio_is_of_two_lengths(
    value: float | None, usual: float | None, expected: float | None
) -> None:
    assert ratio(value, usual) == expected


@given(st.lists(st.floats(), max_size=9))
def test_any_times_have_figures(times: list[float]) -> None:
    found = series(*times)
    assert found.change is None or found.change >= 0  # it may be too small for a float
    for value in (found.last, found.median, found.median_before):
        assert len(duration(value)) < 30


READER = {"words": {"sort": [1.0, 2.0, 3.0], "load": [4.0, 5.0]}, "tpch[scale=1]": {"q1": [1.0]}}


def test_entries_oldest_timing_first_whatever_the_limit() -> None:
    reader = FakeReader(READER)
    load, sort = read_series(reader, "words", None, Window(limit=2))
    assert load == replace(series(4.0, 5.0), whole=False)
    assert [one.value for one in sort.points] == [2.0, 3.0]
    assert reader.asked[-1] == ("words", "sort", None, 2)
    [only] = read_series(reader, "words", None, Window(day(2)))
    assert only.entry == "sort"


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("wrds", "there is no test 'wrds'; did you mean 'words'?"),
        ("tpch", "there is no test 'tpch'; did you mean 'tpch[scale=1]'?"),
        ("x", "there is no test 'x'; known: tpch[scale=1], words"),
    ],
)
def test_an_unknown_test_gets_a_suggestion(test: str, said: str) -> None:
    for entry in (None, "load"):
        with pytest.raises(InputError) as caught:
            read_series(FakeReader(READER), test, entry, Window())
        assert str(caught.value) == said


def test_an_unknown_entry_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match="the test 'words' has no entry 'lod'; did you mean 'lo"):
        read_series(FakeReader(READER), "words", "lod", Window())
    names = ("the first query", "the second query", "load")
    many = FakeReader({"words": {name: [1.0] for name in names}})
    with pytest.raises(InputError, match="'QUERY'; known: the first query, the second query"):
        read_series(many, "words", "QUERY", Window())
