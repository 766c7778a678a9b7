"""An HTTP receiver on loopback that keeps what was posted to it."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.answering import Quiet, serving
from tests.benchyard.lab.labs import RunningLab, Shell


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


@dataclass
class Place:
    """A lab, its shell, and who receives its alerts."""

    shell: Shell
    lab: RunningLab
    receiver: Receiver


@contextmanager
def receiving() -> Generator[Receiver]:
    """Receive until the end of the block."""
    receiver = Receiver("")

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.alerts.append(json.loads(body))
            self.send_response(204)
            self.end_headers()

    with serving(Handler) as port:
        receiver.url = f"http://127.0.0.1:{port}/hook?token=s3cr3t-t0ken"
        yield receiver
