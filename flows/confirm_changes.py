"""The flow ``confirm-changes``: look-for-changes → confirm, for each suspicion → tell.

It is executed where the cases were measured: after a suite with a budget of false alarms, as a
deployment, or by ``benchyard alarms``.
"""

from typing import Any

from prefect import State
from prefect.states import Completed

from benchyard.host.testbed import hold_testbed
from benchyard.suite.alarms import AlarmRequest
from tasks.alarms import confirm, look_for_changes, tell
from tasks.parameters import parameters_of
from tasks.schedules import deployed_flow
from tasks.trust import refuse_request_beyond_reach


@deployed_flow("confirm-changes")
@parameters_of(AlarmRequest)
def confirm_changes(cases: tuple[str, ...] = (), **options: Any) -> State[Any]:
    """Confirm what seems slower, and raise alarms within a month's budget of false ones."""
    request = AlarmRequest(cases, **options)
    refuse_request_beyond_reach(request)
    with hold_testbed("confirming what seems slower", wait=request.wait):
        night = look_for_changes(request)
        for one in night.choose():
            confirm(night, one)
    tell(night)
    return Completed(message=night.sentence(), data=night.to_json())
