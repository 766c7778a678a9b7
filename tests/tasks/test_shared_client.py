"""One client of Prefect's: what the server refuses while another one writes is asked again soon."""

import logging
import re
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.context import SyncClientContext
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.utilities.asyncutils import run_coro_as_sync

from tasks.shared_client import SOON, one_client, our_client, soon_again
from tests.answering import Quiet, serving


def answer(request: httpx.Request, status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, request=request, headers=headers)


def told(response: httpx.Response) -> str | None:
    soon_again(response)
    return response.headers.get("Retry-After")


def test_the_first_refusals_are_repeated_soon_and_the_rest_left_to_the_client() -> None:
    request = httpx.Request("POST", "http://server/api/task_runs/")
    waits = [told(answer(request, 503)) for _ in range(len(SOON) + 2)]
    assert waits == [*map(str, SOON), None, None]


@pytest.mark.parametrize("status", [200, 403, 429, 500])
def test_other_answers_are_left_alone(status: int) -> None:
    assert told(answer(httpx.Request("GET", "http://server"), status)) is None


def test_what_the_server_wants_itself_holds() -> None:
    headers = {"Retry-After": "30"}
    assert told(answer(httpx.Request("GET", "http://server"), 503, **headers)) == "30"


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


def assert_soon(waits: list[float]) -> None:
    """Check the waits, which Prefect makes up to a fifth longer; its own are 1.6 s and more."""
    assert len(waits) == 2
    for wait, least in zip(waits, SOON, strict=False):
        assert least <= wait <= 1.2 * least + 1e-9


async def ask() -> None:
    response = await get_client().hello()
    assert response.status_code == 200


def test_it_is_the_client_that_prefect_finds(
    requests: list[str], waits: Callable[[], list[float]]
) -> None:
    with one_client():
        run_coro_as_sync(ask())
    assert requests == ["/api/hello"] * 3
    assert_soon(waits())


def test_the_synchronous_client_of_the_flow_run_asks_soon_too(
    requests: list[str], waits: Callable[[], list[float]]
) -> None:
    context = SyncClientContext.model_construct(client=get_client(sync_client=True))
    token = SyncClientContext.__var__.set(context)
    try:
        with one_client():
            assert get_client(sync_client=True).hello().status_code == 200
    finally:
        SyncClientContext.__var__.reset(token)
    assert requests == ["/api/hello"] * 3
    assert_soon(waits())


def test_each_client_of_ours_asks_soon(
    requests: list[str], waits: Callable[[], list[float]]
) -> None:
    with our_client() as client:
        assert client.hello().status_code == 200
    assert requests == ["/api/hello"] * 3
    assert_soon(waits())


def test_nobody_else_makes_clients() -> None:
    """Whatever of ours asks the server goes through here."""
    source = Path(__file__).resolve().parents[2]
    files = [
        file for part in ("benchyard", "flows", "tasks") for file in (source / part).rglob("*.py")
    ]
    found = [file.name for file in files if "get_client(" in file.read_text()]
    assert found == ["shared_client.py"]
