"""Processes that are kept up: started again when they die, more slowly each time."""

import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from benchyard.core import places
from benchyard.lab.supervisor import LabProcess, as_interrupts


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


def test_before_a_lab_is_up_a_sigterm_is_a_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), as_interrupts():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
