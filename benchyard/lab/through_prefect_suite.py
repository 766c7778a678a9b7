"""One wish for a suite as one flow run, and its final state as an exception."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.core import places
from benchyard.lab.server import Server
from benchyard.lab.through_prefect import caller_of
from benchyard.suite.request import SuiteRequest
from flows.execute_suite import execute_suite
from tasks.caller import called_by


def execute(wish: SuiteRequest, server: Server) -> tuple[State[Any], Path]:
    """Execute a suite as a flow run of this process; return its state and its summary's file.

    The heartbeat is off: an automation that acts on heartbeats looks after deployments, which
    this is not.
    """
    caller = caller_of(server)
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}), called_by(caller):
        state = caller.told(execute_suite(**asdict(wish), return_state=True))
    return state, places.home() / "suites" / f"{state.state_details.flow_run_id}.json"
