"""A lab to be measured: the command line as a user starts it, a Prefect server, records."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from benchyard.core.files import write_json
from benchyard.core.model import Json, JsonObject
from benchyard.results.record import RunRecord, read_record

#: The resource class of these benchmarks, as a folder for ``--resources``.
RESOURCES = Path(__file__).with_name("measured")
#: May name a database of this Prefect, made and still empty: servers begin with a copy.
EMPTY_DATABASE = "BENCHYARD_EMPTY_DATABASE"
_SERVER_SECONDS = 120.0
_COMMAND_SECONDS = 1800.0


def benchyard(*arguments: str | Path) -> list[str]:
    """Return the command line of ``benchyard`` as it is installed beside this Python."""
    return [str(Path(sys.executable).with_name("benchyard")), *map(str, arguments)]


def environment(home: Path, url: str | None = None) -> dict[str, str]:
    """Return the variables of a child: Prefect's home and server are these and no others."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    kept |= {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    return kept if url is None else kept | {"PREFECT_API_URL": url}


def wall_seconds(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> float:
    """Execute a command to its end and return the time of the whole process.

    Args:
        folder: Working folder.

    Raises:
        RuntimeError: If it fails, with what it said.
    """
    start = time.perf_counter()
    ended = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_COMMAND_SECONDS,
        check=False,
        encoding="utf-8",
    )
    took = time.perf_counter() - start
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command)}: {ended.stderr[-2000:] or ended.stdout[-2000:]}")
    return took


def write_case(root: Path, name: str, steps: Sequence[Mapping[str, Json]]) -> Path:
    """Write a case and return its folder."""
    folder = root / name
    (folder / "data" / "shared").mkdir(parents=True)
    document: JsonObject = {
        "@id": f"urn:benchyard:benchmark:{name}",
        "name": name,
        "steps": [dict(step) for step in steps],
    }
    write_json(folder / "metadata.json", document)
    return folder


def clocked(name: str, command: str = "nothing", **parameters: Json) -> JsonObject:
    """Return a step of the benchmarks' own resource."""
    return {"name": name, "resource": "Clocked", "command": command, "parameters": parameters}


def execute(case: Path, variables: Mapping[str, str], *options: str) -> tuple[float, RunRecord]:
    """Execute one run of a case.

    Returns:
        When the process was started, in seconds of the wall clock, and the run's record.
    """
    command = benchyard("run", case, "--runs", "1", "--cooldown", "0", "--force")
    started = time.time()
    wall_seconds([*command, "--resources", str(RESOURCES), *options], case, variables)
    return started, read_record(case / "results" / "run_1")


def first_start(record: RunRecord) -> float:
    """Return when the first step started, in seconds of the wall clock."""
    return datetime.fromisoformat(record.steps[0].attempts[0].started_at).timestamp()


def begin_with_empty_database(file: Path) -> None:
    """Copy the database that BENCHYARD_EMPTY_DATABASE names, unless there is one already."""
    database = os.environ.get(EMPTY_DATABASE)
    if database and not file.exists():
        shutil.copyfile(database, file)


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(home: Path, settings: Mapping[str, str] | None = None) -> Generator[str]:
    """Start a Prefect server, yield the address of its API, and end that server.

    Args:
        settings: Other than Prefect's own.

    Raises:
        RuntimeError: If it does not come up.
    """
    begin_with_empty_database(home / "prefect.db")
    port = str(free_port())
    started = subprocess.Popen(
        [
            *(sys.executable, "-m", "prefect", "server", "start"),
            *("--host", "127.0.0.1", "--port", port, "--no-ui", "--analytics-off"),
        ],
        env={**environment(home), **(settings or {})},
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}/api"
    try:
        _await(url, started)
        yield url
    finally:
        _end(started)


def _await(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _SERVER_SECONDS
    while True:
        if _answers(url):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the Prefect server did not come up")
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:  # noqa: S310 - loopback
            return answer.status == 200
    except OSError:
        return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(15)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it left in its own session
    process.wait()
