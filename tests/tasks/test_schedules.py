"""A flow run of a schedule makes up for those that were missed; a real server."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prefect import State, flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.states import Completed

from tasks.schedules import deployable

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


@flow(name="some-flow")
def some_flow(case: str) -> None: ...


@pytest.fixture
def api() -> Generator[SyncPrefectClient]:
    with get_client(sync_client=True) as client:
        yield client


class Scheduled:
    """A deployment with two schedules, each of which was due three times and is due once more."""

    def __init__(self, api: SyncPrefectClient) -> None:
        self._api, began = api, datetime.now(UTC)
        daily = IntervalSchedule(
            interval=timedelta(days=1), anchor_date=began - timedelta(days=2, hours=1)
        )
        self.deployment = api.create_deployment(
            api.create_flow_from_name(some_flow.name),
            f"nightly-{began:%f}",
            paused=True,
            schedules=[
                DeploymentScheduleCreate(schedule=daily, slug=case, parameters={"case": case})
                for case in "ab"
            ],
        )
        times = {"start_time": began - timedelta(days=3), "end_time": began + timedelta(days=1)}
        body: dict[str, Any] = {name: time.isoformat() for name, time in times.items()}
        body |= {"min_runs": 4, "max_runs": 100}
        path_params = {"id": str(self.deployment)}
        api.request("POST", "/deployments/{id}/schedule", path_params=path_params, json=body)

    def flow_runs(self, case: str) -> list[FlowRun]:
        """Return the flow runs of a case, the oldest first."""
        chosen = FlowRunFilter.model_validate({"deployment_id": {"any_": [self.deployment]}})
        order = FlowRunSort.EXPECTED_START_TIME_ASC
        found = self._api.read_flow_runs(flow_run_filter=chosen, sort=order)
        return [one for one in found if one.parameters == {"case": case}]

    def states(self, case: str) -> list[str]:
        return [str(one.state_name) for one in self.flow_runs(case)]


def executed(flow_run: FlowRun, monkeypatch: pytest.MonkeyPatch) -> State[Any]:
    context = FlowRunContext.model_construct(flow=some_flow, flow_run=flow_run)
    monkeypatch.setattr(FlowRunContext, "get", lambda: context)
    return deployable(lambda: Completed(message="6 runs done"))()


def test_the_first_one_stands_for_all_that_are_due_and_says_that_it_is_late(
    api: SyncPrefectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled = Scheduled(api)
    first = scheduled.flow_runs("a")[0]

    end = executed(first, monkeypatch)

    assert first.expected_start_time is not None
    due = f"{first.expected_start_time:%Y-%m-%d %H:%M} UTC"
    late = f"late: it was due at {due}, and makes up for 2 more missed times"
    assert end.message == f"6 runs done; {late}"
    assert scheduled.states("a") == ["Scheduled", "Cancelled", "Cancelled", "Scheduled"]
    assert set(scheduled.states("b")) == {"Scheduled"}
    cancelled = scheduled.flow_runs("a")[1].state
    assert cancelled is not None
    assert cancelled.message == f"missed: the flow run '{first.name}' makes up for it"


def test_a_retry_and_a_flow_run_of_somebody_stand_for_nothing(
    api: SyncPrefectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled = Scheduled(api)
    first = scheduled.flow_runs("a")[0]

    for change in ({"run_count": 2}, {"auto_scheduled": False}):
        end = executed(first.model_copy(update=change), monkeypatch)
        assert end.message == "6 runs done"

    assert set(scheduled.states("a")) == {"Scheduled"}
