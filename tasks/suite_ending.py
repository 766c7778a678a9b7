"""How a suite ends: what became worse, its summary in a file and in the UI, and its state."""

from collections.abc import Sequence
from typing import Any, cast

from prefect import State, get_run_logger, task
from prefect.artifacts import create_table_artifact
from prefect.states import Cancelled, Completed, Failed

from benchyard.analysis.regressions import Baseline
from benchyard.core.errors import CaseFailedError
from benchyard.core.files import shown
from benchyard.show.pages import cell, suite_table
from benchyard.suite.plan import ChosenCase
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import (
    HEAD,
    Summary,
    with_comparisons,
    with_testbeds_comparisons,
    write_summary,
)
from tasks.events import announce_regression
from tasks.flow_run import this_flow_run
from tasks.policy import UNCACHED

#: The artifact's key: the UI keeps its history.
KEY = "suite"
#: More rows are no table for people; the file has all.
_MOST_ROWS = 1000
_NAMED = 5


@task(name="compare-suite", **UNCACHED)
def compare_suite(
    summary: Summary, entries: Sequence[ChosenCase], baseline: str, request: SuiteRequest
) -> Summary:
    """Compare what was done with the baseline, and tell of each regression as an event."""
    compared = with_comparisons(
        summary, entries, Baseline(baseline, request.comparison_rule), this_flow_run()
    )
    _tell(compared, entries, baseline)
    return compared


@task(name="compare-testbeds", **UNCACHED)
def compare_testbeds(summary: Summary, entries: Sequence[ChosenCase], baseline: str) -> Summary:
    """Judge together what testbeds compared, and tell of each regression as an event."""
    compared = with_testbeds_comparisons(summary)
    _tell(compared, entries, baseline)
    return compared


def _tell(compared: Summary, entries: Sequence[ChosenCase], baseline: str) -> None:
    logger = get_run_logger()
    for line, entry in zip(compared.lines, entries, strict=True):
        if entry.results is None or not line.compared:
            continue
        logger.info("%s against %s: %s", line.title, baseline, line.compared)
        for found in line.regressions:
            logger.warning("regression: %s", found.text)
            announce_regression(found, entry.results, baseline)


@task(name="summarize-suite", **UNCACHED)
def summarize_suite(summary: Summary, request: SuiteRequest) -> str:
    """Keep the summary in a file, show it in the UI, and return where the file is.

    A full disk, or a server that is away, is told and ends no suite.
    """
    flow_run = this_flow_run()
    try:
        file = shown(write_summary(summary, request, str(flow_run.get("id", "suite")), flow_run))
    except OSError as error:
        get_run_logger().warning("the suite's summary could not be written: %s", error)
        file = "nowhere, it could not be written"
    try:
        _show(summary, file)
    except Exception as error:  # noqa: BLE001 - what is shown is in the file
        get_run_logger().warning("the suite's summary could not be shown: %s", error)
    return file


def _show(summary: Summary, file: str) -> None:
    rows: list[dict[str, str]] = [dict(zip(HEAD, row, strict=True)) for row in summary.rows()]
    more = len(rows) - _MOST_ROWS
    left_out = f" The first {_MOST_ROWS:,} of {len(rows):,} cases." if more > 0 else ""
    create_table_artifact(
        table=cast("list[dict[str, Any]]", suite_table(rows[:_MOST_ROWS])),
        key=KEY,
        description=f"{cell(summary.sentence())}.{left_out} All of it: {cell(file)}",
    )


def suite_state(summary: Summary, stopped: str) -> State[Any]:
    """Return the state that tells the truth: Failed as soon as anything did not work.

    Args:
        stopped: Why somebody stopped it; empty if nobody did.
    """
    sentence = summary.sentence()
    if summary.interrupted:
        return Cancelled(message=f"{stopped or 'stopped by the user'}; {sentence}")
    bad = summary.bad
    if not bad:
        return Completed(message=f"{sentence}{_worst(summary)}")
    named = ", ".join(line.title for line in bad[:_NAMED])
    more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
    message = f"{sentence}; not as wanted: {named}{more}; a retry goes on there"
    return Failed(message=message, data=CaseFailedError(message))


def _worst(summary: Summary) -> str:
    worse = [line for line in summary.lines if line.regressions]
    return f": {worse[0].title}: {worse[0].regressions[0].text}" if worse else ""


def tell_the_end(summary: Summary, file: str) -> None:
    """Write the summary to the flow run's log."""
    logger = get_run_logger()
    for line in summary.bad:
        logger.warning("%s: %s", line.title, line.why or "failed")
    logger.info("%s; all of it: %s", summary.sentence(), file)
