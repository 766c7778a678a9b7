"""Which runs are meant, and which cases pair up."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    parse_selection,
    read_run_sets,
    results_folders,
)
from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.core.wording import in_short, parse_runs
from benchyard.results.layout import run_folder
from tests.benchyard.analysis.comparison.conftest import (
    failed,
    place,
    run,
    runs,
    select,
    step,
    titled,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", (1,)),
        ("1-5,8", (1, 2, 3, 4, 5, 8)),
        ("8,1-2", (1, 2, 8)),
        ("3-3,3", (3,)),
        ("100000", (100_000,)),
    ],
)
def test_a_set_of_runs_is_read(text: str, expected: tuple[int, ...]) -> None:
    assert parse_runs(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "0", "5-1", "-3", "1-", "1,,2", "1.5", "a", "1 ", "\u0661", "100001", "1" * 9999, "1\n"],
)
def test_what_is_no_set_of_runs_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"no set of runs|numbered from 1"):
        parse_runs(text)


@given(st.sets(st.integers(1, 300), min_size=1))
def test_a_set_written_in_short_reads_back(numbers: set[int]) -> None:
    assert parse_runs(in_short(sorted(numbers))) == tuple(sorted(numbers))


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        assert parse_selection(text).folder.is_dir()
    except InputError:
        return


def test_a_folder_may_have_an_at_in_its_name(tmp_path: Path) -> None:
    odd = tmp_path / "me@1-5"
    odd.mkdir()
    assert parse_selection(str(odd)) == RunSelection(odd)
    assert parse_selection(f"{odd}@2") == RunSelection(odd, (2,))
    assert str(parse_selection(f"{odd}@2,1")) == f"{odd}@1-2"


@pytest.mark.parametrize(
    "text", ["", "@1", "\0", "\0@1", "x" * 5000, "x" * 5000 + "@1", "\udc80\ud800"]
)
def test_what_can_be_no_folder_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no folder"):
        parse_selection(text)


def test_results_cases_and_folders_of_cases_are_all_read(tmp_path: Path) -> None:
    place(tmp_path / "a" / "results", runs(1.0, 2.0, **titled("a")))
    place(tmp_path / "b" / "results" / "n=1", runs(1.0, **titled("b[n=1]")))
    place(tmp_path / "b" / "results" / "n=2", runs(1.0, **titled("b[n=2]")))
    (tmp_path / "b" / "results" / "n=2" / "run_1" / "inner" / "run_7").mkdir(parents=True)
    (tmp_path / ".hidden" / "run_1").mkdir(parents=True)
    for place_of_a in ("a", "a/results"):
        [one] = read_run_sets(RunSelection(tmp_path / place_of_a)).values()
        assert (one.title, one.numbers) == ("a", (1, 2))
    assert list(read_run_sets(RunSelection(tmp_path / "b"))) == ["b[n=1]", "b[n=2]"]
    assert list(read_run_sets(RunSelection(tmp_path))) == ["a", "b[n=1]", "b[n=2]"]
    assert len(results_folders(tmp_path)) == 3


def test_failed_runs_are_kept_apart_and_interrupted_ones_left_out(tmp_path: Path) -> None:
    records = [*runs(1.0), run(2, failed()), run(3, step(1.0), outcome=Outcome.CANCELLED)]
    [one] = read_run_sets(RunSelection(place(tmp_path, records))).values()
    assert one.numbers == (1,)
    assert [record.run for record in one.failed] == [2]


def test_runs_of_something_else_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    old = runs(1.0, 1.0, **titled("tpch", hash="old"))
    place(tmp_path, [*old, *runs(2.0, first=3)])
    [one] = read_run_sets(RunSelection(tmp_path)).values()
    assert (one.numbers, [r.run for r in one.others]) == ((3,), [1, 2])
    [named] = read_run_sets(RunSelection(tmp_path, (2, 3))).values()
    assert (named.numbers, named.others) == ((2, 3), ())


def test_nothing_to_read_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no finished run with a record"):
        read_run_sets(RunSelection(tmp_path))
    krown = tmp_path / "run_1"
    krown.mkdir()
    (krown / ".done").touch()
    with pytest.raises(InputError, match=r"results of KROWN itself have none"):
        read_run_sets(RunSelection(tmp_path))
    place(tmp_path / "results", runs(1.0, 1.0))
    with pytest.raises(InputError, match=r"is a single run; write \S+results@2$"):
        read_run_sets(RunSelection(run_folder(tmp_path / "results", 2)))


def test_a_damaged_record_is_wrong_input_and_named(tmp_path: Path) -> None:
    place(tmp_path, runs(1.0))
    (tmp_path / "run_1" / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run_1/run.json: not a readable record"):
        read_run_sets(RunSelection(tmp_path))


def test_one_case_in_two_folders_is_ambiguous(tmp_path: Path) -> None:
    place(tmp_path / "x", runs(1.0))
    place(tmp_path / "y", runs(1.0))
    with pytest.raises(InputError, match=r"tpch has results in \S+x and in \S+y; name one"):
        read_run_sets(RunSelection(tmp_path))


def test_a_single_case_on_each_side_is_a_pair_whatever_its_name(tmp_path: Path) -> None:
    place(tmp_path / "old", runs(1.0, **titled("a")))
    place(tmp_path / "new", runs(1.0, **titled("b")))
    [(one, other)] = select(tmp_path / "old", tmp_path / "new").both
    assert (one.title, other.title) == ("a", "b")


def test_no_case_on_both_sides_is_wrong_input(tmp_path: Path) -> None:
    for side, titles in (("old", "ab"), ("new", "cd")):
        for title in titles:
            place(tmp_path / side / title, runs(1.0, **titled(title)))
    with pytest.raises(InputError, match=r"no case is on both sides: a, b in the baseline, c, d"):
        select(tmp_path / "old", tmp_path / "new")
