"""What of Prefect's inside is used by flow runs and clients: that it is there, and what it does."""

import logging
import re
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler
from inspect import signature
from uuid import uuid4

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_LOGGING_TO_API_ENABLED,
    get_current_settings,
    temporary_settings,
)
from prefect.states import Failed
from prefect.utilities.asyncutils import run_coro_as_sync

from tasks.prefect_internals import (
    SOON,
    EndedFuture,
    ask_no_more,
    one_client,
    our_client,
    without_repetitions,
)
from tests.answering import Quiet, serving


class Refusing(Quiet, BaseHTTPRequestHandler):
    """Has no room for the first two requests."""

    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        self.send_response(503 if len(self.requests) <= 2 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def requests() -> Generator[list[str]]:
    """Yield what is asked of a server that refuses at first, and that Prefect asks."""
    came: list[str] = []
    handler = type("Handler", (Refusing,), {"requests": came})
    with (
        serving(handler) as port,
        temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}),
    ):
        yield came


@pytest.fixture
def waits(caplog: pytest.LogCaptureFixture) -> Generator[Callable[[], list[float]]]:
    """Yield what tells for how long Prefect's client said it would wait (s)."""
    said: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger("prefect.client")
    handler.emit = lambda record: said.append(record.getMessage())
    caplog.set_level(logging.DEBUG, logger.name)
    logger.addHandler(handler)  # Prefect's loggers may not propagate
    yield lambda: [float(wait) for wait in re.findall(r"will be made in ([\d.e-]+)s", str(said))]
    logger.removeHandler(handler)


async def hello() -> None:
    assert (await get_client().hello()).status_code == 200


def through_prefects() -> None:
    with one_client():
        run_coro_as_sync(hello())


def through_ours() -> None:
    with our_client() as client:
        assert client.hello().status_code == 200


@pytest.mark.parametrize("ask", [through_prefects, through_ours])
def test_a_server_without_room_is_asked_again_soon(
    requests: list[str], waits: Callable[[], list[float]], ask: Callable[[], None]
) -> None:
    """Prefect makes waits up to a fifth longer; its own are 1.6 s and more."""
    ask()
    assert requests == ["/api/hello"] * 3
    assert len(waits()) == 2
    for wait, least in zip(waits(), SOON, strict=False):
        assert least <= wait <= 1.2 * least + 1e-9


# -- that it is there


def test_prefects_clients_wrap_those_of_httpx() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        clients = (get_client(), get_client(sync_client=True))
    for one in clients:
        assert isinstance(vars(one).get("_client"), httpx.Client | httpx.AsyncClient), (
            "Prefect's client keeps that of httpx no longer in _client: repeat_soon has no hooks"
        )


def test_a_flow_run_s_context_keeps_what_is_forgotten() -> None:
    missing = {"run_results", "task_run_assets"} - set(FlowRunContext.model_fields)
    assert not missing, f"forget_results: Prefect's context of a flow run has no {missing} any more"


def test_an_ended_future_answers_all_that_prefect_asks_a_future() -> None:
    state = Failed()
    state.state_details.task_run_id = uuid4()
    future = EndedFuture(state)
    assert future.task_run_id == state.state_details.task_run_id
    assert future.state is state
    for name in ("wait", "result", "add_done_callback"):
        ours, theirs = (signature(vars(one)[name]) for one in (EndedFuture, PrefectFuture))
        assert [*ours.parameters] == [*theirs.parameters], f"Prefect calls {name} otherwise now"
    with pytest.raises(ValueError, match="not the state of a task run"):
        EndedFuture(Failed())


def test_repetitions_end_for_a_block_or_for_good() -> None:
    def repetitions() -> int:
        return get_current_settings().client.max_retries

    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 3, PREFECT_LOGGING_TO_API_ENABLED: True}):
        with without_repetitions():
            assert repetitions() == 0
        assert repetitions() == 3
        ask_no_more()
        assert repetitions() == 0
        assert get_current_settings().logging.to_api.enabled is False
