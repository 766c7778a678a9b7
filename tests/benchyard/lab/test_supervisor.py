"""Processes that are kept up: started again when they die, more slowly each time."""

import os
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from benchyard.core import places
from benchyard.lab.supervisor import LabProcess, Supervisor, as_interrupts, listening
from benchyard.process.labels import OWNER, labelled
from tasks.names import HOME, PART
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


def test_a_part_is_labelled_and_bound_to_no_flow_run(
    part: LabProcess, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert part.process is not None
    assert part.alive
    assert dict(labelled(PART))[part.process.pid] == "server"
    assert dict(labelled(HOME))[part.process.pid] == str(home / "home" / "lab")
    assert os.getsid(part.process.pid) == part.process.pid

    monkeypatch.setenv(OWNER, "1:1:1")
    other = LabProcess("worker x", "idle", (), {}, home)
    other.start()
    assert other.process is not None
    assert other.process.pid not in dict(labelled(OWNER))
    other.end(5)


def test_a_part_that_is_cut_off_ends_by_itself(part: LabProcess) -> None:
    part.cut()

    assert eventually(lambda: not part.alive, 20)
    assert part.last_words() == "here"


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


def test_the_supervisor_starts_again_what_died_and_says_so(part: LabProcess) -> None:
    said: list[str] = []
    supervisor = Supervisor(part, [], said.append)
    assert part.process is not None
    first = part.process.pid
    with listening() as requests:
        part.process.kill()
        part.process.wait()
        supervisor.see_to([part])
        part.again_at = 0
        supervisor.see_to([part])
        os.kill(os.getpid(), signal.SIGTERM)
        supervisor.keep_up(requests)

    assert part.process is not None
    assert part.process.pid != first
    assert len(said) == 1
    assert "the server ended (killed by signal 9)" in said[0]
    assert requests.by_machine


def test_a_wish_ends_a_sleep_and_is_counted() -> None:
    with listening() as requests:
        signal.raise_signal(signal.SIGINT)
        requests.sleep(None)
        signal.raise_signal(signal.SIGINT)
        requests.sleep(None)

    assert requests.count == 2
    assert not requests.by_machine


def test_the_end_of_a_process_ends_a_sleep(part: LabProcess) -> None:
    with listening() as requests:
        part.cut()
        requests.sleep(None, [part.descriptor])

    assert requests.count == 0


def test_before_a_lab_is_up_a_sigterm_is_a_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt), as_interrupts():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
