"""The Prefect server that the command line talks to: the configured one, or a temporary one.

Prefect would start a temporary server by itself. Ours starts earlier (beside the import of
Prefect), is out of the terminal's reach (the first Ctrl-C must not end it), dies with the lab
whatever kills that, and sends nothing to anybody.
"""

import atexit
import logging
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.errors import BenchyardError
from benchyard.lab.state import running_lab, show_password
from benchyard.lab.trouble import raise_if_refused
from benchyard.process.guard import ensure_guard
from benchyard.process.labels import OWNER, this_owner
from tasks.names import WANTED_PASSWORD
from tasks.trust import take_server

STARTUP_SECONDS = 90.0
#: How long a temporary server that runs may leave a question unanswered.
HANG_SECONDS = 20.0
_PROBE_SECONDS = 5.0
#: Between two looks whether one that starts answers.
_LOOK_SECONDS = 0.02

#: What Prefect must not do on a testbed: report usage, or print its own log between our lines.
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    # What it says of a server that is away, our own sentence says.
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "benchyard",
    # A deadline's thread belongs to no flow run: what it logs is in log.txt, and no warning.
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

_RECORDER = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER"
#: A server of ours writes what task runs do in batches, once a second, not each state in a
#: transaction. SQLite takes one writer at a time, and a connection that has to wait sleeps up to
#: 0.1 s between two tries: with Prefect's own way every request of a flow run meets one, and a case
#: of a suite in place took 0.3 s longer (``benchmarks.suite``).
SPARING = {f"{_RECORDER}_BATCH_SIZE": "100", f"{_RECORDER}_FLUSH_INTERVAL": "1"}

#: What a temporary server keeps of flow runs: all but the events, which are most of it, and which
#: nobody can look at before the server has gone.
_KEPT = {"PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false"}

#: The temporary server's program. uvicorn's own would take modules from the current folder.
_SERVING = """
import sys
sys.path.append(sys.argv[1])
import flows, prefect, uvicorn
uvicorn.run(
    "prefect.server.api.server:create_app",
    factory=True, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", lifespan="on",
)
"""


@dataclass(slots=True)
class Server:
    """A server that answers, or soon will.

    Args:
        url: Of its API.
        process: The temporary server's process, or None for a configured one.
    """

    url: str
    process: "subprocess.Popen[bytes] | None" = None

    def bring_back(self, seconds: float = HANG_SECONDS) -> bool:
        """Start the temporary server again if it ended or hangs, with all that it knew.

        Args:
            seconds: That one which still runs gets to answer.

        Returns:
            Whether it was started again; never for a configured one, which is not ours.

        Raises:
            BenchyardError: If it does not come up.
        """
        if self.process is None or wait_for_answer(self.url, seconds, self._is_alive):
            return False
        _stop(self.process)
        self.process = _start(urllib.parse.urlsplit(self.url).port or 0)
        self.wait_until_ready()
        return True

    def stop(self) -> None:
        """Stop a temporary one."""
        if self.process is not None:
            _stop(self.process)

    def wait_until_ready(self) -> None:
        """Return once it answers.

        Raises:
            BenchyardError: If a configured one does not answer or does not take our password, or
                a temporary one dies.
        """
        if self.process is None:
            if not answers(self.url):
                raise BenchyardError(
                    f"no Prefect server answers at {self.url}; start it, or unset PREFECT_API_URL, "
                    "or use --direct to execute without it"
                )
            raise_if_refused(self.url)
            return
        if not wait_for_answer(self.url, STARTUP_SECONDS, self._is_alive):
            raise BenchyardError(
                "the temporary Prefect server did not come up; see what it printed, or use "
                "--direct to execute without Prefect"
            )

    def _is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


def connect() -> Server:
    """Return the configured server, or start a temporary one in the background.

    Afterwards Prefect may be imported; it finds the server through its settings.
    """
    logging.raiseExceptions = False  # what cannot be logged at a server is in log.txt
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    configured = address()
    if configured:
        os.environ["PREFECT_API_URL"] = configured
        show_password(configured)
        return Server(configured)
    server = _start_temporary()
    os.environ["PREFECT_API_URL"] = server.url
    return server


def address() -> str | None:
    """Return the address of the API that is configured, or of the lab on this host; or None."""
    return _configured_url() or running_lab()


def ui_address() -> str | None:
    """Return the address of Prefect's UI, None if no server is known."""
    ui = os.environ.get("PREFECT_UI_URL") or (address() or "").removesuffix("/api")
    return ui.rstrip("/") or None


def _configured_url() -> str | None:
    """Ask the environment, the current folder's files, and Prefect's profiles."""
    take_server()
    if os.environ.get("PREFECT_API_URL"):
        return os.environ["PREFECT_API_URL"]
    if not _may_be_configured():
        return None
    from prefect.settings import get_current_settings  # noqa: PLC0415 - costs 0.4 s

    return get_current_settings().api.url


def _may_be_configured() -> bool:
    """Tell whether a profile could name a server; most often none does, and Prefect can wait."""
    home = os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect")  # noqa: PTH111
    profiles = os.environ.get("PREFECT_PROFILES_PATH") or f"{home}/profiles.toml"
    try:
        with open(profiles, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            return "prefect_api_url" in stream.read().lower()
    except OSError:
        return False


def _start_temporary() -> Server:
    port = _free_port()
    started = Server(f"http://127.0.0.1:{port}/api", _start(port))
    # Registered before Prefect is imported: Prefect's own exit handlers run first and drain.
    atexit.register(started.stop)
    return started


def _start(port: int) -> "subprocess.Popen[bytes]":
    ensure_guard()
    return subprocess.Popen(
        [
            *(sys.executable, "-P", "-c", _SERVING, str(Path(__file__).resolve().parents[2])),
            str(port),
        ],
        env={
            **SPARING,
            **_KEPT,
            # A password is for a server that stays; this one's client shows none.
            **{name: value for name, value in os.environ.items() if name != WANTED_PASSWORD},
            "PREFECT_UI_ENABLED": "0",
            "PREFECT__SERVER_EPHEMERAL": "1",
            "PREFECT__SERVER_FINAL": "1",
            OWNER: this_owner(),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_answer(url: str, seconds: float, is_alive: Callable[[], bool]) -> bool:
    """Wait until a server answers; False if its process ends before, or ``seconds`` pass."""
    latest = time.monotonic() + seconds
    while not answers(url, 1.0):
        if not is_alive() or time.monotonic() > latest:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def answers(url: str, seconds: float | None = None) -> bool:
    """Tell whether a Prefect server answers at ``url``, the address of its API."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=seconds or _PROBE_SECONDS) as response:  # noqa: S310
            return response.status == 200
    except urllib.error.HTTPError as error:
        error.close()
        return True  # somebody is there and wants to be asked otherwise; Prefect's client knows how
    except (urllib.error.URLError, OSError, ValueError):
        return False
