"""The tasks of ``flows.confirm_changes``: what seems slower is looked for, confirmed and told."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

from prefect import get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.deployments import run_deployment

from benchyard.core.wording import code, item
from benchyard.run.interrupts import reraise_interrupt
from benchyard.suite.alarms import AlarmNight, AlarmRequest, Suspicion, look
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import Summary
from tasks.events import announce_alarm
from tasks.suite import ended

#: The artifact's key: the UI shows its history.
KEY = "alarms"
DEPLOYMENT = "confirm-changes/alarms"
_LOOK = "look-for-changes"


@task(name=_LOOK, task_run_name=_LOOK, persist_result=False)
def look_for_changes(request: AlarmRequest) -> AlarmNight:
    """Look which cases seem slower."""
    return look(request)


@task(name="confirm", task_run_name="confirm", persist_result=False)
def confirm(night: AlarmNight, one: Suspicion) -> None:
    """Confirm a suspicion by pairs of both versions."""
    for line in night.confirm(one):
        get_run_logger().info("%s", line)
    get_run_logger().info("%s", one)


@task(name="tell", task_run_name="tell", persist_result=False)
def tell(night: AlarmNight) -> None:
    """Emit an event for each alarm, and show all suspicions and the account."""
    for one in night.alarms:
        get_run_logger().warning("alarm: %s", one)
        announce_alarm(one.item.case, one.to_json())
    create_markdown_artifact(markdown(night), key=KEY, description=night.sentence())


def markdown(night: AlarmNight) -> str:
    """Return the alarms, the other suspicions and the account for people."""
    alarms = night.alarms
    others = [one for one in night.suspicions if not one.is_alarm]
    blocks = [("Alarms", alarms), ("Suspected, not confirmed", others)]
    return "\n\n".join(
        [f"## {title}\n\n{_listed(found)}" for title, found in blocks] + [item(night.sentence())]
    )


def _listed(found: Sequence[Suspicion]) -> str:
    lines = [
        f"- {item(str(one))}{f'; {code(one.bisection)}' if one.bisection else ''}" for one in found
    ]
    return "\n".join(lines or ["none"])


def confirm_after(
    summary: Summary, request: SuiteRequest, queues: Sequence[str], flow: Callable[..., Any]
) -> Summary:
    """Confirm what a suite makes suspected: here, or by a flow run on each testbed that it used.

    Args:
        summary: Of the suite.
        request: Of the suite, with a budget.
        queues: Of the testbeds; empty means here.
        flow: ``confirm-changes``, which this module may not import.

    Returns:
        The summary, with the alarms of this host. What fails here fails no suite.
    """
    names = ("root", "results", "resources", "wait")
    given = {name: getattr(request, name) for name in names}
    asked = AlarmRequest(false_per_month=request.false_per_month or 0.0, **given)
    try:
        for queue in queues:
            told = {"timeout": 0, "work_queue_name": queue}
            cast("Any", run_deployment)(DEPLOYMENT, parameters=asdict(asked), **told)
        if queues:
            return summary
        return replace(summary, alarms=ended(flow, asked).result())
    except Exception as error:  # noqa: BLE001 - the runs are good
        reraise_interrupt(error)
        get_run_logger().warning("nothing was confirmed: %s", error)
        return summary
