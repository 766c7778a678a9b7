"""One request as one flow run, and its final state as an exception."""

from dataclasses import asdict
from typing import Any, cast

from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.case.problems import printable
from benchyard.errors import InputError, RunInterruptedError
from benchyard.execution.request import Request
from flows.execute_case import execute_case


def execute(request: Request) -> None:
    """Execute a request as a flow run.

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
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        state = cast("State[Any]", execute_case(**asdict(request), return_state=True))
    if state.is_cancelled():
        raise RunInterruptedError(state.message or "stopped by the user")
    state.result()
