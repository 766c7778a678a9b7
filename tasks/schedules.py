"""What a deployment's flow run does beside its work: make up for a schedule, say that it ends."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, ParamSpec

import httpx
from prefect import Flow, State, flow
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.exceptions import Pause, PrefectHTTPStatusError
from prefect.states import Cancelled

from benchyard.core.quantity import plural
from tasks.caller import current_caller
from tasks.events import announce_end
from tasks.flow_run import is_first_attempt, is_scheduled
from tasks.pools import flow_runs
from tasks.prefect_internals import our_client

ParametersT = ParamSpec("ParametersT")
#: A worker that is there begins within some seconds.
_LATE = timedelta(minutes=1)


def deployable(function: Callable[ParametersT, State[Any]]) -> Callable[ParametersT, State[Any]]:
    """Let a flow run of a schedule stand for all that are due; its last state says that it is late.

    Prefect would execute each of them, one after another. It calls no hook when a suspended flow
    run's process ends, and heartbeats may follow the event of the state: so this says it, too. The
    command that calls it takes note of it before.
    """

    @wraps(function)
    def execute(*arguments: ParametersT.args, **options: ParametersT.kwargs) -> State[Any]:
        if caller := current_caller():
            caller.begin()
        context = FlowRunContext.get()
        flow_run = context.flow_run if context else None
        late = _make_up(flow_run) if flow_run and is_scheduled() and is_first_attempt() else ""
        try:
            state = function(*arguments, **options)
        except Pause as pause:
            if context and context.flow and flow_run and pause.state:
                announce_end(context.flow, flow_run, pause.state)
            raise
        return state.model_copy(update={"message": f"{state.message}; {late}"}) if late else state

    return execute


def deployed_flow(
    name: str, *closing: Callable[..., None]
) -> Callable[[Callable[ParametersT, State[Any]]], Flow[ParametersT, State[Any]]]:
    """Make a ``deployable`` flow that emits an event when it ends.

    Args:
        name: Of the flow.
        closing: Hooks that follow when it crashed or was cancelled.
    """
    hooks: dict[str, Any] = {"on_completion": [announce_end], "on_failure": [announce_end]}
    if closing:
        hooks["on_crashed"] = hooks["on_cancellation"] = [announce_end, *closing]
    made: Any = flow(name=name, persist_result=False, **hooks)
    return lambda function: made(deployable(function))


def _make_up(flow_run: FlowRun) -> str:
    """Cancel what a flow run stands for; say how late it is, if it is."""
    now = datetime.now(UTC)
    due = flow_run.expected_start_time or now
    missed = 0
    with suppress(httpx.HTTPError, PrefectHTTPStatusError), our_client() as api:
        missed = _cancel_missed(api, flow_run, now)
    more = f", and makes up for {plural(missed, 'more missed time')}" if missed else ""
    return (
        f"late: it was due at {due:%Y-%m-%d %H:%M} UTC{more}" if more or now - due > _LATE else ""
    )


def _cancel_missed(api: SyncPrefectClient, flow_run: FlowRun, now: datetime) -> int:
    due = flow_runs(
        api,
        deployment_id={"any_": [flow_run.deployment_id]},
        state={"type": {"any_": ["SCHEDULED", "PENDING"]}},
        expected_start_time={"before_": now},
    )
    end = Cancelled(message=f"missed: the flow run '{flow_run.name}' makes up for it")
    missed = [
        one.id
        for one in due
        if one.auto_scheduled and not one.run_count
        if one.id != flow_run.id and one.parameters == flow_run.parameters
    ]
    for identity in missed:
        api.set_flow_run_state(identity, end, force=True)
    return len(missed)
