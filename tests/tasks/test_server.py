"""How long a server that is away is waited for."""

import os
import socket
from unittest.mock import Mock

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from tasks import server
from tasks.server import answers, listener_at, wait_for_server


@pytest.mark.parametrize(
    ("found", "limit", "told"),
    [
        ((True,), 5, None),
        ((False, False, False, True), 60, "the Prefect server answers again"),
        ((False,) * 1000, 0.01, "the Prefect server stays away; the results are on disk"),
    ],
    ids=["there", "back", "away"],
)
def test_how_long_a_server_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, found: tuple[bool, ...], limit: float, told: str | None
) -> None:
    monkeypatch.setattr(server, "_LOOK_SECONDS", 0.001)
    said: list[str] = []
    monkeypatch.setattr(server, "answers", Mock(side_effect=found))

    waited = wait_for_server(said.append, limit)

    assert said[-1:] == [] if told is None else said[-1].startswith(told)
    assert (waited is None) == (not found[-1])
    assert (waited == 0.0) == found[0]


def test_nobody_at_the_address_is_no_answer() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        assert not answers()


def test_finds_who_listens() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert listener_at(f"http://127.0.0.1:{port}/api") == os.getpid()
        assert listener_at(f"http://localhost:{port}") == os.getpid()
    gone, elsewhere = f"http://127.0.0.1:{port}/api", "http://lab.example:4200/api"
    for url in (gone, elsewhere, "", "nonsense", "http://127.0.0.1:99999/"):
        assert listener_at(url) is None
