"""A Datastore for tests, in a process of its own: ``with running(index=…) as emulator``.

With ``BENCHYARD_DATASTORE_EMULATOR=gcloud`` it is Google's own emulator, where that is installed;
faults cannot be ordered there, and a test that orders some is skipped.
"""

import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
Child: TypeAlias = subprocess.Popen[str]


@dataclass(frozen=True, slots=True)
class Ours:
    """How this folder's server is started; see ``running``."""

    index: Index = None
    data: Path | None = None
    legacy: bool = False
    batch_bytes: int | None = None

    def start(self, port: int) -> tuple[Child, int]:
        """Start it and return its process and its port; port 0 is any that is free."""
        options = {"--index": self.index, "--data": self.data, "--batch-bytes": self.batch_bytes}
        given = [str(part) for option in options.items() if option[1] for part in option]
        given += ["--legacy"] * self.legacy
        command = [sys.executable, server.__file__, "--port", str(port), "--while-stdin", *given]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        line = child.stdout.readline() if child.stdout else ""
        if not line:
            raise RuntimeError(f"the Datastore for tests ended with {_ended(child)}, see above")
        return child, int(line.rpartition(":")[2])

    def clear(self, address: str) -> None:
        """Make it forget everything."""
        server.ordered(address, {"do": "clear"})


@dataclass(frozen=True, slots=True)
class Googles:
    """How Google's emulator is started, as the Cloud SDK brings it; it needs Java."""

    index: Index = None

    def start(self, port: int) -> tuple[Child, int]:
        """Start it and return its process and its port; port 0 is any that is free."""
        program = googles_program()
        if program is None:
            pytest.skip("Google's emulator of Datastore is not installed")
        port = port or free_port()
        options = ["--testing", "--host=127.0.0.1", f"--port={port}"]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as none:
            none.write("indexes: []\n")
            none.flush()
            if self.index != "any":
                options += ["--require_indexes", f"--index_file={self.index or none.name}"]
            silent = subprocess.DEVNULL
            child = subprocess.Popen(
                [str(program), "start", *options],
                stdout=silent,
                stderr=silent,
                text=True,
                start_new_session=True,
            )
            deadline = time.monotonic() + PATIENCE
            while not _answers(f"127.0.0.1:{port}"):
                if child.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"Google's emulator of Datastore ended: {_ended(child)}")
                time.sleep(0.1)
        return child, port

    def clear(self, address: str) -> None:
        """Make it forget everything."""
        _answers(address, "POST", "/reset")


def _answers(address: str, method: str = "GET", path: str = "/") -> bool:
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        connection.request(method, path)
        connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()
    return True


def googles_program() -> Path | None:
    """Return what starts Google's emulator of Datastore, if that is installed."""
    found = shutil.which("gcloud")
    if found is None:
        return None
    name = "cloud_datastore_emulator"
    root = Path(found).resolve().parents[1]
    program = root / "platform" / name.replace("_", "-") / name
    return program if program.exists() and shutil.which("java") else None


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
        kind: How it is started.
        address: ``127.0.0.1:`` and its port; the same one after a restart.
    """

    kind: Ours | Googles
    project: str = PROJECT
    address: str = ""
    _child: Child | None = None
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
        self.kind.clear(self.address)

    def start(self) -> None:
        """Start it, on the port that it had before if it had one."""
        port = int(self.address.rpartition(":")[2] or 0)
        self._child, port = self.kind.start(port)
        self.address = f"127.0.0.1:{port}"

    def kill(self) -> None:
        """Kill it."""
        if self._child is not None:
            _ended(self._child)
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
        if isinstance(self.kind, Googles):
            pytest.skip("Google's emulator takes no orders and keeps few of the limits")


def _ended(child: Child) -> int:
    """Kill a process and all of its group, if it leads one, and return how it ended."""
    if child.poll() is None:
        leads = os.getpgid(child.pid) == child.pid
        (os.killpg if leads else os.kill)(child.pid, signal.SIGKILL)
    code = child.wait(PATIENCE)
    for stream in (child.stdin, child.stdout):
        if stream:
            stream.close()
    return code


@contextmanager
def running(
    index: Index = None,
    *,
    data: Path | None = None,
    legacy: bool = False,
    batch_bytes: int | None = None,
    kind: Ours | Googles | None = None,
) -> Generator[Emulator]:
    """Give a server that is ended with the block.

    Args:
        index: An index.yaml; ``any`` answers every query, None only what needs no such index.
        data: A file that keeps the entities when it is killed.
        legacy: Whether more than 500 mutations a commit are refused.
        batch_bytes: After how many bytes a query's answer is cut; 2 MiB unless said.
        kind: In place of all that.
    """
    plain = data is None and batch_bytes is None and not legacy
    googles = os.environ.get(SWITCH) == "gcloud" and plain
    usual = Googles(index) if googles else Ours(index, data, legacy, batch_bytes)
    emulator = Emulator(kind or usual)
    try:
        emulator.start()
        yield emulator
    finally:
        emulator.close()
