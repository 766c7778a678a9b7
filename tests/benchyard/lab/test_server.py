"""The server that the command line talks to: the configured one, or one that dies with the lab."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from benchyard.core.errors import BenchyardError
from benchyard.lab import server
from benchyard.lab.server import Server, connect
from benchyard.process.labels import OWNER, labelled
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.children import ending
from tests.conftest import MakeCase, RunBenchyard, eventually, is_gone, process
from tests.databases import put_database
from tests.ports import free_port


@pytest.fixture(autouse=True)
def nothing_configured(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[None]:
    """Start from a home and a working folder that name no server; restore the environment."""
    monkeypatch.chdir(tmp_path)
    if request.node.get_closest_marker("slow"):
        put_database(tmp_path / "home" / "prefect.db")
    own = {"PREFECT_HOME": str(tmp_path / "home"), "BENCHYARD_HOME": str(tmp_path / "lab")}
    with mock.patch.dict(os.environ, own):
        os.environ.pop("PREFECT_API_URL", None)
        yield


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note when a temporary server would be started, and start none."""
    made: list[str] = []

    def start() -> Server:
        made.append("started")
        return Server("http://127.0.0.1:1/api")

    monkeypatch.setattr(server, "_start_temporary", start)
    return made


# -- which server


def printed(what: str) -> str:
    """Print something in a process of its own: Prefect reads its settings once."""
    program = f"import sys; from benchyard.lab import server; print({what})"
    return subprocess.check_output([sys.executable, "-c", program], text=True).strip()


def test_a_temporary_server_starts_unless_the_environment_names_one(started: list[str]) -> None:
    found = connect()
    assert started == ["started"]
    assert os.environ["PREFECT_API_URL"] == found.url

    os.environ["PREFECT_API_URL"] = "http://lab:4200/api"
    assert connect() == Server("http://lab:4200/api")
    assert started == ["started"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("prefect.toml", '[api]\nurl = "http://toml:4200/api"\n'),
        (".env", "PREFECT_API_URL=http://dotenv:4200/api\n"),
        ("pyproject.toml", '[tool.prefect.api]\nurl = "http://pyproject:4200/api"\n'),
        (
            "home/profiles.toml",
            'active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://profile:4200/api"\n',
        ),
    ],
)
def test_a_file_names_a_server(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)

    assert printed("server._configured_url()").endswith(":4200/api")


@pytest.mark.usefixtures("started")
def test_nothing_is_sent_to_anybody_unless_the_user_says_so() -> None:
    os.environ.pop("DO_NOT_TRACK", None)
    os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] = "true"

    connect()

    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "true"


# -- one that does not answer


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/api", "nonsense", "http://", "file:///etc/passwd", "http://[::1"]
)
def test_a_dead_server_or_no_address_is_one_clear_sentence(url: str) -> None:
    told = r"no Prefect server answers at [^\n]*PREFECT_API_URL[^\n]*--direct[^\n]*\Z"
    with pytest.raises(BenchyardError, match=told):
        Server(url).wait_until_ready()


def test_a_server_that_accepts_and_never_answers_is_no_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_PROBE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        with pytest.raises(BenchyardError, match="no Prefect server answers"):
            Server(f"http://127.0.0.1:{port}/api").wait_until_ready()


@pytest.mark.parametrize(
    ("program", "seconds"), [(["false"], server.STARTUP_SECONDS), (["sleep", "300"], 0.05)]
)
def test_a_temporary_server_that_dies_or_never_answers_is_given_up(
    monkeypatch: pytest.MonkeyPatch, program: list[str], seconds: float
) -> None:
    monkeypatch.setattr(server, "STARTUP_SECONDS", seconds)
    began = time.monotonic()
    with ending(subprocess.Popen(program)) as process:
        with pytest.raises(BenchyardError, match="temporary Prefect server did not come up"):
            Server(f"http://127.0.0.1:{free_port()}/api", process).wait_until_ready()
        process.kill()
    assert time.monotonic() - began < 10


@pytest.mark.slow
def test_a_configured_and_dead_server_ends_the_command_with_one_sentence(
    case_folder: MakeCase, run_benchyard: RunBenchyard
) -> None:
    folder = case_folder("any", process("work", "true"))
    url = f"http://127.0.0.1:{free_port()}/api"

    ended = run_benchyard("run", folder, env=os.environ | {"PREFECT_API_URL": url}, timeout=60)

    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        f"benchyard: no Prefect server answers at {url}; start it, or unset PREFECT_API_URL, "
        "or use --direct to execute without it"
    ]
    assert ended.stdout == ""
    assert [*Results(folder / "results").done()] == []


# -- a temporary one, really


@dataclass
class Held:
    """A lab that a step of its first run holds until it is let go."""

    lab: "subprocess.Popen[str]"
    folder: Path
    go: Path

    def kill_server(self) -> None:
        """Kill the temporary server, found among what this lab started."""
        for pid, _ in labelled(OWNER):
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if int(stat[1]) == self.lab.pid and b"uvicorn" in words:
                os.kill(pid, signal.SIGKILL)
                assert eventually(partial(is_gone, pid), 30)
                return
        pytest.fail("this lab has no server")

    def let_go(self) -> str:
        """Let the step end, and the lab; return what it said."""
        self.go.touch()
        _, said = self.lab.communicate(timeout=300)
        return said


