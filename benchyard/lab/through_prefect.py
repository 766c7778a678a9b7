"""One request as one flow run, and its final state as an exception."""

from dataclasses import asdict

import httpx
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.core.errors import InputError, RunInterruptedError
from benchyard.core.wording import printable
from benchyard.lab.server import Server
from benchyard.lab.trouble import leave_at_once
from benchyard.run.request import Request
from flows.execute_case import execute_case
from tasks.caller import Caller, called_by


def caller_of(server: Server) -> Caller:
    """Return the caller of all flow runs of this command."""
    return Caller(server.bring_back if server.process is not None else None)


def execute(request: Request, server: Server, caller: Caller) -> None:
    """Execute a request as a flow run.

    What became of it is told to the caller also when the server stays away in the end.

    The heartbeat is off: its thread costs a second at the end of each flow run, and an
    automation that acts on heartbeats looks after deployments, which this is not.

    Raises:
        CaseFailedError: If a run failed.
        RunInterruptedError: If the user asked to stop.
        InputError: If a folder's name is no Unicode: Prefect keeps parameters as JSON.
    """
    for path in (request.case, request.root, request.results or "", *request.resources):
        if not path.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in path):
            raise InputError(
                f"{printable(path)}: Prefect takes no name that is not UTF-8; rename the folder, "
                "or use --direct"
            )
    server.bring_back()
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}), called_by(caller):
        try:
            state = caller.told(execute_case(**asdict(request), return_state=True))
        except httpx.TransportError:
            if caller.end is None:
                raise
            state = caller.end
            caller.untold(state)
            leave_at_once(server.stop)
    if state.is_cancelled():
        raise RunInterruptedError(state.message or "stopped by the user")
    state.result()
