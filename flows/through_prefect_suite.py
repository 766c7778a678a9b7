"""One wish for a suite as one flow run, and its final state as an exception."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard import places
from benchyard.suite.wish import Wish
from flows.execute_suite import execute_suite


def execute(wish: Wish) -> tuple[State[Any], Path]:
    """Execute a suite as a flow run of this process; return its state and its summary's file.

    The heartbeat is off: an automation that acts on heartbeats looks after deployments, which
    this is not.
    """
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        state = cast("State[Any]", execute_suite(**asdict(wish), return_state=True))
    return state, places.home() / "suites" / f"{state.state_details.flow_run_id}.json"