@contextmanager
def held(folder: Path, cwd: Path) -> Generator[Held]:
    """Execute a case of two runs from ``cwd`` until its first step is under way."""
    up, go = cwd / "up", cwd / "go"
    program = Path(sys.executable).with_name("benchyard")
    with subprocess.Popen(
        [program, "run", folder.name, "--prefect", "--runs", "2", "--cooldown", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
    ) as lab:
        try:
            assert eventually(lambda: up.exists() or lab.poll() is not None, 180)
            assert lab.poll() is None, lab.communicate()[1]
            yield Held(lab, folder, go)
        finally:
            lab.kill()


@pytest.fixture
def case(case_folder: MakeCase, tmp_path: Path) -> Path:
    """Make the case whose first step waits to be let go."""
    up, go = tmp_path / "up", tmp_path / "go"
    waits = f"echo > {up}; while [ ! -e {go} ]; do sleep 0.05; done; echo $MARK"
    return case_folder("held", process("hold", waits), process("next", "true"))


def left_of(lab: "subprocess.Popen[str]") -> list[int]:
    return [pid for pid, owner in labelled(OWNER) if owner.startswith(f"{lab.pid}:")]


@pytest.mark.slow
def test_two_ctrl_c_end_lab_step_and_server(case: Path, tmp_path: Path) -> None:
    with held(case, tmp_path) as it:
        lab = it.lab
        assert lab.stderr is not None
        os.killpg(lab.pid, signal.SIGINT)
        assert any("stopping after this step" in line for line in lab.stderr)
        os.killpg(lab.pid, signal.SIGINT)
        _, stderr = lab.communicate(timeout=60)

        assert lab.returncode == 130
        assert stderr.splitlines()[-1] == "benchyard: interrupted"
        assert "Traceback" not in stderr
        assert eventually(lambda: not left_of(lab), 10)
        assert read_record(it.folder / "results/run_1").outcome.value == "cancelled"


# -- a temporary one that is killed in the middle


def states(home: Path) -> list[str]:
    """Return the states of all flow runs that the database knows."""
    with closing(sqlite3.connect(home / "prefect.db")) as database:
        return [str(state) for (state,) in database.execute("SELECT state_type FROM flow_run")]


@pytest.mark.slow
def test_a_temporary_server_that_was_killed_is_started_again(case: Path, tmp_path: Path) -> None:
    with held(case, tmp_path) as it:
        it.kill_server()
        said = it.let_go()

    assert it.lab.returncode == 0, said
    assert [*Results(it.folder / "results").done()] == [1, 2]
    assert "ERROR" not in said
    assert "Error" not in said
    assert states(tmp_path / "home") == ["COMPLETED"]
    with closing(sqlite3.connect(tmp_path / "home" / "prefect.db")) as database:
        assert database.execute("SELECT count(*) FROM events").fetchone() == (0,)


@pytest.mark.slow
def test_a_temporary_server_that_cannot_come_back_costs_one_sentence(
    case: Path, tmp_path: Path
) -> None:
    with held(case, tmp_path) as it:
        it.kill_server()
        for file in (tmp_path / "home").glob("prefect.db*"):
            file.unlink()
        (tmp_path / "home" / "prefect.db").mkdir()
        began = time.monotonic()
        said = it.let_go()

    assert it.lab.returncode == 0, said
    assert [*Results(it.folder / "results").done()] == [1, 2]
    (sentence,) = (line for line in said.splitlines() if "Prefect server" in line)
    assert "stays away; the results are on disk" in sentence
    assert "Traceback" not in said
    assert time.monotonic() - began < 240, "it was waited for as for somebody else's"


@pytest.mark.slow
def test_a_killed_lab_and_the_next_one_leave_nothing_behind(
    case: Path, tmp_path: Path, run_benchyard: RunBenchyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a process, nor a flow run that seems to go on; the next one ends well."""
    with held(case, tmp_path) as it:
        assert len(left_of(it.lab)) >= 3, "server, sampler and step"
        it.lab.kill()
        assert eventually(lambda: not left_of(it.lab), 10)
    it.go.touch()
    assert states(tmp_path / "home") == ["RUNNING"]

    mark = "MARK"  # which all that this lab starts inherits
    monkeypatch.setenv(mark, "yes")
    ended = run_benchyard("run", "held", "--prefect", "--runs", "1", "--json", timeout=300)

    assert ended.returncode == 0, ended.stderr
    assert sorted(states(tmp_path / "home")) == ["COMPLETED", "CRASHED"]
    assert open_task_runs(tmp_path / "home") == []
    assert list((tmp_path / "lab" / "flow-runs").iterdir()) == []
    assert_nothing_but_json(ended)
    assert read_record(case / "results/run_1").flow_run["name"]
    assert "yes" in next(case.glob("results/run_1/process/*stdout*")).read_text()
    assert eventually(lambda: not dict(labelled(mark)), 10)


def assert_nothing_but_json(ended: "subprocess.CompletedProcess[str]") -> None:
    document = json.loads(ended.stdout)
    assert document["cases"][0]["case"] == "held"
    assert document["cases"][0]["summary"]["n_runs"] == 1
    assert "Traceback" not in ended.stderr
    assert "prefect" not in ended.stderr.lower()


def open_task_runs(home: Path) -> list[str]:
    """Return the names of the task runs that seem to go on."""
    with closing(sqlite3.connect(home / "prefect.db")) as database:
        found = database.execute("SELECT name, state_type FROM task_run").fetchall()
    return [name for name, state in found if state in ("PENDING", "RUNNING", "SCHEDULED")]
