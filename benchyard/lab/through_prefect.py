"""A request as a flow run of this process, and what came of it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import httpx
from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.core import places
from benchyard.core.errors import CaseFailedError
from benchyard.core.model import JsonObject
from benchyard.lab.server import Server
from benchyard.run.interrupts import leave_at_once
from benchyard.run.request import Request
from benchyard.suite.alarms import AlarmRequest
from benchyard.suite.driver import TurnEnd
from benchyard.suite.request import SuiteRequest
from flows.execute_case import execute_case
from tasks.caller import Caller, called_by
from tasks.flow_run import turn_end


def caller_of(server: Server) -> Caller:
    """Return the caller of all flow runs of this command."""
    return Caller(server.bring_back if server.process is not None else None)


def execute_one(request: Request, server: Server, caller: Caller) -> TurnEnd:
    """Execute a request as a flow run, and return how it ended.

    What became of it is told to the caller also when the server stays away in the end.

    The heartbeat is off: its thread costs a second at the end of each flow run, and an
    automation that acts on heartbeats looks after deployments, which this is not.

    Raises:
        BenchyardError: If the case could not be executed at all.
    """
    server.bring_back()
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}), called_by(caller):
        try:
            ended = cast("State[Any]", execute_case(**asdict(request), return_state=True))
            state = caller.told(ended)
        except httpx.TransportError:
            if caller.end is None:
                raise
            state = caller.end
            caller.untold(state)
            leave_at_once(server.stop)
    if not (state.is_completed() or state.is_cancelled()):
        with suppress(CaseFailedError):
            state.result()
    return turn_end(state)


def execute_many(request: SuiteRequest, server: Server) -> tuple[State[Any], Path]:
    """Execute a suite as a flow run of this process; return its state and its summary's file.

    The heartbeat is off: an automation that acts on heartbeats looks after deployments, which
    this is not.
    """
    from flows.execute_suite import execute_suite  # noqa: PLC0415 - a run has no need of it

    state = _ended(execute_suite, asdict(request), server)
    return state, places.home() / "suites" / f"{state.state_details.flow_run_id}.json"


def confirm(request: AlarmRequest, server: Server) -> JsonObject:
    """Confirm what seems slower by a flow run of this process; return its document."""
    from flows.confirm_changes import confirm_changes  # noqa: PLC0415 - as above

    return _ended(confirm_changes, asdict(request), server).result()


def _ended(flow: Callable[..., Any], parameters: Mapping[str, Any], server: Server) -> State[Any]:
    caller = caller_of(server)
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}), called_by(caller):
        return caller.told(flow(**parameters, return_state=True))
