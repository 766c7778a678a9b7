"""What a suite tells of its cases against a baseline, once they are measured."""

from pathlib import Path

from benchyard.suite.choosing import Entry
from benchyard.suite.comparing import with_comparisons
from benchyard.suite.summing import HEAD, Line, Summary
from tests.benchyard.analysis.comparison.conftest import place, runs

BASE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004)
SLOW = tuple(2 * value for value in BASE)


def line(title: str, done: int = 8, why: str = "") -> Line:
    return Line(title, done, 0, 0, 10.0, ("bed",), why)


def compared(folder: Path, *lines: Line, values: tuple[float, ...] = SLOW) -> Summary:
    """Compare cases that all have the same results but not the same title."""
    place(folder / "baseline", runs(*BASE))
    results = place(folder / "now", runs(*values))
    entries = [Entry(one.title, "", results=results, runs=(1,)) for one in lines]
    summary = Summary(lines, (), 60.0, None, interrupted=False)
    return with_comparisons(summary, entries, str(folder / "baseline"))


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


def test_what_did_not_become_worse_is_no_regression(tmp_path: Path) -> None:
    summary = compared(tmp_path, line("tpch"), values=BASE)
    assert summary.regressions == []
    assert summary.lines[0].compared
