"""How a Datastore for tests is started: this folder's server, or Google's own emulator."""

import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from tests.emulators.datastore import server
from tests.ports import free_port

#: Seconds that a process has to start or to end; the machine may be busy.
PATIENCE = 60.0
#: A file; ``any`` to answer every query; None to answer only those that need no such index.
Index: TypeAlias = Path | Literal["any"] | None
Child: TypeAlias = subprocess.Popen[str]


class Kind(Protocol):
    """What can be started."""

    def start(self, port: int) -> tuple[Child, int]:
        """Start it and return its process and its port.

        Args:
            port: 0 for any that is free.
        """
        ...

    def clear(self, address: str) -> None:
        """Make it forget everything."""
        ...

    def close(self) -> None:
        """Clean up after the last process has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """This folder's server.

    Args:
        data: What keeps its entities when it is killed.
        legacy: Whether more than 500 mutations a commit are refused.
        batch_bytes: After how many bytes a query's answer is cut, if not as always.
    """

    index: Index = None
    data: Path | None = None
    legacy: bool = False
    batch_bytes: int | None = None

    def start(self, port: int) -> tuple[Child, int]:
        """Start it and return its process and its port."""
        options = {"--index": self.index, "--data": self.data, "--batch-bytes": self.batch_bytes}
        given = [str(part) for option in options.items() if option[1] for part in option]
        given += ["--legacy"] * self.legacy
        command = [sys.executable, server.__file__, "--port", str(port), "--while-stdin", *given]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        line = child.stdout.readline() if child.stdout else ""
        if not line:
            raise RuntimeError(f"the Datastore for tests ended with {ended(child)}, see above")
        return child, int(line.rpartition(":")[2])

    def clear(self, address: str) -> None:
        """Make it forget everything."""
        server.ordered(address, {"do": "clear"})

    def close(self) -> None:
        """Do nothing: it leaves nothing."""


@dataclass(frozen=True, slots=True)
class Googles:
    """Google's emulator, as the Cloud SDK brings it; it needs Java.

    Args:
        program: What starts it.
    """

    program: Path
    index: Index = None
    _folder: "tempfile.TemporaryDirectory[str]" = field(
        default_factory=lambda: tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    )

    def start(self, port: int) -> tuple[Child, int]:
        """Start it and return its process and its port."""
        port = port or free_port()
        options = ["--testing", "--host=127.0.0.1", f"--port={port}"]
        if self.index != "any":
            options += ["--require_indexes", f"--index_file={self.index or self._no_index()}"]
        log = (Path(self._folder.name) / "log").open("w")
        with log:
            child = subprocess.Popen(
                [str(self.program), "start", *options],
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        _await(f"127.0.0.1:{port}", child)
        return child, port

    def clear(self, address: str) -> None:
        """Make it forget everything."""
        _asked(address, "POST", "/reset")

    def close(self) -> None:
        """Remove its log and its index.yaml."""
        self._folder.cleanup()

    def _no_index(self) -> Path:
        path = Path(self._folder.name) / "index.yaml"
        path.write_text("indexes: []\n", "utf-8")
        return path


def googles_program() -> Path | None:
    """Return what starts Google's emulator of Datastore, if that is installed."""
    found = shutil.which("gcloud")
    if found is None:
        return None
    name = "cloud_datastore_emulator"
    root = Path(found).resolve().parents[1]
    program = root / "platform" / name.replace("_", "-") / name
    return program if program.exists() and shutil.which("java") else None


def ended(child: Child, number: signal.Signals = signal.SIGKILL) -> int:
    """End a process and all of its group, if it leads one, and return how it ended."""
    if child.poll() is None:
        leads = os.getpgid(child.pid) == child.pid
        (os.killpg if leads else os.kill)(child.pid, number)
    code = child.wait(PATIENCE)
    for stream in (child.stdin, child.stdout):
        if stream:
            stream.close()
    return code


def _asked(address: str, method: str, path: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        connection.request(method, path)
        connection.getresponse().read()
    finally:
        connection.close()


def _await(address: str, child: Child) -> None:
    deadline = time.monotonic() + PATIENCE
    while child.poll() is None and time.monotonic() < deadline:
        try:
            return _asked(address, "GET", "/")
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"Google's emulator of Datastore ended with {ended(child)}")
