"""The guard: whatever ends the lab, what it started ends with it."""

import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from benchyard.process import guard
from benchyard.process.guard import ensure_guard
from benchyard.process.labels import OWNER, labelled
from tests.children import speaking
from tests.conftest import eventually, is_gone

#: A lab that starts a family, says who belongs to it, and waits to be told to go on.
LAB = """
import subprocess, sys
from pathlib import Path
from benchyard.process.children import spawn
from benchyard.process.labels import this_owner
family = "setsid sh -c 'echo $$; exec sleep 300' & sh -c 'echo $$; exec sleep 300' & echo $$; wait"
child = spawn(["sh", "-c", family], folder=Path("/"), stdout=subprocess.PIPE)
print(this_owner(), *(int(child.stdout.readline()) for _ in range(3)), flush=True)
sys.stdin.readline()
{end}
"""


@contextmanager
def lab(end: str = "") -> Generator[tuple["subprocess.Popen[str]", str, list[int]]]:
    """Start a lab; give its process, its owner label and the pids of its family."""
    with speaking(LAB.replace("{end}", end)) as (process, line):
        owner, *pids = line.split()
        yield process, owner, [int(pid) for pid in pids]
        process.kill()


def all_gone(owner: str, pids: list[int]) -> bool:
    return all(map(is_gone, pids)) and owner not in [value for _, value in labelled(OWNER)]


ENDS = ("", "raise SystemExit(3)", "import os; os._exit(1)", "1/0")
KILLS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.mark.parametrize(
    ("end", "number"), [*((end, None) for end in ENDS), *(("", number) for number in KILLS)]
)
def test_however_the_lab_ends_its_family_dies(end: str, number: signal.Signals | None) -> None:
    with lab(f"sys.stderr.close(); {end}") as (process, owner, pids):
        assert not any(map(is_gone, pids))
        if number:
            process.send_signal(number)
        else:
            process.communicate("\n")
        assert eventually(lambda: all_gone(owner, pids), 30)


def test_a_family_lives_as_long_as_its_lab_and_the_guard_no_longer() -> None:
    with lab() as (process, owner, pids), lab() as (other, other_owner, others):
        (guard,) = (one.pid for one in psutil.process_iter(["cmdline"]) if owner in _words(one))
        other.kill()
        assert eventually(lambda: all_gone(other_owner, others), 30)
        assert not any(map(is_gone, pids)), "a guard kills what is its own lab's"
        process.kill()
        assert eventually(lambda: is_gone(guard) and all_gone(owner, pids), 30)


def _words(process: psutil.Process) -> list[str]:
    return process.info["cmdline"] or []


#: A lab with a process that saves something when the lab is dead, for so many seconds.
SAVING = """
import sys
from pathlib import Path
from benchyard.process.children import spawn
from benchyard.process.labels import OWNER, WINDS_UP, this_owner
saving = "read wait; sleep {seconds}; touch saved"
labels = {{OWNER: this_owner() + WINDS_UP}}
child = spawn(["sh", "-c", saving], folder=Path(sys.argv[1]), stdin=-1, labels=labels)
print(child.pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize(("seconds", "saved"), [(0.1, True), (60, False)])
def test_who_winds_up_by_itself_gets_a_moment(tmp_path: Path, seconds: float, saved: bool) -> None:
    with speaking(SAVING.format(seconds=seconds), str(tmp_path)) as (lab, pid):
        lab.kill()
        assert eventually(lambda: is_gone(int(pid)), 30)
        assert (tmp_path / "saved").exists() is saved


def test_a_process_has_one_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_guard()
    monkeypatch.setattr(guard, "_start", pytest.fail)
    ensure_guard()
