"""Answers that are kept until the catalogue changes, so that many readers cost little.

An answer is made once for each address and state of the catalogue, however many ask for it at once.
Browsers ask again each time, and are told that nothing changed if it did not (ETag).
"""

import asyncio
import gzip
import re
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from cachetools import LRUCache
from starlette.datastructures import Headers
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

RawHeaders = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class _Answer:
    headers: RawHeaders
    body: bytes
    tag: bytes
    generation: int
    made_at: float


@dataclass(slots=True)
class _Taken:
    """What an application sent, as far as it may be kept."""

    start: Message
    body: bytearray


class Answers:
    """Keeps the answers of an application.

    Args:
        app: Makes them.
        room: Bytes that they may have together.
    """

    def __init__(self, app: ASGIApp, explorer: Explorer, room: int = _ROOM) -> None:
        self._app = app
        self._explorer = explorer
        self._kept = LRUCache[tuple[str, ...], _Answer](room, lambda answer: len(answer.body))
        self._making: dict[tuple[str, ...], asyncio.Lock] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with what is kept, or else with what the application makes."""
        if scope["type"] != "http" or _STREAMED.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        key = _key(scope, headers)
        answer = self._found(key)
        if answer is None:
            lock = self._making.setdefault(key, asyncio.Lock())
            try:
                async with lock:
                    answer = self._found(key) or await self._made(key, scope, receive, send)
            finally:
                if self._making.get(key) is lock and not lock.locked():
                    del self._making[key]
        if answer is not None:
            await _send(answer, headers, send)

    def _found(self, key: tuple[str, ...]) -> _Answer | None:
        answer = self._kept.get(key)
        if answer is None:
            return None
        generation = self._explorer.catalogue.generation
        if answer.generation != generation or monotonic() - answer.made_at > _LONGEST:
            del self._kept[key]
            return None
        return answer

    async def _made(
        self, key: tuple[str, ...], scope: Scope, receive: Receive, send: Send
    ) -> _Answer | None:
        """Let the application answer; None if what it sent cannot be kept, and is sent already."""
        generation = self._explorer.catalogue.generation
        fresh = {**scope}
        taken = await _taken(self._app, fresh, receive, send)
        if taken is None:
            return None
        answer = _packed(taken, generation, wants_gzip="gzip" in key[1])
        if FRESH not in fresh and len(answer.body) <= self._kept.maxsize:
            self._kept[key] = answer
        return answer


def _key(scope: Scope, headers: Headers) -> tuple[str, ...]:
    packing = "gzip" if "gzip" in headers.get("accept-encoding", "") else ""
    return f"{scope['path']}?{scope['query_string'].decode('latin-1')}", packing


async def _taken(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> _Taken | None:
    """Take what an application sends; what is no answer to be kept goes on to the caller."""
    taken: _Taken | None = None

    async def sending(message: Message) -> None:
        nonlocal taken
        if message["type"] == "http.response.start" and _may_be_kept(message):
            taken = _Taken(message, bytearray())
        elif taken is not None and message["type"] == "http.response.body":
            taken.body += message.get("body", b"")
        else:
            await send(message)

    await app(scope, receive, sending)
    return taken


def _may_be_kept(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    size = int(headers.get("content-length") or _LARGEST + 1)
    kind = headers.get("content-type", "").partition(";")[0]
    kept = start["status"] == 200 and kind in _KEPT and size <= _LARGEST
    return kept and not ({"etag", "set-cookie", "content-encoding"} & set(headers.keys()))


def _packed(taken: _Taken, generation: int, *, wants_gzip: bool) -> _Answer:
    body = bytes(taken.body)
    headers = Headers(raw=taken.start["headers"])
    left = [(n, v) for n, v in headers.raw if n.lower() not in (b"content-length",)]
    if wants_gzip and len(body) >= _SMALLEST_TO_PACK and headers["content-type"] != "image/png":
        body = gzip.compress(body, 3, mtime=0)
        left.append((b"content-encoding", b"gzip"))
    tag = b'"%s"' % sha256(body).hexdigest()[:20].encode()
    if "cache-control" not in headers:
        left.append((b"cache-control", b"no-cache"))
    left += [(b"vary", b"Accept-Encoding"), (b"etag", tag)]
    return _Answer(left, body, tag, generation, monotonic())


async def _send(answer: _Answer, asked: Headers, send: Send) -> None:
    unchanged = answer.tag.decode() in asked.get("if-none-match", "")
    length = (b"content-length", str(len(answer.body)).encode())
    kind = (b"content-type", b"content-encoding")
    headers = [h for h in answer.headers if h[0] not in kind] if unchanged else answer.headers
    status = 304 if unchanged else 200
    headers = headers if unchanged else [*headers, length]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if unchanged else answer.body})
