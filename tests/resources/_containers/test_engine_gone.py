"""An engine that dies, stops or hangs in the middle of a step: an engine of the tests' own."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchyard.process.labels import OWNER, labelled
from tests.conftest import MakeCase, eventually
from tests.resources.containers import BASE, DOCKER, WAITS, shell, start_lab, step_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requires("docker"),
    pytest.mark.requires("dockerd"),
    pytest.mark.requires("containerd"),
    pytest.mark.requires("unshare"),
    pytest.mark.requires("mount"),
]


#: No more than the shell of the base and what it waits with: the whole would take seconds to bring.
IMAGE = "benchyard-test/shell"
_TAR = "tar -ch /bin/sh /bin/sleep $(ldd /bin/sh | grep -o '/[^ ]* ')"
PACKS = [DOCKER, "run", "--rm", "--network", "none", BASE, *shell(_TAR)]


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
        with subprocess.Popen(PACKS, stdout=subprocess.PIPE) as packed:
            fetch = [DOCKER, "--host", engine.place, "import", "-", IMAGE]
            subprocess.run(fetch, stdin=packed.stdout, check=True, stdout=subprocess.DEVNULL)
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


def cases_of(make: MakeCase, **more: Any) -> list[Path]:
    """Make a case for each way to execute a program."""

    def case_of(command: str) -> Path:
        waits = shell("test -e /data/shared/quick || sleep 300")
        step = step_of("waits", command, waits, **more)
        settings = {"image": IMAGE, "command": WAITS, "volumes": ["/x"]}
        return make(command, step, resources={"Container": settings})

    return [case_of(command) for command in ("run_to_end", "execute")]


def run(folder: Path) -> "subprocess.Popen[str]":
    # Each has a testbed of its own: they run side by side.
    return start_lab(folder, env={**os.environ, "BENCHYARD_LOCK": f"{folder}.lock"})


def start(folders: Sequence[Path], stack: ExitStack) -> "list[subprocess.Popen[str]]":
    """Start runs, and wait until the step of each is under way."""
    labs = [stack.enter_context(run(folder)) for folder in folders]

    def are_under_way() -> bool:
        return all(any(map(is_of_the_step, processes_of(lab.pid))) for lab in labs)

    assert eventually(are_under_way, 60)
    return labs


def processes_of(owner: int) -> list[int]:
    return [pid for pid, value in labelled(OWNER) if value.startswith(f"{owner}:")]


def is_of_the_step(pid: int) -> bool:
    """Tell whether a process is the step's shell; a server waits in one of its own."""
    try:
        return "quick" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def ended(lab: "subprocess.Popen[str]", within: float) -> str:
    began = time.monotonic()
    _, said = lab.communicate(timeout=120)
    assert time.monotonic() - began < within, said
    assert lab.returncode == 1, said
    assert "Traceback" not in said
    assert not processes_of(lab.pid)
    return said


def go_on(engine: OwnEngine, folders: Sequence[Path]) -> None:
    """See that the next start of each works, and cleans."""
    for folder in folders:
        assert not list(folder.glob("results/run_*/.done"))
        (folder / "data/shared/quick").touch()
    for again in [run(folder) for folder in folders]:
        _, said = again.communicate(timeout=120)
        assert again.returncode == 0, said + engine.log()
    assert engine.left() == ""


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_an_engine_that_ends_fails_the_step_at_once(
    engine: OwnEngine, case_folder: MakeCase, number: signal.Signals
) -> None:
    folders = cases_of(case_folder)
    with ExitStack() as stack:
        labs = start(folders, stack)
        engine.send(number)
        assert engine.process is not None
        engine.process.wait(30)
        said = [ended(lab, 30) for lab in labs]
        assert number != signal.SIGKILL or all("does not answer" in text for text in said)
    engine.start()
    go_on(engine, folders)


def test_an_engine_that_hangs_is_outlived_by_the_timeout(
    engine: OwnEngine, case_folder: MakeCase
) -> None:
    folders = cases_of(case_folder, timeout=4)
    with ExitStack() as stack:
        labs = start(folders, stack)
        engine.send(signal.SIGSTOP)
        try:
            assert all("stopped after 4" in ended(lab, 60) for lab in labs)
        finally:
            engine.send(signal.SIGCONT)
    go_on(engine, folders)
