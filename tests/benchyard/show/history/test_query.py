"""From any reader to what is shown."""

from dataclasses import replace

import pytest

from benchyard.core.errors import InputError
from benchyard.show.history.query import TestSummary, Window, read_entries, read_entry, read_tests
from tests.benchyard.show.history.conftest import FakeReader, day, series

READER = {"words": {"sort": [1.0, 2.0, 3.0], "load": [4.0, 5.0]}, "tpch[scale=1]": {"q1": [1.0]}}


def test_tests_with_how_often_and_when() -> None:
    first, second = read_tests(FakeReader(READER), Window())
    assert first == TestSummary("tpch[scale=1]", 1, True, day(0), day(0))
    assert second == TestSummary("words", 3, True, day(0), day(2))


def test_a_limit_asks_for_one_more_and_no_others() -> None:
    reader = FakeReader(READER)
    *_, words = read_tests(reader, Window(limit=2))
    assert words == TestSummary("words", 2, False, day(1), day(2))
    assert reader.asked[-1] == ("words", None, True, 3)


def test_tests_that_were_not_started_since_are_left_out() -> None:
    assert [one.test for one in read_tests(FakeReader(READER), Window(day(1)))] == ["words"]
    empty = FakeReader({"nothing": {}})
    [nothing] = read_tests(empty, Window())
    assert (nothing.starts, nothing.last) == (0, None)


def test_entries_oldest_timing_first_whatever_the_limit() -> None:
    reader = FakeReader(READER)
    load, sort = read_entries(reader, "words", Window(limit=2))
    assert load == replace(series(4.0, 5.0), whole=False)
    assert [one.wall_time for one in sort.timings] == [2.0, 3.0]
    assert reader.asked[-1] == ("words", "sort", None, True, 2)
    [only] = read_entries(reader, "words", Window(day(2)))
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
    for act in (
        lambda: list(read_entries(FakeReader(READER), test, Window())),
        lambda: read_entry(FakeReader(READER), test, "load", Window()),
    ):
        with pytest.raises(InputError) as caught:
            act()
        assert str(caught.value) == said


def test_an_unknown_entry_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match="the test 'words' has no entry 'lod'; did you mean 'lo"):
        read_entry(FakeReader(READER), "words", "lod", Window())
    names = ("the first query", "the second query", "load")
    many = FakeReader({"words": {name: [1.0] for name in names}})
    with pytest.raises(InputError, match="'QUERY'; known: the first query, the second query"):
        read_entry(many, "words", "QUERY", Window())


def test_an_empty_sink_says_so() -> None:
    with pytest.raises(InputError, match="there is no test 'x'; nothing was published there yet"):
        list(read_entries(FakeReader({}), "x", Window()))


def test_an_entry_without_timings_since_is_no_error() -> None:
    assert read_entry(FakeReader(READER), "words", "load", Window(day(9))) == [series()]
    assert list(read_entries(FakeReader(READER), "words", Window(day(9)))) == []


def test_names_do_nothing_to_a_terminal() -> None:
    with pytest.raises(InputError) as caught:
        read_entry(FakeReader({"a\x1b[2J": {}}), "\x1b[31m", "x", Window())
    assert str(caught.value).isprintable()
