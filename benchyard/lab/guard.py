"""Refuse requests of other origins before they reach the lab's server, and log browsers in.

Prefect answers a page of any origin, and one that has pointed its own name at this address. Its
limit for origins does not hold for WebSockets, nor for requests that change something and whose
answer the page need not read.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, PlainTextResponse

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The page whose fragment logs a browser in: a fragment is sent to no server and is in no log.
LOGIN = "/benchyard/login"
#: WebSocket's close code for a violated policy. Source: RFC 6455, 7.4.1.
_POLICY_VIOLATION = 1008
#: Prefect's UI keeps the password under this name, as base64 of its UTF-8.
_LOGIN_PAGE = """<!doctype html><meta charset="utf-8"><title>Benchyard</title>
<p>Logging in needs JavaScript.</p>
<script>
const given = decodeURIComponent(location.hash.slice(1));
if (given) {
  const bytes = new TextEncoder().encode(given);
  localStorage.setItem("prefect-password", btoa(String.fromCharCode(...bytes)));
}
location.replace("/");
</script>
"""
_ANY = "*"


class OriginGuard:
    """An application that refuses requests of other origins.

    Args:
        app: Prefect's.
        origins: From which pages may speak to it, such as ``http://127.0.0.1:4200``; ``*`` for all.
    """

    def __init__(self, app: App, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._names = frozenset(urlsplit(origin).hostname for origin in self._origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or begin one WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not self._is_own(scope):
            await _refuse(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == LOGIN:
            headers = {"cache-control": "no-store", "x-frame-options": "DENY"}
            await HTMLResponse(_LOGIN_PAGE, headers=headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_own(self, scope: Scope) -> bool:
        if _ANY in self._origins:
            return True
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        host = headers.get(b"host", b"").decode("latin-1")
        return self._is_ours(host) and (not origin or origin in self._origins)

    def _is_ours(self, host: str) -> bool:
        """Tell whether a name leads here by its owner's will; an address cannot be pointed here."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or is_address(name)


def is_address(name: str) -> bool:
    """Tell whether a host is named by its address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return
    said = (
        "This lab answers its own pages and programs only. PREFECT_SERVER_CORS_ALLOWED_ORIGINS "
        "of benchyard up allows further origins.\n"
    )
    await PlainTextResponse(said, 403)(scope, receive, send)
