"""What became worse, looked at once a whole suite is measured: a turn is not yet a case."""

from collections.abc import Sequence

from prefect import get_run_logger, task

from benchyard.suite.plan import ChosenCase
from benchyard.suite.summary import Summary, with_comparisons
from tasks.events import announce_regression
from tasks.flow_run import this_flow_run
from tasks.policy import UNCACHED


@task(name="compare-suite", **UNCACHED)
def compare_suite(summary: Summary, entries: Sequence[ChosenCase], baseline: str) -> Summary:
    """Compare what was done with the baseline, and tell of each regression as an event."""
    compared = with_comparisons(summary, entries, baseline, this_flow_run())
    logger = get_run_logger()
    for line, entry in zip(compared.lines, entries, strict=True):
        if entry.results is None or not line.compared:
            continue
        logger.info("%s against %s: %s", line.title, baseline, line.compared)
        for found in line.regressions:
            logger.warning("regression: %s", found.text)
            announce_regression(found, entry.results, baseline)
    return compared
