"""Prefect servers in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import eventually
from tests.databases import put_database
from tests.ports import free_port


@dataclass
class PrefectServer:
    """A server that can be taken away and brought back.

    Args:
        home: Prefect's, of the server and of who speaks to it.
        settings: More of the server's.
    """

    home: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def environment(self) -> dict[str, str]:
        """Return what a command needs to speak to it."""
        own = {"PREFECT_HOME": str(self.home), "PREFECT_API_URL": self.url, "DO_NOT_TRACK": "1"}
        return {**os.environ, **own, "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}

    @contextmanager
    def running(self) -> Generator["PrefectServer"]:
        self.start()
        try:
            yield self
        finally:
            self.kill()

    def start(self) -> None:
        put_database(self.home / "prefect.db")
        server = ("prefect.server.api.server:create_app", "--factory", "--log-level", "error")
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", *server, *address],
                env={**self.environment, **self.settings, "PREFECT__SERVER_FINAL": "1"},
                cwd=self.home,
                stdout=log,
                stderr=log,
            )
        assert eventually(self.answers, 180), (self.home / "server.log").read_text()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:  # noqa: S310
                return answer.status == 200
        except OSError as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            return False

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def ask(self, path: str, body: object) -> Any:
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.url}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.load(answer)
