"""One client of Prefect's: what the server refuses while another one writes is asked again soon."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.context import SyncClientContext
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.utilities.asyncutils import run_coro_as_sync

from tasks.one_client import SOON, one_client, soon_again


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


class Refusing(ThreadingHTTPServer):
    """Has no room for the first two requests of each client."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), RefusingHandler)
        self.refused = 0


class RefusingHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast("Refusing", self.server)
        server.refused += 1
        self.send_response(200 if server.refused % 3 == 0 else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@pytest.fixture
def refusing() -> Iterator[Refusing]:
    with Refusing() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/api"
        with temporary_settings({PREFECT_API_URL: url}):
            yield server
        server.shutdown()


async def ask() -> None:
    response = await get_client().hello()
    assert response.status_code == 200


def test_it_is_the_client_that_prefect_finds(refusing: Refusing) -> None:
    start = time.monotonic()
    with one_client():
        run_coro_as_sync(ask())
    assert refusing.refused == 3
    assert time.monotonic() - start < 2  # its own waits would be 1.6 s and 3.2 s at least


def test_the_synchronous_client_of_the_flow_run_asks_soon_too(refusing: Refusing) -> None:
    context = SyncClientContext.model_construct(client=get_client(sync_client=True))
    token = SyncClientContext.__var__.set(context)
    try:
        start = time.monotonic()
        with one_client():
            assert get_client(sync_client=True).hello().status_code == 200
        assert refusing.refused == 3
        assert time.monotonic() - start < 2
    finally:
        SyncClientContext.__var__.reset(token)
