"""The Markdown of a pull request."""

from pathlib import Path

from benchyard.show.ci.checks import checks_of
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.ci.summary import page
from tests.benchyard.analysis.comparison.conftest import BASE, failed, run, runs
from tests.benchyard.show.ci.conftest import outcome


def made(*outcomes: CaseOutcome, command: tuple[str, ...] = ("benchyard", "run")) -> str:
    return page(outcomes, [checks_of(one) for one in outcomes], command)


def test_the_verdict_comes_first_and_then_what_was_measured(tmp_path: Path) -> None:
    text = made(outcome(tmp_path / "results", [*runs(*BASE), run(9, failed("load"))]))
    assert text.startswith("**❌ 1 failure in 1 case**\n")
    assert "### tpch\n" in text
    assert "run 9, host bench1: step Load: failed" in text
    assert "| 1 | Load | 8 | 1.00 s |" in text


def test_a_case_of_another_host_is_told_by_what_its_suite_says() -> None:
    text = made(CaseOutcome("a|b", {}, why="no testbed *is* fit", is_bad=True))
    assert text.startswith("**❌ 1 failure in 1 case**\n")
    assert "### a\\|b\n\nno testbed \\*is\\* fit\n" in text


def test_the_command_repeats_it_and_cannot_leave_its_block() -> None:
    text = made(CaseOutcome("a", {}), command=("benchyard", "run", "a b", "```\n# hi"))
    assert "````sh\nbenchyard run 'a b' '```\\n# hi'\n````\n" in text


def test_what_cannot_be_told_is_not_called_right(tmp_path: Path) -> None:
    few = outcome(tmp_path / "results", runs(1.0, 1.1), runs(2.0, 2.1))
    assert made(few).startswith("**⚠️ nothing failed, 1 check could not be made in 1 case**\n")
