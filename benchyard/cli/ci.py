"""Reports for continuous integration: the options, and the writing, that several commands share."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from benchyard.analysis.comparison.rows import Comparison
from benchyard.analysis.regressions import Looked
from benchyard.cli.fields import Command, field_options
from benchyard.cli.option_types import OutputFile
from benchyard.cli.outcome import read_summary
from benchyard.cli.terminal import say, say_between
from benchyard.core.errors import ExitCode, RecordError
from benchyard.core.files import shown
from benchyard.core.model import Case
from benchyard.core.outputs import write
from benchyard.show.ci.checks import CheckedCase, checks_of, compared_checks
from benchyard.show.ci.outcomes import CaseOutcome, outcome_in_suite, outcome_of
from benchyard.show.ci.reports import junit, openmetrics
from benchyard.show.ci.summary import (
    annotations,
    append_summary,
    page,
    provider_of,
    section,
    verdict,
)
from benchyard.statistics.comparison import Verdict


def exit_code(*, worse: bool, unjudged: Sequence[str], strict: bool) -> ExitCode:
    """Return the exit code of a comparison, and say why a strict one does not pass.

    Args:
        worse: Whether anything is worse than in the baseline.
        unjudged: Why not everything is judged; see ``coverage.unjudged``.
    """
    if worse:
        return ExitCode.REGRESSION
    if not (strict and unjudged):
        return ExitCode.DONE
    for text in unjudged:
        say(f"cannot tell: {text}", fg="red", err=True)
    return ExitCode.CANNOT_TELL


def exit_code_after_runs(
    worse: Sequence[str], unjudged: Sequence[str], *, strict: bool
) -> ExitCode:
    """Return the same where runs were made; what is worse is said too."""
    if worse:
        say("benchyard:", "\n".join(worse), err=True)
    return exit_code(worse=bool(worse), unjudged=unjudged, strict=strict)


_STDOUT = Path("-")
_MARKDOWN = "--markdown"


class ReportingCommand(Command):
    """A command whose ``--markdown`` may stand without a FILE.

    Click would take whatever word comes next for its value, even the first argument.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put in the FILE that is left out."""
        return super().parse_args(ctx, list(_with_file(args)))


def _with_file(args: Sequence[str]) -> Iterator[str]:
    options = True
    for at, word in enumerate(args):
        yield word
        options = options and word != "--"
        if options and word == _MARKDOWN:
            following = args[at + 1] if at + 1 < len(args) else ""
            if following != str(_STDOUT) and not following.lower().endswith(".md"):
                yield str(_STDOUT)


@dataclass(frozen=True, slots=True)
class Reports:
    """What is to be reported where.

    Args:
        junit: Write JUnit XML: a test for each step.
        markdown: Write Markdown, for a pull request; to stdout if no FILE.md follows.
        openmetrics: Write the medians as OpenMetrics, for GitLab's metrics reports.
        ci: Whose job this is: GitHub gets annotations and a summary, GitLab Markdown in the log;
            auto is whose the environment says.
        strict: Exit with 5 if nothing can be judged, or something that was measured before is
            missing.
    """

    junit: Path | None = None
    markdown: Path | None = None
    openmetrics: Path | None = None
    ci: Literal["auto", "github", "gitlab", "none"] = "auto"
    strict: bool = False

    def check(self, baseline: str | None) -> None:
        """Refuse to be strict where nothing is compared.

        Raises:
            UsageError: If that is so.
        """
        if self.strict and baseline is None:
            raise click.UsageError("--strict needs --baseline: without one nothing is compared")

    @property
    def provider(self) -> str:
        """Whose job it is, by the environment where nobody says it."""
        return provider_of(os.environ) if self.ci == "auto" else self.ci

    @property
    def prints(self) -> bool:
        """Whether Markdown takes the place of what is printed else."""
        return self.markdown == _STDOUT

    @property
    def wanted(self) -> bool:
        """Whether there is anything to report."""
        return any((self.junit, self.markdown, self.openmetrics)) or self.provider != "none"

    def of_cases(
        self, cases: Sequence[tuple[Case, Path]], looked: Sequence[Looked] | None = None
    ) -> None:
        """Report what came of cases, each given with the folder of its results.

        Args:
            looked: What the comparison with a baseline came to; None without one.
        """
        if self.wanted:
            seen = looked or [None] * len(cases)
            both = zip(_titled_apart(cases), seen, strict=True)
            self._write([outcome_of(title, f, _summary(f), one) for (title, f), one in both])

    def of_suite(self, document: Mapping[str, Any], *, here: bool) -> None:
        """Report what came of a suite.

        Args:
            document: The suite's.
            here: Whether it was executed on this host, where the results are then.
        """
        if self.wanted:
            untold, outcomes = _untold(document.get("comparison") or {}), list[CaseOutcome]()
            for line in document["cases"]:
                folder = Path(line["results"]) if here and line["results"] else None
                outcomes.append(
                    outcome_in_suite(line, _summary(folder), folder, untold[line["case"]])
                )
            self._write(outcomes)

    def of_comparison(self, compared: Comparison, markdown: str) -> None:
        """Report what came of a comparison.

        Args:
            markdown: All of it.
        """
        if self.wanted:
            self._tell(compared_checks(compared), markdown)

    def _write(self, outcomes: Sequence[CaseOutcome]) -> None:
        cases = [checks_of(outcome, strict=self.strict) for outcome in outcomes]
        if self.openmetrics:
            write(self.openmetrics, openmetrics(outcomes))
        self._tell(cases, page(outcomes, cases, ["benchyard", *sys.argv[1:]]))

    def _tell(self, cases: Sequence[CheckedCase], markdown: str) -> None:
        if self.junit:
            write(self.junit, junit(cases))
        if self.markdown:
            write(self.markdown, markdown)
        if self.provider == "github":
            for text in annotations(cases):
                say(text, err=True)
            _add_to_summary(markdown)
        elif self.provider == "gitlab":
            say_between(*section(verdict(cases), int(time.time())), markdown)


_FILES: dict[str, dict[str, Any]] = {
    "junit": {"type": OutputFile(".xml"), "metavar": "FILE"},
    "markdown": {"type": OutputFile(".md"), "metavar": "[FILE]"},
    "openmetrics": {"type": OutputFile(".txt", ".prom"), "metavar": "FILE"},
}
#: The options for reports of a comparison, and of an execution.
comparison_reports = field_options(Reports, "junit", "markdown", "ci", **_FILES)
reports = field_options(Reports, "junit", "markdown", "openmetrics", "ci", **_FILES)
strict_option = field_options(Reports, "strict")


def _titled_apart(cases: Sequence[tuple[Case, Path]]) -> list[tuple[str, Path]]:
    """Name the folder of cases with one title: readers take suites of one name for one."""
    titles = Counter(case.title for case, _ in cases)
    return [
        (case.title if titles[case.title] == 1 else f"{case.title} in {shown(case.folder)}", folder)
        for case, folder in cases
    ]


def _untold(comparison: Mapping[str, Any]) -> Counter[str]:
    """Count by case what a comparison's document says nothing of."""
    rows: list[dict[str, Any]] = comparison.get("comparisons") or []
    return Counter(r["case"] for r in rows if r["verdict"] == Verdict.CANNOT_TELL.value)


def _summary(folder: Path | None) -> dict[str, Any]:
    try:
        return read_summary(folder) if folder else {}
    except RecordError:  # told where the outcome is printed
        return {}


def _add_to_summary(markdown: str) -> None:
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        try:
            append_summary(Path(file), markdown)
        except OSError as error:
            say(f"GITHUB_STEP_SUMMARY: {error}", fg="yellow", err=True)
