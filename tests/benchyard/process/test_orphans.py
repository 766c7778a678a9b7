"""Orphans: found whatever they made of themselves, and nobody else is touched."""

import signal
import subprocess
import sys
from collections.abc import Generator
from itertools import chain, repeat
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchyard.process import orphans as module
from benchyard.process.children import Child, pipe, spawn
from benchyard.process.labels import CHILD, Kin, kin_of, label_of
from benchyard.process.launching import adoption
from benchyard.process.orphans import Orphan, end_orphans, orphans
from tests.children import ending
from tests.conftest import eventually, is_gone
from tests.daemons import WAYS, daemon, pids

ROOT = Path("/")


@pytest.fixture(autouse=True)
def _none_left() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    end_orphans(everyone, grace=0)


def everyone(_: Orphan) -> bool:
    return True


def left(*arguments: str, **environment: str) -> Child:
    child = spawn(arguments, folder=ROOT, environment=environment)
    assert child.wait().exit_status == 0
    return child


@pytest.mark.parametrize("way", WAYS)
def test_a_daemon_ends_whatever_it_made_of_itself(way: str, tmp_path: Path) -> None:
    left(*daemon(way, tmp_path / "a.pid"))
    there = pids(tmp_path)
    assert not any(map(is_gone, there))
    assert all(label_of(pid, CHILD) is None for pid in there)
    # On a busy host what made the daemon may still be about to end.
    assert eventually(lambda: orphans() <= set(there))

    ending = end_orphans(everyone, grace=0)

    assert eventually(lambda: all(map(is_gone, there)))
    assert all(any(f"(pid {pid}" in told for told in ending.killed) for pid in there)
    assert not ending.alive
    assert not orphans()


def test_it_is_named_by_its_program_and_by_what_it_calls_itself(tmp_path: Path) -> None:
    left(*daemon("cleared", tmp_path / "cleared.pid"))
    (sleeping,) = pids(tmp_path)
    assert eventually(lambda: Path(f"/proc/{sleeping}/comm").read_text() == "sleep\n")
    assert end_orphans(everyone, grace=0).killed == (f"sleep (pid {sleeping})",)

    left(*daemon("overwritten", tmp_path / "cleared.pid"))
    (other,) = pids(tmp_path)
    python = Path(sys.executable).resolve().name
    assert end_orphans(everyone, grace=0).killed == (f"{python} (pid {other}, called 'innocent')",)


def test_one_that_is_slow_to_end_is_named_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy host takes its time to end what was killed: it is met once more, without a program."""
    left("sh", "-c", "sleep 300 &")
    numbers, send = iter([0]), signal.pidfd_send_signal

    def send_next(descriptor: int, number: int) -> None:
        send(descriptor, next(numbers, number))

    monkeypatch.setattr(module, "_told", Mock(side_effect=chain(["one"], repeat("nobody"))))
    monkeypatch.setattr(signal, "pidfd_send_signal", send_next)
    assert end_orphans(everyone, grace=0).killed == ("one",)


def test_who_ends_by_itself_is_not_killed() -> None:
    """As ``tee`` does that a shell did not wait for."""
    left("sh", "-c", "sleep 0.1 &")

    assert end_orphans(everyone, grace=30) == ((), ())
    assert not orphans()


def test_the_others_live_on() -> None:
    first = left("sh", "-c", "sleep 300 &")
    second = left("sh", "-c", "sleep 300 & sleep 300 &")
    assert eventually(lambda: len(orphans()) == 3)
    # Inside of execve a process shows no environment.
    assert eventually(lambda: all(label_of(pid, CHILD) for pid in orphans()))

    with ending(subprocess.Popen(["/bin/sleep", "300"])) as foreign:
        ended = end_orphans(lambda orphan: orphan.label == first.label, grace=0)
        assert len(ended.killed) == 1
        assert {label_of(pid, CHILD) for pid in orphans()} == {second.label}
        ended = end_orphans(lambda orphan: orphan.session == second.pid, grace=0)
        assert len(ended.killed) == 2
        assert foreign.poll() is None
        foreign.kill()


def test_children_that_are_under_way_are_no_orphans() -> None:
    child = spawn(["sh", "-c", "env -i setsid sleep 300 & echo; wait"], folder=ROOT, stdout=-1)
    with pipe(child.stdout) as stream:
        stream.readline()
    assert not orphans()
    assert end_orphans(everyone, grace=0) == ((), ())
    assert child.running
    child.kill()
    child.wait()


def test_a_pid_that_became_a_strangers_is_not_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    left("true")
    with ending(subprocess.Popen(["/bin/sleep", "300"])) as stranger:
        adopter, _ = adoption() or (0, 0)
        seen = [kin_of(stranger.pid)]

        def kin(pid: int) -> Kin | None:
            """Tell at the first look that it is an orphan, and the truth afterwards."""
            its = seen.pop() if pid == stranger.pid and seen else None
            return its._replace(parent=adopter) if its else kin_of(pid)

        monkeypatch.setattr(module, "orphans", lambda: frozenset({stranger.pid}))
        monkeypatch.setattr(module, "kin_of", kin)
        hunt = module._Hunt(everyone)  # pyright: ignore[reportPrivateUsage]
        hunt.kill()
        assert stranger.poll() is None
        stranger.kill()


def test_many_that_come_and_go_are_all_found_and_none_is_left_a_zombie() -> None:
    left("sh", "-c", "for i in $(seq 200); do (sleep 0.0$i & sleep 300 &) & done; wait")

    ending = end_orphans(everyone, grace=0.2)

    assert sum("sleep" in told for told in ending.killed) >= 200
    adopter, launcher = adoption() or (0, 0)
    assert eventually(lambda: not orphans())
    assert Path(f"/proc/{adopter}/task/{adopter}/children").read_text().split() == [str(launcher)]


def test_an_orphans_account_is_nobodys(tmp_path: Path) -> None:
    """A child's peak and CPU time are its own, whoever of its daemons ended meanwhile."""
    burns = "bytearray(b'1') * (96 << 20); sum(range(10**7))"
    left("sh", "-c", f"{sys.executable} -I -S -c \"{burns}; open('{tmp_path}/done', 'w')\" &")
    child = spawn(["sh", "-c", f"until [ -e {tmp_path}/done ]; do sleep 0.1; done"], folder=ROOT)
    ended = child.wait()
    assert eventually(lambda: not orphans())

    assert (ended.peak_rss_bytes or 0) < 16 << 20
    assert ended.user_s + ended.system_s < 2
