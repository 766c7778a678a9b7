"""Answers that are kept until the catalogue changes, so that many readers cost little.

An answer is made once for each address and state of the catalogue, however many ask for it at once.
Browsers ask again each time, and are told that nothing changed if it did not (ETag).
"""

import asyncio
import re
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import TypeAlias
from weakref import WeakValueDictionary

from cachetools import LRUCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchyard.web.explorer import FRESH, Explorer

#: Bytes that all kept answers may have together.
_ROOM = 32 * 2**20
#: Larger answers are sent as they are made.
_LARGEST = 2 * 2**20
#: Seconds after which an answer is made anew although nothing changed: "the last 7 days" go on.
_LONGEST = 60.0
_SMALLEST_TO_PACK = 1_000
_KEPT = ("text/html", "text/csv", "application/json", "image/svg+xml", "image/png", "text/markdown")
#: What is sent while it is made or read, perhaps for hours; nobody waits for another's.
_STREAMED = re.compile(r"/static/|/run/[^/]+/(?:live$|log$|file/)")
_OF_BODY = (b"content-type", b"content-encoding", b"content-length")

#: Path, query, and whether the caller unpacks.
_Key: TypeAlias = tuple[str, bytes, bool]


@dataclass(frozen=True, slots=True)
class _Answer:
    headers: Headers
    body: bytes
    generation: int
    made_at: float


class Answers:
    """Keeps the answers of an application.

    Args:
        app: Makes them.
        room: Bytes that they may have together.
    """

    def __init__(self, app: ASGIApp, explorer: Explorer, room: int = _ROOM) -> None:
        self._app, self._packing = app, GZipMiddleware(app, _SMALLEST_TO_PACK, 3)
        self._explorer = explorer
        self._kept = LRUCache[_Key, _Answer](room, lambda answer: len(answer.body))
        self._making = WeakValueDictionary[_Key, asyncio.Lock]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with what is kept, or else with what the application makes."""
        if scope["type"] != "http" or _STREAMED.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        key = scope["path"], scope["query_string"], "gzip" in asked.get("accept-encoding", "")
        async with self._making.setdefault(key, asyncio.Lock()):
            answer = self._kept.get(key)
            if answer is None or self._is_old(answer):
                answer = await self._made(key, scope, receive, send)
        if answer is not None:
            await _send(answer, asked, send)

    def _is_old(self, answer: _Answer) -> bool:
        is_other = answer.generation != self._explorer.catalogue.generation
        return is_other or monotonic() - answer.made_at > _LONGEST

    async def _made(self, key: _Key, scope: Scope, receive: Receive, send: Send) -> _Answer | None:
        """Let the application answer; None if what it sent cannot be kept, and is sent already."""
        generation = self._explorer.catalogue.generation
        start: Message | None = None
        body = bytearray()

        async def take(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _may_be_kept(message):
                start = message
            elif start is not None and message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
            else:
                await send(message)

        own_scope = {**scope}
        await self._packing(own_scope, receive, take)
        if start is None:
            return None
        headers = MutableHeaders(raw=[*start["headers"]])
        headers["etag"] = f'"{sha256(body).hexdigest()[:20]}"'
        headers.setdefault("cache-control", "no-cache")
        headers.add_vary_header("Accept-Encoding")
        answer = _Answer(headers, bytes(body), generation, monotonic())
        if FRESH not in own_scope and len(body) <= self._kept.maxsize:
            self._kept[key] = answer
        return answer


def _may_be_kept(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    size = int(headers.get("content-length") or _LARGEST + 1)
    kind = headers.get("content-type", "").partition(";")[0]
    return start["status"] == 200 and size <= _LARGEST and kind in _KEPT


async def _send(answer: _Answer, asked: Headers, send: Send) -> None:
    unchanged = answer.headers["etag"] in asked.get("if-none-match", "")
    status = 304 if unchanged else 200
    headers = [h for h in answer.headers.raw if not (unchanged and h[0] in _OF_BODY)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if unchanged else answer.body})
