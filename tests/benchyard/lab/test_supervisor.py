"""Processes that are kept up: started again when they die, more slowly each time."""

import os
import signal
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from benchyard.core import places
from benchyard.lab.ending import keep_up
from benchyard.lab.lab import Lab, TestbedPlan
from benchyard.lab.supervisor import LabProcess, as_interrupts
from benchyard.lab.where import Where
from tests.conftest import eventually


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def part(home: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[LabProcess]:
    """A part that ends when its input does, as all of them do."""
    (home / "idle.py").write_text("import sys\nprint('here', flush=True)\nsys.stdin.read()\n")
    monkeypatch.setenv("PYTHONPATH", str(home))
    part = LabProcess("server", "idle", (), {"MORE": "1"}, home)
    part.start()
    yield part
    part.end(5)


def test_one_that_dies_is_started_again_later_each_time(part: LabProcess) -> None:
    delays: list[float] = []
    for _ in range(3):
        assert part.process is not None
        part.process.kill()
        part.process.wait()
        assert part.reap() == "killed by signal 9"
        assert part.reap() is None
        assert part.again_at is not None
        delays.append(part.again_at - time.monotonic())
        part.start()

    assert delays[0] < delays[1] < delays[2]


def test_a_lab_starts_again_what_died_and_ends_at_ctrl_c(part: LabProcess, home: Path) -> None:
    said: list[str] = []
    lab = Lab(Where("api", "ui"), TestbedPlan("me", "me", (), home), said.append, workers=[part])
    assert part.process is not None
    first = part.process.pid

    def disturb() -> None:
        os.kill(first, signal.SIGKILL)
        again = eventually(lambda: part.alive and part.process and part.process.pid != first, 60)
        said.append("it lives again" if again else "it stayed dead")
        os.kill(os.getpid(), signal.SIGINT)

    disturbing = threading.Thread(target=disturb)
    assert keep_up(lab, disturbing.start, None)
    disturbing.join()
    assert said[0].startswith("the server ended (killed by signal 9) and starts again")
    assert said[1:] == ["it lives again", "stopping", "stopped"]


def test_before_a_lab_is_up_a_sigterm_is_a_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), as_interrupts():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
