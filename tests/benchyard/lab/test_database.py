"""Which database a server has, as it tells those who join its lab."""

from collections.abc import Generator
from http.server import BaseHTTPRequestHandler

import pytest
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_SERVER_DATABASE_CONNECTION_URL,
    temporary_settings,
)

from benchyard.lab.database import is_surely_sqlite, with_driver
from tasks.shared_client import our_client
from tests.answering import Quiet, serving

URL, DRIVER = "PREFECT_SERVER_DATABASE_CONNECTION_URL", "PREFECT_SERVER_DATABASE_DRIVER"
SQLITE, POSTGRESQL = "sqlite+aiosqlite", "postgresql+asyncpg"


@pytest.mark.parametrize("driver", [SQLITE, POSTGRESQL])
def test_a_server_of_ours_is_told_the_kind_of_its_database(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {URL: f"{driver}://where", "OTHER": "kept"}
    assert with_driver(given) == {**given, DRIVER: driver}
    with temporary_settings({PREFECT_SERVER_DATABASE_CONNECTION_URL: f"{driver}://where"}):
        assert with_driver({}) == {DRIVER: driver}
    monkeypatch.setenv(DRIVER, SQLITE)
    assert with_driver(given) == given


@pytest.mark.parametrize("url", ["mysql://where", "nonsense"])
def test_what_prefect_does_not_know_is_left_to_prefect(url: str) -> None:
    assert with_driver({URL: url}) == {URL: url}


class Settings(Quiet, BaseHTTPRequestHandler):
    """Answers with the settings of a server."""

    status, body = 200, b"{}"

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)


@pytest.fixture
def settings() -> Generator[type[Settings]]:
    handler = type("Handler", (Settings,), {})
    with (
        serving(handler) as port,
        temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}),
    ):
        yield handler


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"server": {"database": {"driver": "sqlite+aiosqlite"}}}', True),
        (b'{"server": {"database": {"driver": "postgresql+asyncpg"}}}', False),
        (b'{"server": {"database": {"driver": null}}}', False),
        (b'{"server": []}', False),
        (b"<html>", False),
    ],
)
def test_a_server_that_does_not_say_so_is_not_taken_for_sqlite(
    settings: type[Settings], body: bytes, expected: bool
) -> None:
    settings.body = body
    with our_client() as client:
        assert is_surely_sqlite(client) is expected


def test_a_server_that_refuses_is_not_taken_for_sqlite(settings: type[Settings]) -> None:
    settings.status = 403
    with our_client() as client:
        assert not is_surely_sqlite(client)
