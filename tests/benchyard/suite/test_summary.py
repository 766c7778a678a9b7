"""What came of a suite: the numbers add up, what is bad comes first, the file holds everything."""

import json
from pathlib import Path

import pytest

from benchyard.analysis.regressions import Baseline
from benchyard.run.ordering import Order, turns
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.plan import ChosenCase
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import (
    HEAD,
    CaseResult,
    Summary,
    summed,
    with_comparisons,
    write_summary,
)
from tests.benchyard.analysis.comparison.conftest import place as place_runs
from tests.benchyard.analysis.comparison.conftest import runs
from tests.benchyard.suite.test_course import entry, place

BASE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004)
SLOW = tuple(2 * value for value in BASE)


def course_of(
    entries: list[ChosenCase], *ends: End | None, seen: tuple[int, ...] = ()
) -> SuiteCourse:
    """Execute a course, a turn a case; None stays under way."""
    planned = turns([one.runs for one in entries], Order.CASE, 0)
    course = SuiteCourse(entries, planned, SuiteLimits())
    for end in ends:
        if end is End.LEFT_OUT:
            course.stop("no time")
            break
        taken = course.take([place("bed")])
        assert taken is not None
        if end is not None:
            course.end(taken, end, "" if end is End.DONE else "why", seen, took=1.0)
    return course


def ended(*ends: End | None, seen: tuple[int, ...] = ()) -> Summary:
    """Sum up a course of cases with two runs each."""
    course = course_of([entry(f"c{n}", 2) for n in range(len(ends))], *ends, seen=seen)
    return summed(course, seed=5, interrupted=None in ends)


@pytest.mark.parametrize(
    ("end", "numbers"),
    [
        (End.DONE, (2, 0, 0)),
        (End.FAILED, (0, 2, 0)),
        (End.CANCELLED, (0, 0, 2)),
        (End.LEFT_OUT, (0, 0, 2)),
        (None, (0, 0, 2)),
    ],
)
def test_every_wanted_run_is_done_failed_or_left_out(
    end: End | None, numbers: tuple[int, int, int]
) -> None:
    (line,) = ended(end).lines
    assert (line.done, line.failed, line.left_out) == numbers
    assert line.is_bad == (end is End.FAILED)


def test_what_a_failed_turn_had_done_before_counts() -> None:
    (line,) = ended(End.FAILED, seen=(1,)).lines
    assert (line.done, line.failed, line.left_out) == (1, 1, 0)


def test_what_is_bad_comes_first_and_what_was_not_wanted_last() -> None:
    entries = [ChosenCase("old", "all runs are done"), entry("good"), entry("bad")]
    entries.append(ChosenCase("invalid", "it is not valid", problems=("x",)))
    course = course_of(entries, End.DONE, End.FAILED)
    summary = summed(course, seed=None, interrupted=False)
    assert [row[0] for row in summary.rows()] == ["bad", "invalid", "good", "old"]
    assert all(len(row) == len(HEAD) for row in summary.rows())
    assert [line.title for line in summary.bad] == ["bad", "invalid"]
    assert "1 case not valid" in summary.sentence()


def test_the_file_holds_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    summary = ended(End.DONE, End.FAILED)
    file = write_summary(
        summary, SuiteRequest(budget=8.0, changed=True), "id", {"id": "id", "name": "n"}
    )
    assert file == tmp_path / "home" / "suites" / "id.json"
    document = json.loads(file.read_text())
    assert document["format"] == "benchyard-suite"
    assert document["seed"] == 5
    assert document["wish"]["budget_h"] == 8.0
    assert document["flow_run"] == {"id": "id", "name": "n"}
    assert [turn["end"] for turn in document["turns"]] == ["done", "failed"]
    assert document["turns"][0]["testbed"] == "bed"
    assert document["cases"][1]["runs_failed"] == 2


def line(title: str, done: int = 8, why: str = "") -> CaseResult:
    return CaseResult(title, done, 0, 0, 10.0, ("bed",), why)


def compared(folder: Path, *lines: CaseResult, values: tuple[float, ...] = SLOW) -> Summary:
    """Compare cases that all have the same results but not the same title."""
    place_runs(folder / "baseline", runs(*BASE))
    results = place_runs(folder / "now", runs(*values))
    entries = [ChosenCase(one.title, "", results=results, runs=(1,)) for one in lines]
    summary = Summary(lines, (), 60.0, None, interrupted=False)
    return with_comparisons(summary, entries, Baseline(str(folder / "baseline")))


def test_what_became_worse_is_in_the_line_the_sentence_and_the_table(tmp_path: Path) -> None:
    summary = compared(tmp_path, line("other"), line("tpch"))
    _, worse = summary.lines
    assert worse.regressions[0].name == "Load"
    assert worse.compared.startswith("1 regression")
    assert (
        summary.sentence() == "16 runs of 2 cases done, 1 case compared, 1 regression, in 60.00 s"
    )
    first = dict(zip(HEAD, summary.rows()[0], strict=True))
    assert first["CASE"] == "tpch"
    assert first["WHY"].startswith("regression: tpch: step Load is slower")
    told = worse.to_json()["regressions"]
    assert isinstance(told, list)
    assert len(told) == 1
    assert not summary.bad


def test_a_case_that_the_baseline_lacks_says_so_and_is_no_failure(tmp_path: Path) -> None:
    summary = compared(tmp_path, line("other", why="a remark"))
    (other,) = summary.lines
    assert "no runs of other" in other.compared
    assert (other.regressions, other.told) == ((), f"{other.compared}; a remark")


def test_a_case_that_was_not_executed_is_not_looked_at(tmp_path: Path) -> None:
    (old,) = compared(tmp_path, line("tpch", done=0)).lines
    assert (old.compared, old.regressions) == ("", ())
