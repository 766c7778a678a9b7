"""What stands before the lab's server."""

import asyncio
from collections.abc import Mapping, MutableMapping
from typing import Any

import pytest

from benchyard.lab.guard import OriginGuard, Receive, Scope, Send

OWN = "http://127.0.0.1:4200"
Sent = list[MutableMapping[str, Any]]


async def prefect(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whatever is asked."""
    del receive
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"answered"})


def ask(headers: Mapping[str, str], *origins: str, path: str = "/api", kind: str = "http") -> Sent:
    """Return all that is answered to one request."""
    sent: Sent = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    given = {"host": "127.0.0.1:4200", **headers}
    encoded = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "method": "POST", "path": path, "headers": encoded}
    asyncio.run(OriginGuard(prefect, origins or (OWN,))(scope, receive, send))
    return sent


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": OWN}, 200),
        ({"host": "192.0.2.7:4200"}, 200),
        ({"host": "[::1]:4200"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:8080"}, 403),
        ({"origin": "null"}, 403),
        # A page whose name was made to lead here asks for its own origin.
        ({"host": "evil.example:4200"}, 403),
        ({"host": "evil.example:4200", "origin": "http://evil.example:4200"}, 403),
        ({"host": "["}, 403),
    ],
)
def test_only_its_own_pages_and_programs_are_answered(headers: dict[str, str], status: int) -> None:
    assert ask(headers)[0]["status"] == status


def test_further_origins_and_all_may_be_allowed() -> None:
    foreign = {"origin": "http://dashboard.example", "host": "dashboard.example"}
    assert ask(foreign, OWN, "http://dashboard.example")[0]["status"] == 200
    assert ask(foreign, "*")[0]["status"] == 200
