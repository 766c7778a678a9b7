"""Holding a file against other publishers."""

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.publish.file_lock import ClaimedFile, Missed, claimed
from tests.benchyard.publish.conftest import write
from tests.conftest import open_below

Step = Callable[[], object]


@pytest.fixture
def file(spool: Path) -> Path:
    return write(spool / "a.json", "content")


def between_opening_and_locking(monkeypatch: pytest.MonkeyPatch, act: Step) -> None:
    """Let somebody do something just then."""
    flock: Callable[[int, int], None] = fcntl.flock

    def later(descriptor: int, how: int) -> None:
        act()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", later)


def outcome(path: Path) -> object:
    with claimed(path) as held:
        return "claimed" if isinstance(held, ClaimedFile) else held


def test_a_child_does_not_inherit_the_lock(file: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        assert not os.get_inheritable(held.descriptor)


@pytest.mark.parametrize("change", ["archived", "replaced", "linked", "folder gone"])
def test_a_name_that_changes_hands_between_opening_and_locking(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def act() -> None:
        if change == "folder gone":
            file.parent.rename(tmp_path / "elsewhere")
            return
        file.rename(tmp_path / "moved.json")
        if change == "replaced":
            write(file, "content")
        elif change == "linked":
            file.symlink_to(tmp_path / "moved.json")

    between_opening_and_locking(monkeypatch, act)
    assert outcome(file) is Missed.GONE


def test_written_to_between_opening_and_locking_is_seen_as_it_is_then(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between_opening_and_locking(monkeypatch, lambda: file.open("a").close())
    assert outcome(file) == "claimed"


def test_what_is_no_file_is_not_claimed(spool: Path, tmp_path: Path) -> None:
    target = write(tmp_path / "outside.json", "{}")
    (spool / "link.json").symlink_to(target)
    (spool / "folder.json").mkdir()
    os.mkfifo(spool / "pipe.json")
    for name in ("link.json", "folder.json", "pipe.json", "absent.json"):
        assert outcome(spool / name) is Missed.GONE, name


def refusing(monkeypatch: pytest.MonkeyPatch, *modes: int, number: int = errno.EACCES) -> None:
    """Refuse to open in these modes: the tests may run as root, who may do anything."""
    real = os.open

    def opened(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_ACCMODE in modes:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", opened)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_file_that_may_only_be_read_is_claimed(
    file: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    refusing(monkeypatch, os.O_RDWR, number=number)
    assert outcome(file) == "claimed"


def test_it_is_open_for_writing_because_of_nfs(file: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        assert fcntl.fcntl(held.descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


def test_claiming_changes_no_time_and_leaks_nothing(file: Path) -> None:
    os.utime(file, (1_700_000_000, 1_700_000_000))
    for _ in range(5):
        outcome(file)
        outcome(file.with_name("absent"))
    assert file.stat().st_mtime == 1_700_000_000
    assert open_below(file.parent) == []


def test_taking_out_what_is_gone_is_no_error(file: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        file.unlink()
        held.take_out()
