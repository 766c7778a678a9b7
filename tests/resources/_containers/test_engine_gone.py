"""An engine that dies, stops or hangs in the middle of a step: an engine of the tests' own."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.process.labels import OWNER, labelled
from tests.conftest import MakeCase, RunBenchyard, eventually
from tests.resources._containers.conftest import BASE, DOCKER, WAITS, shell

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requires("docker"),
    pytest.mark.requires("dockerd"),
    pytest.mark.requires("containerd"),
    pytest.mark.requires("unshare"),
    pytest.mark.requires("mount"),
]


class OwnEngine:
    """A second engine on this host, whose death hurts nobody.

    Its containerd is a process of its own, as on most hosts, and outlives it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.place = f"unix://{folder}/d.sock"
        self.process: subprocess.Popen[bytes] | None = None
        (folder / "c.toml").write_text('disabled_plugins = ["io.containerd.grpc.v1.cri"]')
        self._helper = self._popen(
            "containerd",
            f"--config={folder}/c.toml",
            f"--root={folder}/containerd",
            f"--state={folder}/state",
            f"--address={folder}/c.sock",
        )

    def _popen(self, *arguments: str) -> "subprocess.Popen[bytes]":
        program = shutil.which(arguments[0]) or arguments[0]
        with (self._folder / f"{arguments[0]}.txt").open("ab") as log:
            return subprocess.Popen([program, *arguments[1:]], stdout=log, stderr=log)

    def start(self) -> None:
        folder = self._folder
        (folder / "d.pid").unlink(missing_ok=True)
        # In a network namespace of its own: it would take the bridge of the host's engine away.
        self.process = self._popen(
            "unshare",
            "--net",
            shutil.which("dockerd") or "dockerd",
            f"--data-root={folder}/data",
            f"--exec-root={folder}/exec",
            f"--pidfile={folder}/d.pid",
            f"--host={self.place}",
            f"--containerd={folder}/c.sock",
            "--bridge=none",
            "--iptables=false",
        )
        assert eventually(lambda: self.ask("info") is not None, 60), self.log()

    def log(self) -> str:
        return (self._folder / "unshare.txt").read_text()[-3000:]

    def ask(self, *arguments: str) -> str | None:
        asked = [DOCKER, "--host", self.place, *arguments]
        ended = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
        return None if ended.returncode else ended.stdout.strip()

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM)
            self.process.wait(30)

    def end_all(self) -> None:
        self.end()
        self._helper.terminate()
        self._helper.wait(30)

    def left(self) -> str:
        kinds = (("ps", "-a"), ("network", "ls"), ("volume", "ls"))
        label = ("-q", "--filter", "label=benchyard.owner")
        return "".join(self.ask(*kind, *label) or "" for kind in kinds)


@pytest.fixture(scope="module")
def whole_engine() -> Generator[OwnEngine]:
    folder = Path(tempfile.mkdtemp(prefix="byd"))
    engine = OwnEngine(folder)
    try:
        assert eventually((folder / "c.sock").exists, 30)
        engine.start()
        with subprocess.Popen([DOCKER, "save", BASE], stdout=subprocess.PIPE) as saved:
            load = [DOCKER, "--host", engine.place, "load"]
            subprocess.run(load, stdin=saved.stdout, check=True, stdout=subprocess.DEVNULL)
        yield engine
    finally:
        engine.end_all()
        for line in Path("/proc/mounts").read_text().splitlines():
            if line.split()[1].startswith(str(folder)):
                subprocess.run(["/bin/umount", "-l", line.split()[1]], check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def engine(whole_engine: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> OwnEngine:
    monkeypatch.setenv("DOCKER_HOST", whole_engine.place)
    return whole_engine


def case_of(make: MakeCase, command: str, **more: Any) -> Path:
    step = {
        "@id": "waits",
        "name": "waits",
        "resource": "Container",
        "command": command,
        "parameters": {"arguments": shell("test -e /data/shared/quick || sleep 300")},
        **more,
    }
    return make(
        "gone", step, resources={"Container": {"image": BASE, "command": WAITS, "volumes": ["/x"]}}
    )


def start(folder: Path, tmp_path: Path) -> "subprocess.Popen[str]":
    """Start a run, and wait until its step is under way."""
    program = str(Path(sys.executable).with_name("benchyard"))
    run = [program, "run", str(folder), "--direct", "--runs", "1", "--cooldown", "0"]
    lab = subprocess.Popen(run, stderr=subprocess.PIPE, text=True, cwd=tmp_path)

    def is_under_way() -> bool:
        return any("sleep\0300" in command_of(pid) for pid in processes_of(lab.pid))

    assert eventually(is_under_way, 60)
    return lab


def processes_of(owner: int) -> list[int]:
    return [pid for pid, value in labelled(OWNER) if value.startswith(f"{owner}:")]


def command_of(pid: int) -> str:
    try:
        # A server waits with a sleep of its own; that of the step is below another shell.
        text = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
    return "sleep\0300" if "quick" in text else ""


def ended(lab: "subprocess.Popen[str]", within: float) -> str:
    began = time.monotonic()
    _, said = lab.communicate(timeout=120)
    assert time.monotonic() - began < within, said
    assert lab.returncode == 1, said
    assert "Traceback" not in said
    assert not processes_of(lab.pid)
    return said


def goes_on(engine: OwnEngine, folder: Path, run_benchyard: RunBenchyard) -> None:
    """The next start works, and cleans."""
    assert not list(folder.glob("results/run_*/.done"))
    (folder / "data/shared/quick").touch()
    again = run_benchyard("run", folder, "--direct", "--runs", "1", "--cooldown", "0")
    assert again.returncode == 0, again.stderr + engine.log()
    assert engine.left() == ""


def outcome(folder: Path) -> Any:
    return json.loads((folder / "results/run_1/run.json").read_text())["steps"][0]


@pytest.mark.parametrize("command", ["run_to_end", "execute"])
def test_an_engine_that_is_killed_fails_the_step_at_once(
    engine: OwnEngine,
    case_folder: MakeCase,
    tmp_path: Path,
    run_benchyard: RunBenchyard,
    command: str,
) -> None:
    folder = case_of(case_folder, command)
    with start(folder, tmp_path) as lab:
        engine.send(signal.SIGKILL)
        assert engine.process is not None
        engine.process.wait(10)
        said = ended(lab, 30)
    assert "does not answer" in said
    engine.start()
    goes_on(engine, folder, run_benchyard)


@pytest.mark.parametrize("command", ["run_to_end", pytest.param("execute", marks=pytest.mark.long)])
def test_an_engine_that_hangs_is_outlived_by_the_timeout(
    engine: OwnEngine,
    case_folder: MakeCase,
    tmp_path: Path,
    run_benchyard: RunBenchyard,
    command: str,
) -> None:
    folder = case_of(case_folder, command, timeout=4)
    with start(folder, tmp_path) as lab:
        engine.send(signal.SIGSTOP)
        try:
            said = ended(lab, 60)
        finally:
            engine.send(signal.SIGCONT)
    assert "stopped after 4" in said
    goes_on(engine, folder, run_benchyard)


@pytest.mark.long
def test_an_engine_that_is_stopped_fails_the_step(
    engine: OwnEngine, case_folder: MakeCase, tmp_path: Path, run_benchyard: RunBenchyard
) -> None:
    folder = case_of(case_folder, "run_to_end")
    with start(folder, tmp_path) as lab:
        engine.end()
        ended(lab, 30)
    engine.start()
    goes_on(engine, folder, run_benchyard)
