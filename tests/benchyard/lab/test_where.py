"""Which server a lab works with."""

import os
import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from unittest import mock

import pytest
from prefect.context import root_settings_context

from benchyard.core.errors import BenchyardError, InputError
from benchyard.lab import where
from benchyard.lab.where import choose, own_server, reachable
from tests.answering import Quiet, serving
from tests.ports import free_port

API_URL = "PREFECT_API_URL"


class Health(Quiet, BaseHTTPRequestHandler):
    """Answers as a server that is well."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


@pytest.fixture
def server() -> Generator[str]:
    with serving(Health) as port:
        yield f"http://127.0.0.1:{port}/api"


Configure = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def configure() -> Generator[Configure]:
    """Let the environment alone say what Prefect is to do, whatever server other tests have."""
    with mock.patch.dict(os.environ), ExitStack() as settings:
        settings.enter_context(root_settings_context())

        def set_variable(name: str, value: str) -> None:
            os.environ[name] = value
            settings.enter_context(root_settings_context())

        yield set_variable


def test_a_configured_server_that_answers_is_used(server: str, configure: Configure) -> None:
    configure(API_URL, server)

    chosen = choose(None, None, own=True)

    assert chosen.bind is None
    assert (chosen.api, chosen.ui) == (server, server.removesuffix("/api"))


def test_one_that_is_configured_and_dead_is_started_only_here(configure: Configure) -> None:
    dead = pytest.raises(BenchyardError, match=r"no Prefect server answers at http://")
    configure(API_URL, "http://lab.invalid:4200/api")
    with dead:
        choose(None, None, own=True)

    port = free_port()
    configure(API_URL, f"http://127.0.0.1:{port}/api")
    chosen = choose(None, None, own=True)
    assert (chosen.bind, chosen.port) == ("127.0.0.1", port)
    with pytest.raises(BenchyardError, match="no Prefect server answers"):
        choose(None, None, own=False)


@pytest.mark.parametrize("ask", [lambda: choose(None, None, own=False), reachable])
def test_without_a_server_it_is_the_user_s_turn(ask: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="PREFECT_API_URL"):
        ask()


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on port {port} .*--port"):
            choose(None, port, own=True)


def test_a_server_is_for_this_machine_alone_unless_it_is_asked_for_more() -> None:
    assert own_server(None, 1).bind == "127.0.0.1"
    assert own_server("lab.example.org", 4200) == where.Where(
        "http://127.0.0.1:4200/api",
        "http://lab.example.org:4200",
        "0.0.0.0",  # noqa: S104 - it was asked for
        4200,
        "http://lab.example.org:4200/api",
    )
    assert own_server("10.0.0.7", 4200).bind == "10.0.0.7"
    assert own_server("::1", 4200).api == "http://[::1]:4200/api"


def test_a_database_that_is_configured_stays(configure: Configure) -> None:
    name = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
    ours = own_server(None, 1).environment(None)
    assert ours[name].startswith("sqlite+aiosqlite:////")
    assert ours[name].endswith("/lab/prefect.db")

    given = own_server(None, 1).environment("postgresql+asyncpg://u:p@h/d")
    assert given[name] == "postgresql+asyncpg://u:p@h/d"

    configure("PREFECT_API_DATABASE_CONNECTION_URL", "sqlite+aiosqlite:////tmp/x.db")
    assert name not in own_server(None, 1).environment(None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DO_NOT_TRACK", "1"),
        ("PREFECT_SERVER_ANALYTICS_ENABLED", "false"),
        ("PREFECT_SERVER_UI_V2_ENABLED", "false"),
        ("PREFECT_SERVER_EVENTS_CAUSAL_ORDERING", "benchyard.lab.ordering"),
        ("PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE", "100"),
    ],
)
def test_a_server_of_ours_is_quiet_and_sparing_but_where_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    assert own_server(None, 1).environment(None)[name] == value
    monkeypatch.setenv(name, "7")
    assert own_server(None, 1).environment(None)[name] == "7"
