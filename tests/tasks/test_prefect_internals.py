"""What of Prefect's inside is used by flow runs and clients: that it is there, and what it does."""

import logging
import re
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler

import pytest
from prefect.client.orchestration import get_client
from prefect.context import SyncClientContext
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED,
    PREFECT_LOGGING_TO_API_ENABLED,
    temporary_settings,
)

from tasks.prefect_internals import SOON, ask_no_more, our_client, shared_client
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


def test_a_server_without_room_is_asked_again_soon(
    requests: list[str], waits: Callable[[], list[float]]
) -> None:
    """Prefect makes waits up to a fifth longer; its own are 1.6 s and more."""
    with our_client() as client:
        client.hello()
    assert requests == ["/api/hello"] * 3
    assert len(waits()) == 2
    for wait, least in zip(waits(), SOON, strict=False):
        assert least <= wait <= 1.2 * least + 1e-9


@pytest.mark.usefixtures("requests")
def test_flow_runs_share_the_client_that_repeats_soon() -> None:
    """Prefect's engine takes the one of the context; what names no settings, one of its own."""
    with (
        temporary_settings({PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED: False}),
        shared_client() as context,
        SyncClientContext.get_or_create() as of_engine,
    ):
        assert our_client() is context.client
        assert of_engine.client is context.client
        assert get_client(sync_client=True) is not context.client


def test_a_changed_setting_holds_for_what_reads_it_later() -> None:
    """Prefect's clients read both before each request, and each line of a log."""
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 3, PREFECT_LOGGING_TO_API_ENABLED: True}):
        ask_no_more()
        assert PREFECT_CLIENT_MAX_RETRIES.value() == 0
        assert PREFECT_LOGGING_TO_API_ENABLED.value() is False
