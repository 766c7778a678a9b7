"""What a case's flow run says to its suite: written, read, and what is no report."""

from dataclasses import replace

import pytest

from benchyard.analysis.comparison.gate import Regression
from benchyard.analysis.regressions import Looked
from benchyard.case.testbeds import Testbed
from benchyard.run.ordering import Turn
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.plan import ChosenCase
from benchyard.suite.summary import Summary, summed, with_testbeds_comparisons
from benchyard.suite.turn_records import CaseReport, Place, TurnFailure

WORSE = Regression("tpch", "load", "Load", "it fails")
LOOKED = Looked((WORSE,), "1 regression", "the campaign of yesterday", p_values=(0.5, 1.0))


@pytest.mark.parametrize("looked", [None, LOOKED, Looked((), "nothing to compare with")])
def test_a_report_is_read_as_it_was_written(looked: Looked | None) -> None:
    report = CaseReport((1, 2), looked)

    assert CaseReport.from_text(report.to_text()) == report


@pytest.mark.parametrize("text", [None, 3, "", "{}", "[]", '{"runs": 1}', "\x00"])
def test_what_is_no_report_is_none(text: object) -> None:
    assert CaseReport.from_text(text) is None


def judged(*reports: CaseReport | None, end: End = End.DONE, runs: int = 1) -> Summary:
    """Sum up a course of cases that their testbeds report of."""
    wanted = tuple(range(1, runs + 1))
    cases = [ChosenCase(f"c{n}", "", runs=wanted) for n in range(len(reports))]
    course = SuiteCourse(cases, [Turn(n, wanted) for n in range(len(cases))], SuiteLimits())
    for report in reports:
        taken = course.take([Place("bed", Testbed("bed"))])
        assert taken is not None
        assert course.ends_case(taken)
        course.end(taken, end, report=report)
    return summed(course, seed=None, interrupted=False)


def test_the_suite_believes_its_testbed_and_no_folder_of_its_own() -> None:
    summary = judged(CaseReport((1, 3), LOOKED), end=End.FAILED, runs=3)

    (line,) = summary.lines
    assert (line.done, line.failed, line.left_out) == (2, 1, 0)
    assert line.regressions == (WORSE,)
    assert "2 runs of 1 case done, 1 failed, 1 case compared, 1 regression" in summary.sentence()


def test_runs_that_were_done_before_are_told_apart() -> None:
    summary = judged(CaseReport((3,), Looked((), "nothing to compare with")), runs=3)

    (line,) = summary.lines
    assert (line.done, line.failed, line.left_out, line.before) == (1, 0, 0, 2)
    assert "1 run of 1 case done, 2 done before, nothing to compare with" in summary.sentence()


def test_a_case_that_its_testbed_did_not_compare_says_so() -> None:
    summary = with_testbeds_comparisons(judged(None, runs=3))

    assert summary.lines[0].told == "not compared on its testbed"


def summary_of(*p_values: float) -> Summary:
    """Make a suite of cases with one test each, a regression where it is significant alone."""

    def report(p: float) -> CaseReport:
        worse = (Regression("c", "s", "S", "slower", p_value=p),) if p <= 0.01 else ()
        return CaseReport((1,), Looked(worse, "told", "it", "", (p,)))

    return judged(*map(report, p_values))


def test_what_testbeds_found_alone_is_judged_together() -> None:
    summary = with_testbeds_comparisons(summary_of(0.001, 0.006, 0.4))

    assert [len(line.regressions) for line in summary.lines] == [1, 0, 0]
    assert summary.lines[1].told == "told; 1 of them not shown over 3 comparisons of the suite"
    assert [line.told for line in summary.lines][::2] == ["regression: slower", "told"]


def test_a_step_that_fails_is_worse_whatever_else_is_compared() -> None:
    one = replace(summary_of(0.5).lines[0], looked=LOOKED)
    summary = with_testbeds_comparisons(replace(summary_of(*[0.5] * 99), lines=[one]))
    assert summary.regressions == [WORSE]


def test_a_failure_is_read_as_it_was_written() -> None:
    report = CaseReport((1,), None, TurnFailure("step load: exit 9", (4, 5)))
    assert CaseReport.from_text(report.to_text()) == report

    (line,) = judged(report, end=End.FAILED, runs=5).lines
    assert (line.done, line.failed, line.left_out) == (1, 2, 2)
