"""What GitHub and GitLab are told."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Outcome
from benchyard.show.ci.checks import CheckedCase, State, StepCheck, checks_of
from benchyard.show.ci.summary import annotations, append_summary, provider_of
from tests.benchyard.analysis.comparison.conftest import failed, run, step
from tests.benchyard.show.ci.conftest import outcome


def _failing(text: str, number: int = 1) -> CheckedCase:
    checks = [StepCheck(f"{text}{n}", None, State.FAILED, "failed", text) for n in range(number)]
    return CheckedCase(text, tuple(checks))


def test_whose_job_it_is_the_environment_tells() -> None:
    assert provider_of({"GITHUB_ACTIONS": "true"}) == "github"
    assert provider_of({"GITLAB_CI": "true"}) == "gitlab"
    assert provider_of({"GITHUB_ACTIONS": "false", "CI": "true"}) == "none"


def test_messages_and_titles_are_escaped_by_githubs_rules() -> None:
    case = CheckedCase("a,b:c", (StepCheck("50%", None, State.FAILED, "timed_out", "x: 1%, y\nz"),))
    assert annotations([case]) == [
        "::error title=timed out%3A a%2Cb%3Ac%3A 50%25::x: 1%25, y%0Az",
    ]


@given(st.text(st.characters(codec=None)))
def test_no_text_makes_a_command_of_its_own(text: str) -> None:
    (line,) = annotations([_failing(text)])
    assert line.isprintable()
    assert line.startswith("::error title=")
    title, message = re.fullmatch(r"::error title=([^:]*)::(.*)", line).groups()  # type: ignore[union-attr]
    assert "," not in title
    assert re.findall(r"%(?!25|0A|0D|3A|2C)", title + message) == []


def test_a_failure_is_an_error_and_what_is_odd_a_warning(tmp_path: Path) -> None:
    records = [
        run(1, step(1.0, suspect=("it swapped",)), failed("try", Outcome.TOLERATED, index=2)),
        run(2, failed("load", Outcome.TIMED_OUT)),
    ]
    error, warning = annotations([checks_of(outcome(tmp_path / "results", records))])
    assert error == "::error title=timed out%3A tpch%3A Load::run 2: timed out"
    assert warning.startswith("::warning title=tpch::")
    assert "Try: tolerated in 1 of 1 runs" in warning


def test_of_many_errors_github_gets_as_many_as_it_shows() -> None:
    lines = annotations([_failing("x", 25)])
    assert len(lines) == 10
    assert lines[-1] == "::error title=Benchyard::16 more, in the log and in the reports"


def test_a_summary_is_appended_and_stays_below_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    append_summary(file, "page\n")
    assert file.read_text() == "before\npage\n\n"
    append_summary(file, "ä line of some length\n" * 100_000)
    assert 990_000 < file.stat().st_size <= 1_000_000
    assert file.read_text().endswith(
        "ä line of some length\n\nThe rest is left out: a summary holds 1 MiB.\n"
    )
