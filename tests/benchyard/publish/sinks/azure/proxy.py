"""A server between client and Azurite that does not always do what it is asked."""

import http.client
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.answering import Quiet


@dataclass(frozen=True)
class Answers:
    """Answer in the server's stead; it hears nothing of the request."""

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True)
class Drops:
    """Let the server do it, and hang up without a word."""


@dataclass(frozen=True)
class Waits:
    """Let the server do it, and answer so many seconds later."""

    seconds: float


Fault = Answers | Drops | Waits


@dataclass
class Proxy:
    """What it does with the next requests, one after the other; with all others nothing."""

    port: int
    faults: list[Fault] = field(default_factory=list[Fault])
    requests: list[str] = field(default_factory=list[str])

    def next_fault(self) -> Fault | None:
        """Take the next one."""
        return self.faults.pop(0) if self.faults else None


@contextmanager
def between(target: int) -> Generator[Proxy]:
    """Run a proxy in front of a port of loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    made = Proxy(int(server.server_address[1]))
    server.daemon_threads = True
    cast("Any", server).proxy, cast("Any", server).target = made, target
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield made
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


class _Handler(Quiet, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5

    def _pass(self) -> None:
        server = cast("Any", self.server)
        proxy: Proxy = server.proxy
        proxy.requests.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = proxy.next_fault()
        if isinstance(fault, Answers):
            self._answer(fault.status, fault.headers, fault.body)
            return
        forward = http.client.HTTPConnection("127.0.0.1", server.target, timeout=10)
        try:
            forward.request(self.command, self.path, body, dict(self.headers))
            answer = forward.getresponse()
            content = answer.read()
            if isinstance(fault, Waits):
                time.sleep(fault.seconds)
            if isinstance(fault, Drops):
                self.close_connection = True
            else:
                self._answer(answer.status, dict(answer.headers), content)
        finally:
            forward.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = _pass  # noqa: N815 - as the base class wants them
