"""The lab's automations, at a real server: for lost heartbeats, and for alerts."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.events import AutomationCore, DoNothing, emit_event
from prefect.states import Failed, Running, Suspended

from benchyard.core.errors import InputError
from benchyard.lab import automations
from benchyard.lab.automations import (
    FAILED,
    NONE,
    WORSE,
    ensure_alerts,
    ensure_heartbeat_automation,
    heartbeat_automation,
)
from tasks.events import announce_end
from tasks.names import HEARTBEATS
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab]

#: The server looks every 5 s, and takes no shorter time to wait than 10 s.
WITHIN = 10


@flow
def idle() -> None:
    """Do nothing."""


def make_running(api: SyncPrefectClient, *tags: str) -> FlowRun:
    return api.create_flow_run(idle, tags=list(tags), state=Running())


def beat(flow_run: FlowRun) -> None:
    """Send what Prefect's engine sends."""
    tags = [
        {"prefect.resource.id": f"prefect.tag.{tag}", "prefect.resource.role": "tag"}
        for tag in flow_run.tags
    ]
    resource = {"prefect.resource.id": f"prefect.flow-run.{flow_run.id}"}
    emit_event("prefect.flow-run.heartbeat", resource=resource, related=tags)


def state_of(api: SyncPrefectClient, flow_run: FlowRun) -> str:
    state = api.read_flow_run(flow_run.id).state
    return state.type.value if state else ""


@pytest.mark.long  # a host that is busy for ten seconds is as dead as what it should spare
@pytest.mark.usefixtures("prefect_server")
def test_it_ends_the_dead_and_spares_the_living_the_ended_and_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(automations, "WITHIN_SECONDS", WITHIN)
    with get_client(sync_client=True) as api:
        ensure_heartbeat_automation(api)
        dead, alive, ended = (make_running(api, "benchyard") for _ in range(3))
        foreign = make_running(api, "theirs")
        suspended = make_running(api, "benchyard")
        for _ in range(6):  # the server's services learn of an automation by themselves
            for flow_run in (dead, alive, ended, foreign, suspended):
                beat(flow_run)
            time.sleep(1)
        # As the button does; Prefect refuses it for a flow run without a deployment.
        api.set_flow_run_state(suspended.id, Suspended(), force=True)
        # The event of its state may be late: only what it says itself is here.
        announce_end(idle, ended.model_copy(update={"deployment_id": uuid4()}), Failed())

        def dead_has_crashed() -> bool:
            beat(alive)
            time.sleep(1)
            return state_of(api, dead) == "CRASHED"

        assert eventually(dead_has_crashed, 90)
        assert state_of(api, alive) == "RUNNING"
        assert state_of(api, ended) == "RUNNING"
        assert state_of(api, foreign) == "RUNNING"
        assert state_of(api, suspended) == "PAUSED"
        (found,) = api.read_automations_by_name(HEARTBEATS)
        api.delete_automation(found.id)


@pytest.mark.usefixtures("prefect_server")
def test_there_is_one_however_often_it_is_made_and_it_is_brought_up_to_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with get_client(sync_client=True) as api:

        def within(change: Callable[[], Any] = lambda: None) -> tuple[str, float]:
            change()
            ensure_heartbeat_automation(api)
            (found,) = api.read_automations_by_name(HEARTBEATS)
            return str(found.id), found.trigger.model_dump()["within"].total_seconds()

        first = within()
        assert first[1] == 95
        assert within() == first
        assert within(lambda: api.create_automation(heartbeat_automation()))[1] == 95
        again = within(lambda: monkeypatch.setattr(automations, "WITHIN_SECONDS", 120))
        assert again[1] == 120
        api.pause_automation(api.read_automations_by_name(HEARTBEATS)[0].id)
        within(lambda: monkeypatch.setattr(automations, "WITHIN_SECONDS", 130))
        (found,) = api.read_automations_by_name(HEARTBEATS)
        assert not found.enabled
        api.delete_automation(found.id)


@pytest.mark.usefixtures("prefect_server")
def test_automations_that_are_right_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def ensure_all() -> None:
        with get_client(sync_client=True) as api:
            ensure_heartbeat_automation(api)
        ensure_alerts("http://127.0.0.1:9/hook")

    def fail(*_: object) -> None:
        pytest.fail("an automation was changed")

    ensure_all()
    with monkeypatch.context() as patched:
        for name in ("create_automation", "update_automation", "delete_automation"):
            patched.setattr(SyncPrefectClient, name, fail)
        ensure_all()

    ensure_alerts(NONE)
    with get_client(sync_client=True) as api:
        assert not api.read_automations_by_name(FAILED) + api.read_automations_by_name(WORSE)
        for one in api.read_automations_by_name(HEARTBEATS):
            api.delete_automation(one.id)


@pytest.mark.usefixtures("prefect_server")
def test_an_alert_with_another_action_calls_the_webhook_again_and_stays_off() -> None:
    ensure_alerts("http://127.0.0.1:9/hook")
    with get_client(sync_client=True) as api:
        (made,) = api.read_automations_by_name(FAILED)
        other = made.model_copy(update={"actions": [DoNothing()], "enabled": False})
        api.update_automation(
            made.id, AutomationCore(**other.model_dump(exclude={"id", "owner_resource"}))
        )

        ensure_alerts("https://chat.example.org/other")

        (found,) = api.read_automations_by_name(FAILED)
        assert (found.actions, found.enabled) == (made.actions, False)
    ensure_alerts(NONE)


@pytest.mark.parametrize("target", ["", "  ", "ftp://x", "mail-it --to lab@example.org"])
def test_what_is_no_url_is_refused_with_a_way_out(target: str) -> None:
    with pytest.raises(InputError, match=r"--alerts .* an automation in Prefect's UI"):
        ensure_alerts(target)
