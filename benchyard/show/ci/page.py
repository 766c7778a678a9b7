"""What came of cases in Markdown, for a pull request or the summary of a job: the verdict first."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchyard import __version__
from benchyard.core.markup import cell
from benchyard.core.quantity import plural
from benchyard.core.wording import printable
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
    parts = [f"**{verdict(cases)}**\n", *map(_case, outcomes), _repeat(command)]
    return "\n".join(parts)


def _case(outcome: CaseOutcome) -> str:
    return "\n".join(_parts(outcome))


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
