"""Make up once for what a schedule missed while no worker was there, and say that it is late."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from typing import Any, ParamSpec

import httpx
from prefect import State
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectHTTPStatusError
from prefect.states import Cancelled

from benchyard.statistics.figures import plural
from tasks.flow_run import is_first_attempt, is_scheduled
from tasks.shared_client import each_of, our_client

logger = logging.getLogger("benchyard.schedules")

ParametersT = ParamSpec("ParametersT")
#: A worker that is there begins within some seconds.
_LATE = timedelta(minutes=1)


def made_up_once(
    function: Callable[ParametersT, State[Any]],
) -> Callable[ParametersT, State[Any]]:
    """Let a flow run of a schedule stand for all that are due; its last state says that it is late.

    Prefect would execute each of them, one after another.
    """

    @wraps(function)
    def execute(*arguments: ParametersT.args, **options: ParametersT.kwargs) -> State[Any]:
        late = _cancel_others_due()
        state = function(*arguments, **options)
        return state.model_copy(update={"message": f"{state.message}; {late}"}) if late else state

    return execute


def _cancel_others_due() -> str:
    """Cancel what the flow run under way stands for; say how late it is, if it is."""
    context = FlowRunContext.get()
    flow_run = context.flow_run if context else None
    due = flow_run.expected_start_time if flow_run else None
    if flow_run is None or due is None or not (is_scheduled() and is_first_attempt()):
        return ""
    now, missed = datetime.now(UTC), 0
    try:
        missed = _cancel_missed(flow_run, now)
    except (httpx.HTTPError, PrefectHTTPStatusError) as error:
        logger.warning("what the schedule missed is executed, too: %s", error)
    if not missed and now - due < _LATE:
        return ""
    more = f", and makes up for {plural(missed, 'more missed time')}" if missed else ""
    late = f"late: it was due at {due:%Y-%m-%d %H:%M} UTC{more}"
    logger.warning(late)
    return late


def _cancel_missed(flow_run: FlowRun, now: datetime) -> int:
    waiting = FlowRunFilter.model_validate(
        {
            "deployment_id": {"any_": [flow_run.deployment_id]},
            "state": {"type": {"any_": ["SCHEDULED", "PENDING"]}},
            "expected_start_time": {"before_": now},
        }
    )
    with our_client() as client:
        missed = [
            one
            for one in each_of(partial(client.read_flow_runs, flow_run_filter=waiting))
            if one.auto_scheduled
            and not one.run_count
            and one.id != flow_run.id
            and one.parameters == flow_run.parameters
        ]
        for one in missed:
            end = Cancelled(message=f"missed: the flow run '{flow_run.name}' makes up for it")
            client.set_flow_run_state(one.id, end, force=True)
    return len(missed)
