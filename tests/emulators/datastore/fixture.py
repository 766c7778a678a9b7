"""A Datastore for tests, in a process of its own: ``with running(index=…) as emulator``.

With ``BENCHYARD_DATASTORE_EMULATOR=gcloud`` it is Google's own emulator, where that is installed;
faults cannot be ordered there, and a test that orders some is skipped.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast
from unittest import mock

import pytest
from google.cloud import datastore

from tests.emulators.datastore import server
from tests.ports import free_port

PROJECT = "benchyard-test"
SWITCH = "BENCHYARD_DATASTORE_EMULATOR"
#: Seconds that a process has to start or to end; the machine may be busy.
PATIENCE = 60.0
#: A file; ``any`` to answer every query; None to answer only those that need no such index.
Index: TypeAlias = Path | Literal["any"] | None


def googles_program() -> Path | None:
    """Return what starts Google's emulator of Datastore, if that is installed."""
    found = shutil.which("gcloud")
    if found is None:
        return None
    name = "cloud_datastore_emulator"
    root = Path(found).resolve().parents[1]
    program = root / "platform" / name.replace("_", "-") / name
    return program if program.exists() and shutil.which("java") else None


def _googles_command(port: int, index: Index) -> list[str]:
    program = googles_program()
    if program is None:
        pytest.skip("Google's emulator of Datastore is not installed")
    command = [str(program), "start", "--testing", "--host=127.0.0.1", f"--port={port}"]
    if isinstance(index, Path):
        command += ["--require_indexes", f"--index_file={index}"]
    return command


@dataclass(frozen=True, slots=True)
class Faults:
    """What a test orders to go wrong; keywords are those of ``faults.Fault``."""

    emulator: "Emulator"

    def fail(self, status: str = "UNAVAILABLE", **order: Any) -> None:
        """Answer calls with an error."""
        self._order("fail", status=status, **order)

    def slow(self, seconds: float, **order: Any) -> None:
        """Answer calls so much later."""
        self._order("slow", seconds=seconds, **order)

    def drop(self, **order: Any) -> None:
        """Cut the connection instead of an answer."""
        self._order("drop", **order)

    def die(self, **order: Any) -> None:
        """Kill the server at a call."""
        self._order("die", **order)

    def clear(self) -> None:
        """Take all orders back."""
        self.emulator.ordered({"do": "no-faults"})

    def _order(self, act: str, **order: Any) -> None:
        self.emulator.ordered({"do": "fault", "act": act, **order})


@dataclass(slots=True)
class Emulator:
    """A server for tests.

    Args:
        command: What starts it.
        address: ``127.0.0.1:`` and its port; the same one after a restart.
        googles: Whether it is Google's emulator.
    """

    command: list[str]
    address: str
    googles: bool
    project: str = PROJECT
    _child: "subprocess.Popen[bytes] | None" = None
    _clients: list[Any] = field(default_factory=list[Any])

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point Google's client to it."""
        return {"DATASTORE_EMULATOR_HOST": self.address, "GOOGLE_CLOUD_PROJECT": self.project}

    @property
    def faults(self) -> Faults:
        """What goes wrong in it."""
        return Faults(self)

    def client(self, **settings: Any) -> Any:
        """Return a client of Google's that speaks to it; it is closed with the server."""
        with mock.patch.dict(os.environ, self.environment):
            made = cast("Any", datastore).Client(project=self.project, **settings)
        self._clients.append(made)
        return made

    def admit(self, **only: str) -> None:
        """Let in as ``service.Admission`` says; ``clear`` lets all in."""
        self.ordered({"do": "admit", **only})

    def counters(self) -> dict[str, int]:
        """Return how often each call came."""
        return self.ordered({"do": "count"})

    def clear(self) -> None:
        """Make it forget entities, faults and counts."""
        if self.googles:
            urllib.request.urlopen(f"http://{self.address}/reset", b"", PATIENCE).close()
        else:
            self.ordered({"do": "clear"})

    def start(self) -> None:
        """Start it; it ends with its standard input, which Google's does not look at."""
        silent = subprocess.DEVNULL
        self._child = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=silent,
            stderr=silent if self.googles else None,
            start_new_session=True,
        )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the Datastore for tests does not run: {self.command}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        host, _, port = self.address.partition(":")
        try:
            socket.create_connection((host, int(port)), PATIENCE).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill it and all that it started."""
        if self._child is not None:
            if self._child.poll() is None:
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.communicate(timeout=PATIENCE)
        self._child = None

    def restart(self) -> None:
        """Kill it if it runs and start it again; with ``data`` it knows what it knew."""
        self.kill()
        self.start()

    def close(self) -> None:
        """End it and close its clients."""
        for client in self._clients:
            client.close()
        self.kill()

    def ordered(self, order: dict[str, Any]) -> dict[str, int]:
        """Send an order, as the server's ``control`` knows them."""
        self.need_ours()
        return server.ordered(self.address, order)

    def need_ours(self) -> None:
        """Skip the test unless this folder's server runs."""
        if self.googles:
            pytest.skip("Google's emulator takes no orders and keeps few of the limits")


@contextmanager
def running(
    index: Index = None,
    *,
    data: Path | None = None,
    legacy: bool = False,
    batch_bytes: int | None = None,
    googles: bool = False,
) -> Generator[Emulator]:
    """Give a server that is ended with the block.

    Args:
        index: An index.yaml; ``any`` answers every query, None only what needs no such index
            (Google's emulator every query).
        data: A file that keeps the entities when it is killed.
        legacy: Whether more than 500 mutations a commit are refused.
        batch_bytes: After how many bytes a query's answer is cut; 2 MiB unless said.
        googles: Google's emulator, in any case.
    """
    port = free_port()
    options = {"--index": index, "--data": data, "--batch-bytes": batch_bytes}
    given = [str(part) for option in options.items() if option[1] for part in option]
    given += ["--legacy"] * legacy
    command = [sys.executable, server.__file__, "--port", str(port), "--while-stdin", *given]
    plain = data is None and batch_bytes is None and not legacy
    googles = googles or (plain and os.environ.get(SWITCH) == "gcloud")
    if googles:
        command = _googles_command(port, index)
    emulator = Emulator(command, f"127.0.0.1:{port}", googles)
    try:
        emulator.start()
        yield emulator
    finally:
        emulator.close()
