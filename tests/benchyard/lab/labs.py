"""Real labs for tests: a checkout of their own, the command in a process, Prefect's API."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from benchyard.process.labels import labelled, start_time
from tasks.names import HOME
from tests.conftest import eventually, process
from tests.databases import put_database
from tests.ports import free_port

SOURCE = Path(__file__).resolve().parents[3]
#: Seconds for a lab to come up on a busy machine.
UP_SECONDS = 240.0
FINAL = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def make_checkout(folder: Path) -> Path:
    """Copy what a fresh clone has, with only a few small cases."""
    ignored = shutil.ignore_patterns("__pycache__", "lab-tests")
    for name in ("benchyard", "resources", "tasks", "flows"):
        shutil.copytree(SOURCE / name, folder / name, ignore=ignored)
    for name in ("prefect.yaml", "pyproject.toml"):
        shutil.copy(SOURCE / name, folder / name)
    for name in ("examples/first", "tpch/sqlite"):
        results = shutil.ignore_patterns("results")
        shutil.copytree(SOURCE / "cases" / name, folder / "cases" / name, ignore=results)
    return folder


def add_case(checkout: Path, name: str, script: str, **keys: Any) -> str:
    """Write a case with one step that lets a shell read ``script``; return its reference."""
    step = process("work", script, **keys)
    folder = checkout / "cases" / name
    (folder / "data" / "shared").mkdir(parents=True)
    document = {"@id": f"urn:test:{name}", "name": name, "description": "", "steps": [step]}
    (folder / "metadata.json").write_text(json.dumps(document))
    return f"cases/{name}"


def environment_of(home: Path, checkout: Path) -> dict[str, str]:
    """Return the environment of a shell whose lab is in ``home``."""
    kept = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    return {
        **kept,
        "BENCHYARD_HOME": str(home),
        "BENCHYARD_LOCK": str(home / "testbed.lock"),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": str(checkout),
    }


@dataclass
class Shell:
    """A place to type commands, with a home of its own."""

    home: Path
    checkout: Path
    more: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def environment(self) -> dict[str, str]:
        return {**environment_of(self.home, self.checkout), **self.more}

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "benchyard.cli", *map(str, arguments)]

    def run(self, *arguments: str | Path, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments),
            cwd=self.checkout,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=UP_SECONDS,
            check=False,
        )

    @contextmanager
    def up(self, *arguments: str) -> Generator["RunningLab"]:
        """Bring a lab up, give it once it is ready, and leave nothing of it behind."""
        if "BENCHYARD_DATABASE_URL" not in self.more:
            put_database(self.home / "lab" / "prefect.db")
        options = ("up", "--json", "--port", str(free_port()), *arguments)
        with self.running(*options) as lab:
            lab.told = lab.read_told()
            yield lab

    @contextmanager
    def worker(self, lab: "RunningLab", *arguments: str) -> Generator["RunningLab"]:
        """Let this machine join a lab as one more testbed."""
        other = Shell(self.home.parent / "other", self.checkout, lab.variables)
        other.home.mkdir(exist_ok=True)
        with other.running("worker", *arguments) as worker:
            yield worker

    @contextmanager
    def running(self, *arguments: str) -> Generator["RunningLab"]:
        said = self.home.parent / f"said-{time.monotonic_ns()}"
        with said.open("w") as stderr:
            process = subprocess.Popen(
                self.command(*arguments),
                cwd=self.checkout,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
        try:
            yield RunningLab(self, process, said)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
            for pid in self.left():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def left(self) -> list[int]:
        """Return every process that a lab of this home started, however indirectly."""
        ours = str(self.home / "lab")
        return [pid for pid, home in labelled(HOME) if home == ours and start_time(pid)]

    def stored_states(self) -> dict[str, str]:
        """Return the state of each flow run in the database of a lab that is down."""
        with sqlite3.connect(self.home / "lab" / "prefect.db") as database:
            return dict(database.execute("select id, state_type from flow_run"))


def make_shell(base: Path, **more: str) -> Shell:
    """Make a checkout below a folder, and a home in which no lab was up yet.

    Its workers ask for flow runs each second: tests would mostly wait for that.
    """
    (base / "home").mkdir(parents=True)
    often = {"PREFECT_WORKER_QUERY_SECONDS": "1"}
    return Shell(base / "home", make_checkout(base / "checkout"), often | more)


@dataclass
class RunningLab:
    """A lab that is up."""

    shell: Shell
    process: "subprocess.Popen[str]"
    said_in: Path
    told: dict[str, Any] = field(default_factory=dict[str, Any])

    def read_told(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        text = ""
        while True:
            line = self.process.stdout.readline()
            assert line, f"the lab did not come up: {self.said}"
            text += line
            with suppress(ValueError):
                return cast("dict[str, Any]", json.loads(text))

    @property
    def said(self) -> str:
        return self.said_in.read_text()

    @property
    def url(self) -> str:
        return str(self.told["api"])

    @property
    def variables(self) -> dict[str, str]:
        """Return what a shell of another home needs to reach the lab."""
        return {"PREFECT_API_URL": self.url, "PREFECT_API_AUTH_STRING": self.password}

    @property
    def password(self) -> str:
        """Return what the lab's server wants; nothing without a password."""
        file = self.told.get("password_file")
        return Path(file).read_text().strip() if file else ""

    def pid_of(self, part: str) -> int:
        """Return the process of a part, which may have been started anew."""
        (pid,) = [
            pid
            for pid in self.shell.left()
            if part in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        ]
        return pid

    def ask(self, path: str, body: object = None, method: str = "") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = _request(f"{self.url}{path}", data, self.password, method=method)
        while True:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 503:  # SQLite is busy: Prefect's own client tries again, too
                    raise
                time.sleep(0.5)

    def deployment(self, name: str = "execute-case/testbed") -> dict[str, Any]:
        return cast("dict[str, Any]", self.ask(f"/deployments/name/{name}"))

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the events of a name."""
        wanted = {"filter": {"event": {"name": [name]}}, "limit": 50}
        return cast("list[dict[str, Any]]", self.ask("/events/filter", wanted)["events"])

    def start(self, case: str, *, queue: str | None = None, **parameters: Any) -> str:
        """Ask for a custom run, as the form in the UI does; return the flow run's id."""
        few: dict[str, Any] = {"case": case, "runs": 1, "cooldown": 0, "publish": []}
        path = f"/deployments/{self.deployment()['id']}/create_flow_run"
        wanted = {"parameters": few | parameters, "state": {"type": "SCHEDULED"}}
        return str(self.ask(path, {**wanted, "work_queue_name": queue})["id"])

    def retry(self, identity: str) -> None:
        """Schedule a flow run once more, as the button in the UI does."""
        state = {"type": "SCHEDULED", "name": "AwaitingRetry", "message": "Retry from the UI"}
        self.ask(f"/flow_runs/{identity}/set_state", {"state": state, "force": True})

    def flow_run(self, identity: str) -> dict[str, Any]:
        return cast("dict[str, Any]", self.ask(f"/flow_runs/{identity}"))

    def state(self, identity: str) -> str:
        try:
            return str(self.flow_run(identity)["state_type"])
        except (urllib.error.URLError, OSError):
            return "?"

    def wait_for(self, identity: str, *states: str, timeout: float = 180.0) -> str:
        """Wait until a flow run is in one of some states; return which."""
        assert eventually(lambda: self.state(identity) in states, timeout), (
            self.flow_run(identity),
            self.said,
        )
        return self.state(identity)

    def press(self, number: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(number)


def status(url: str, password: str | None = None, **headers: str) -> int:
    """Return how a lab's server answers a question of somebody who shows a password, or none."""
    request = _request(f"{url}/flow_runs/count", b"{}", password, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def _request(
    url: str,
    data: bytes | None,
    password: str | None,
    more: Mapping[str, str] = MappingProxyType({}),
    method: str = "",
) -> urllib.request.Request:
    headers = {"content-type": "application/json", **more}
    if password is not None:
        headers["authorization"] = f"Basic {b64encode(password.encode()).decode()}"
    kind = method or ("GET" if data is None else "POST")
    return urllib.request.Request(url, data, headers, method=kind)  # noqa: S310 - our own server
