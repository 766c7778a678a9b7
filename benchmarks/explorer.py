"""What the explorer costs who waits for a page: one reader, then fifty at once.

The server is a process of its own, as users start it. Beside each page stands an empty one: what
HTTP and the framework cost on this machine. ``--folder`` names results to be shown, such as those
that ``benchmarks.catalogue --folder`` made.
"""

import asyncio
import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.generated import put_results
from benchmarks.table import Figure, Size, Statistic, run_program

CLIENTS, SECONDS = 50, 60.0
PAGE_SECONDS, P99_SECONDS, COMPARE_SECONDS, MEGABYTES = 0.03, 0.3, 0.5, 250.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
_EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
app = FastAPI()
@app.get("/")
def empty() -> HTMLResponse:
    return HTMLResponse("<!doctype html><title>Empty</title>")
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens."""

    port: int
    pid: int

    def get(self, path: str) -> bytes:
        """Ask for a page; no answer but 200 counts."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            return self._get(connection, path)

    def seconds(self, path: str, times: int) -> list[float]:
        """Return how long each of some requests takes, on one connection."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            self._get(connection, path)
            return [_timed(lambda: self._get(connection, path)) for _ in range(times)]

    def peak_megabytes(self) -> float:
        """Return the most memory that it ever had resident."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1e3

    @staticmethod
    def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        return body


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
