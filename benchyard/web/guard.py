"""Who may ask for what: the token, the names of this host, the methods; and the safety headers."""

import hmac
from hashlib import sha256
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchyard.web.explorer import Explorer
from benchyard.web.rendering import SAFETY_HEADERS, refused

_COOKIE = "benchyard"


class Guard:
    """Lets only those in who may look, and gives every answer its safety headers.

    Args:
        app: Answers to those who may look.
    """

    def __init__(self, app: ASGIApp, explorer: Explorer) -> None:
        self._app = app
        self._explorer = explorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        answer = self._refusal(Request(scope)) or self._app
        asked = {**scope, "method": "GET"} if is_head else scope
        await answer(asked, receive, _safe(send, with_body=not is_head))

    def _refusal(self, request: Request) -> Response | None:
        names = self._explorer.host_names
        if names is not None and _host(request) not in names:
            sentence = "the explorer is asked for by a name that is not this host's"
            return refused(request, 421, sentence)
        if request.method not in ("GET", "HEAD"):
            sentence = "the explorer changes nothing: it knows GET and HEAD alone"
            response = refused(request, 405, sentence)
            response.headers["Allow"] = "GET, HEAD"
            return response
        token = self._explorer.token
        # Style sheets say nothing of results, and the refusal is to look like a page.
        if token is None or request.url.path.startswith("/static/"):
            return None
        return self._without_token(request, token)

    def _without_token(self, request: Request, token: str) -> Response | None:
        given = request.query_params.get("token")
        if given is not None and _same(given, token):
            return _let_in(request, token)
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(bearer.strip(), token):
            return None
        if _same(request.cookies.get(_COOKIE, ""), _cookie_value(token)):
            return None
        sentence = (
            "this explorer wants its token: open the address with ?token=... that benchyard serve "
            "printed, or send it as Authorization: Bearer"
        )
        response = refused(request, 401, sentence)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response


def _let_in(request: Request, token: str) -> Response:
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
    # A path that begins with two slashes would lead to another host.
    path = "/" + request.url.path.lstrip("/\\")
    response = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
    response.headers["Cache-Control"] = "no-store"
    response.set_cookie(_COOKIE, _cookie_value(token), httponly=True, samesite="strict")
    return response


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _cookie_value(token: str) -> str:
    return hmac.new(token.encode(), b"benchyard explorer", sha256).hexdigest()


def _host(request: Request) -> str:
    host = request.headers.get("host", "").lower()
    return host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]


def _safe(send: Send, *, with_body: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SAFETY_HEADERS.items():
                headers.setdefault(name, value)
        elif not with_body:
            message = {**message, "body": b""}
        await send(message)

    return sending
