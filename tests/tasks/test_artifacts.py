"""Artifacts on a real server: kept, read back, updated; and a server that is of no help."""

import logging
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest import mock
from uuid import UUID

import httpx
import pytest
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings

import tasks.artifacts
from tasks.artifacts import Showcase

Act = Callable[[Showcase], Any]


@pytest.fixture
def in_flow(prefect_server: str) -> Callable[[Act], Any]:
    """Show something from inside of a flow run; return what that returns."""
    del prefect_server

    def execute(act: Act) -> Any:
        answers: list[Any] = []

        @flow(name="showing", persist_result=False)
        def showing() -> str:
            answers.append(act(Showcase()))
            return "done"

        assert showing() == "done"
        return answers[0]

    return execute


@pytest.fixture
def silent() -> Iterator[str]:
    """Listen where nobody ever answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/api"


@pytest.mark.slow
@pytest.mark.parametrize("which", ["dead", "silent"])
def test_server_that_does_not_answer_is_asked_once_and_told_of_once(
    in_flow: Callable[[Act], Any],
    silent: str,
    which: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(tasks.artifacts, "SECONDS", 0.2)
    api = silent if which == "silent" else "http://127.0.0.1:9/api"
    # Prefect asks for a token first, and gives that question the client's own time.
    client = SyncPrefectClient(api, httpx_settings={"timeout": 1})
    asked = mock.Mock(wraps=client.request)
    monkeypatch.setattr(client, "request", asked)

    def act(showcase: Showcase) -> UUID | None:
        monkeypatch.setattr(tasks.artifacts, "our_client", lambda: client)
        with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
            made = showcase.show("progress", "progress-never", 0.0, "")
            showcase.ask("GET", "/hello")
            showcase.reopen()
            assert not showcase.is_due("x", timedelta(0))
            showcase.ask("GET", "/hello")
        return made

    with caplog.at_level(logging.WARNING, "tasks"):
        assert in_flow(act) is None
    assert asked.call_count == 2, "after trouble nothing is asked"
    assert caplog.text.count("not shown in the UI") == 1


@pytest.mark.slow
def test_what_the_server_refuses_is_told_and_ends_nothing(
    in_flow: Callable[[Act], Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "tasks"):
        assert in_flow(lambda showcase: showcase.show("progress", "No Such Key!", 1.0, "")) is None
    assert "not shown in the UI" in caplog.text


@pytest.mark.slow
def test_a_server_without_room_is_asked_again_soon(
    in_flow: Callable[[Act], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses what meets another writer."""
    request = httpx.Request("POST", "http://server/api/artifacts/")
    answer = httpx.Response(503, request=request)
    busy = PrefectHTTPStatusError("busy", request=request, response=answer)
    client = mock.Mock()
    client.request.side_effect = [busy, busy, "shown"]
    monkeypatch.setattr(tasks.artifacts, "our_client", lambda: client)

    def act(showcase: Showcase) -> object:
        return showcase.ask("POST", "/artifacts/")

    assert in_flow(act) == "shown"
