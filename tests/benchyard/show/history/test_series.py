"""Series: what they say through time, and how they are read."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.core.quantity import duration
from benchyard.show.history.series import Window, read_series
from tests.benchyard.show.history.conftest import FakeReader, day, series


def test_what_is_no_number_counts_in_no_level() -> None:
    found = series(math.nan, 1.0, math.inf, 2.0)
    [level] = found.levels.steps()
    assert (level.campaigns, level.value, found.levels.moves) == (2, 1.5, [])
    last = series(1.0, math.nan).last
    assert last is not None
    assert math.isnan(last)
    assert list(series(math.nan).levels.steps()) == []


@given(st.lists(st.floats(-1e100, 1e100), max_size=40))
def test_published_timings_are_one_level(times: list[float]) -> None:
    levels = list(series(*times).levels.steps())
    assert len(levels) == bool(times)
    assert all(len(duration(one.value)) < 30 for one in levels)


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
