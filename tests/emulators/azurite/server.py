"""Azurite, Azure's storage emulator, on this host: its tables alone.

For tests: ``with running() as azurite``. By hand: ``python tests/emulators/azurite/server.py``
prints what to set and runs until Ctrl-C. Once before: ``npm install --no-package-lock`` in this
folder (no lock file, for it would name the registry's host).
"""

import base64
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.ports import free_port

PROGRAM = Path(__file__).parent / "node_modules" / ".bin" / "azurite-table"
ACCOUNT = "benchyardtest"


class AzuriteError(Exception):
    """Azurite does not run; the text says why."""


@dataclass
class Azurite:
    """A table service on loopback, of one account with a key of its own.

    Args:
        location: Folder in which tables are kept; None keeps them in memory.
    """

    location: Path | None
    port: int
    key: str = field(default_factory=lambda: base64.b64encode(secrets.token_bytes(32)).decode())
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where the account's tables are."""
        return f"http://127.0.0.1:{self.port}/{ACCOUNT}"

    @property
    def connection_string(self) -> str:
        """What Azure's own libraries take."""
        return self.through(self.port)

    def through(self, port: int) -> str:
        """Return the connection string by way of a proxy at another port."""
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={self.key};"
            f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        kept = ["--inMemoryPersistence"] if self.location is None else ["--location", self.location]
        self.process = subprocess.Popen(
            [PROGRAM, "--tableHost", "127.0.0.1", "--tablePort", str(self.port), *kept,
             "--disableTelemetry", "--silent"],
            env={"PATH": os.environ.get("PATH", ""), "AZURITE_ACCOUNTS": f"{ACCOUNT}:{self.key}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._wait(120.0)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AzuriteError(f"Azurite ended: {_told(self.process)}")
            if _answers(self.url):
                return
            time.sleep(0.05)
        self.kill()
        raise AzuriteError(f"Azurite did not answer within {seconds:.0f} s")

    def stop(self) -> None:
        """End it so that it keeps what it was told: only SIGINT makes it write to the disk."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def running(location: Path | None = None) -> Generator[Azurite]:
    """Run a table service of its own at a port that was free."""
    azurite = Azurite(location, free_port())
    try:
        azurite.start()
        yield azurite
    finally:
        azurite.stop()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 - it is http
    except urllib.error.HTTPError as error:
        error.close()
        return True  # a refusal is an answer
    except OSError:
        return False
    return True


def _told(process: "subprocess.Popen[bytes]") -> str:
    told = process.stdout.read() if process.stdout is not None else b""
    return told.decode(errors="replace").strip()[-500:] or f"exit code {process.returncode}"


def main() -> None:
    """Run until Ctrl-C, or until somebody ends it."""
    # A shell lets programs in the background ignore Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running() as azurite:
        sys.stdout.write(f"AZURE_STORAGE_CONNECTION_STRING='{azurite.connection_string}'\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    main()
