"""Publish what waits for one sink."""

from typing import Any

from prefect import State, get_run_logger, task
from prefect.states import Completed, Failed

from benchyard.core.errors import SinkError
from benchyard.publish import Manner, PublishResult, RetryPolicy, Route, publish_all
from benchyard.publish.outcome import problems, summary
from tasks.policy import UNCACHED


@task(name="publish", task_run_name="publish/{line.sink}", **UNCACHED)
def publish(line: Route, retries: int, *, again: bool) -> tuple[PublishResult, ...]:
    """Publish what waits on a route; what went wrong is logged."""
    outcomes = publish_all([line], Manner(RetryPolicy(retries)), again=again)
    logger = get_run_logger()
    for outcome in outcomes:
        for problem in problems(outcome):
            logger.error(problem)
        logger.info(summary(outcome))
    return outcomes


def published_state(outcomes: tuple[PublishResult, ...]) -> State[Any]:
    """Return Completed, or Failed if something waits still or was rejected."""
    message = "; ".join(map(summary, outcomes))
    if all(outcome.is_clean for outcome in outcomes):
        return Completed(message=message)
    return Failed(message=message, data=SinkError(message))
