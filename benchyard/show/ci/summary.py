"""What came of cases in Markdown, the verdict first; annotations, summaries, sections of a job."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchyard import __version__
from benchyard.core.quantity import plural, shorten
from benchyard.core.wording import cell, printable
from benchyard.show.ci.checks import CANNOT_TELL, REGRESSION, CheckedCase, State
from benchyard.show.ci.outcomes import CaseOutcome
from benchyard.show.pages.result import result_page

_MOST_REGRESSIONS = 50


def verdict(cases: Sequence[CheckedCase]) -> str:
    """Return all of it in a sentence, with a mark before it."""
    failed = [check for case in cases for check in case.in_state(State.FAILED, State.ERROR)]
    worse = sum(check.kind == REGRESSION for check in failed)
    blind = sum(check.kind == CANNOT_TELL for check in failed)
    steps = len(failed) - worse - blind
    told = [plural(worse, "regression")] if worse else []
    told += [plural(steps, "failure")] if steps else []
    told += ["cannot tell"] if blind else []
    told = told or ["nothing failed"]
    skipped = sum(len(case.in_state(State.SKIPPED)) for case in cases)
    told += [f"{plural(skipped, 'check')} could not be made"] if skipped else []
    mark = "❌" if failed else "⚠️" if skipped else "✅"
    what = ", ".join(told)
    return f"{mark} {what} in {plural(len(cases), 'case')}"


def page(
    outcomes: Sequence[CaseOutcome], cases: Sequence[CheckedCase], command: Sequence[str]
) -> str:
    """Return the page.

    Args:
        cases: The checks of the outcomes.
        command: The words of the command that made it.
    """
    about = ("\n".join(_parts(outcome)) for outcome in outcomes)
    parts = [f"**{verdict(cases)}**\n", *about, _repeat(command)]
    return "\n".join(parts)


def _parts(outcome: CaseOutcome) -> Iterator[str]:
    if outcome.results is None or not (outcome.steps or outcome.failed):
        done = f"{plural(outcome.done, 'run')} done" if outcome.done else "no finished run"
        yield f"### {cell(outcome.title)}\n\n{cell(outcome.why or done)}\n"
    else:
        yield "##" + _result(outcome, outcome.results)
    if outcome.looked is None:
        return
    if outcome.looked.page:
        yield outcome.looked.page
        return
    yield from (f"- ❌ {cell(one.text)}" for one in outcome.regressions[:_MOST_REGRESSIONS])
    yield f"- against the baseline: {cell(outcome.looked.summary)}\n"


def _result(outcome: CaseOutcome, results: Path) -> str:
    failed = [record.run for record in outcome.failed]
    return result_page(outcome.title, outcome.summary, failed, results, None, outcome.failed)


def _repeat(command: Sequence[str]) -> str:
    line = printable(shlex.join(command))
    fence = "```"
    while fence in line:
        fence += "`"
    return (
        f"<details><summary>To repeat, with Benchyard {__version__}</summary>\n\n"
        f"{fence}sh\n{line}\n{fence}\n\n</details>\n"
    )


# -- what GitHub and GitLab show


#: GitHub shows so many errors of a step, and so many warnings.
#: Source: https://docs.github.com/en/rest/checks/runs, and GitHub's answer in
#: https://github.com/orgs/community/discussions/26680.
_MOST_ANNOTATIONS = 10
#: GitHub refuses longer summaries of a step, 1 MiB, whole.
_LONGEST_SUMMARY = 1_000_000
#: A line of an annotation; the reports have the whole.
_LONGEST_LINE = 400
_LEFT_OUT = "\n\nThe rest is left out: a summary holds 1 MiB.\n"


def provider_of(environment: Mapping[str, str]) -> str:
    """Return whose job this is, ``github``, ``gitlab`` or ``none``, by what they all set."""
    known = {"GITHUB_ACTIONS": "github", "GITLAB_CI": "gitlab"}
    return next((who for name, who in known.items() if environment.get(name) == "true"), "none")


def annotations(cases: Sequence[CheckedCase]) -> list[str]:
    """Return GitHub's workflow commands: an error for each failure, a warning for what is odd."""
    errors = [
        (f"{check.kind.replace('_', ' ')}: {case.title}: {check.name}", check.text)
        for case in cases
        for check in case.in_state(State.FAILED, State.ERROR)
    ]
    warnings = [(case.title, told) for case in cases if (told := "\n".join(_odd(case)))]
    return [*_commands("error", errors), *_commands("warning", warnings)]


def _odd(case: CheckedCase) -> Iterator[str]:
    yield from (shorten(note, _LONGEST_LINE) for note in case.notes)
    for check in case.checks:
        if check.state is State.SKIPPED:
            yield f"{check.name}: {check.text}"
        elif check.is_odd:
            yield f"{check.name}: {'; '.join(check.notes)}"


def _commands(kind: str, found: Sequence[tuple[str, str]]) -> list[str]:
    shown = found if len(found) <= _MOST_ANNOTATIONS else found[: _MOST_ANNOTATIONS - 1]
    more = len(found) - len(shown)
    rest = [("Benchyard", f"{more:,} more, in the log and in the reports")] if more else []
    return [f"::{kind} title={_property(title)}::{_data(text)}" for title, text in (*shown, *rest)]


def _data(text: str) -> str:
    """Escape a message as GitHub's own toolkit does (packages/core/src/command.ts)."""
    told = printable(text, but="\n")
    return told.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def append_summary(file: Path, page: str) -> None:
    """Append Markdown to the summary of a step; what is too long for it is cut off.

    Raises:
        OSError: If the file cannot be written.
    """
    there = file.stat().st_size if file.exists() else 0
    room = _LONGEST_SUMMARY - there - len(_LEFT_OUT)
    content = page.encode(errors="backslashreplace") + b"\n"
    if len(content) > room:
        whole = content[: max(room, 0)].rpartition(b"\n")[0]
        content = whole + _LEFT_OUT.encode()
    with file.open("ab") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def section(title: str, began: int) -> tuple[str, str]:
    """Return what begins and ends a folded section in the log of a job of GitLab.

    Source: https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections.

    Args:
        title: Its line in the log.
        began: Seconds since the epoch.
    """
    start = f"\x1b[0Ksection_start:{began}:benchyard_{began}[collapsed=true]\r\x1b[0K"
    end = f"\x1b[0Ksection_end:{began}:benchyard_{began}\r\x1b[0K"
    return f"{start}{printable(title)}\n", f"{end}\n"
