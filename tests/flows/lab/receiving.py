"""An HTTP receiver on loopback that keeps what was posted to it."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What came in.

    Args:
        url: To post to.
        alerts: The bodies, decoded.
    """

    url: str
    alerts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def of(self, case: str) -> list[dict[str, Any]]:
        return [one for one in self.alerts if one["case"] == case]


@contextmanager
def receiving() -> Generator[Receiver]:
    """Receive until the end of the block."""
    receiver = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.alerts.append(json.loads(body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook?token=s3cr3t-t0ken"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
