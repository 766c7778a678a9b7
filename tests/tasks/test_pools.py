"""What a lab asks of the API, against a real server."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta

import pytest
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import FlowRun, State
from prefect.states import Cancelling, Pending, Running

from tasks import pools
from tasks.names import TESTBEDS
from tasks.prefect_internals import our_client

pytestmark = pytest.mark.slow


@flow
def idle() -> None:
    """Do nothing."""


@pytest.fixture
def client(prefect_server: str) -> Generator[SyncPrefectClient]:
    assert prefect_server
    with our_client() as client:
        pools.ensure_pools(client)
        yield client


def taken(client: SyncPrefectClient, state: State[None], worker: str | None = None) -> FlowRun:
    """Make a flow run as it is once a worker has taken it."""
    made = client.create_flow_run(idle, work_pool_name=TESTBEDS, state=state)
    if worker is not None:
        client.update_flow_run_labels(made.id, {"prefect.worker.name": worker})
    return made


def state_of(client: SyncPrefectClient, flow_run: FlowRun) -> str:
    state = client.read_flow_run(flow_run.id).state
    return state.type.value if state else ""


def test_what_a_dead_worker_had_begun_has_crashed_and_the_rest_waits_again(
    client: SyncPrefectClient,
) -> None:
    running, pending = taken(client, Running(), "me"), taken(client, Pending(), "me")
    alive, other = taken(client, Running(), "me"), taken(client, Running(), "other")
    cancelling = taken(client, Cancelling(), "me")

    said = pools.close_lost(client, "me", TESTBEDS, [str(alive.id)])

    assert len(said) == 3
    assert state_of(client, running) == "CRASHED"
    assert state_of(client, cancelling) == "CRASHED"
    assert state_of(client, pending) == "SCHEDULED"
    assert state_of(client, alive) == state_of(client, other) == "RUNNING"
    for one in (running, pending, alive, other, cancelling):
        client.delete_flow_run(one.id)


def test_what_a_worker_took_and_died_with_waits_again(client: SyncPrefectClient) -> None:
    forgotten, begun = taken(client, Pending()), taken(client, Pending(), "me")
    long_ago, soon = (datetime.now(UTC) + timedelta(minutes=m) for m in (-1, 1))

    assert pools.reschedule_forgotten(client, TESTBEDS, long_ago) == []
    (said,) = pools.reschedule_forgotten(client, TESTBEDS, soon)

    assert forgotten.name in said
    assert state_of(client, forgotten) == "SCHEDULED"
    assert state_of(client, begun) == "PENDING"
    for one in (forgotten, begun):
        client.delete_flow_run(one.id)
