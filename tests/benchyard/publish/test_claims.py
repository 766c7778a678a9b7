"""Holding a file against other publishers."""

import errno
import fcntl
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchyard.publish.claims import ClaimedFile, claimed, copy_new, make_folder, write_new
from tests.benchyard.publish.conftest import names, raising, write
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


def is_claimed(path: Path) -> bool:
    with claimed(path) as held:
        return held is not None


def test_it_is_open_for_writing_because_of_nfs_and_no_child_inherits_it(file: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        assert fcntl.fcntl(held.descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
        assert not os.get_inheritable(held.descriptor)


@pytest.mark.parametrize("change", ["archived", "replaced", "linked", "folder gone", "written"])
def test_a_name_that_changes_hands_between_opening_and_locking(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def act() -> None:
        if change == "folder gone":
            file.parent.rename(tmp_path / "elsewhere")
            return
        if change == "written":
            file.open("a").close()
            return
        file.rename(tmp_path / "moved.json")
        if change == "replaced":
            write(file, "content")
        elif change == "linked":
            file.symlink_to(tmp_path / "moved.json")

    between_opening_and_locking(monkeypatch, act)
    assert is_claimed(file) is (change == "written")


def test_what_is_no_file_is_not_claimed(spool: Path, tmp_path: Path) -> None:
    target = write(tmp_path / "outside.json", "{}")
    (spool / "link.json").symlink_to(target)
    (spool / "folder.json").mkdir()
    os.mkfifo(spool / "pipe.json")
    for name in ("link.json", "folder.json", "pipe.json", "absent.json"):
        assert not is_claimed(spool / name), name


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_file_that_may_only_be_read_is_claimed(
    file: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Opening for writing is refused: the tests may run as root, who may do anything."""
    real = os.open

    def opened(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_ACCMODE == os.O_RDWR:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", opened)
    assert is_claimed(file)


def test_claiming_changes_no_time_and_leaks_nothing(file: Path) -> None:
    os.utime(file, (1_700_000_000, 1_700_000_000))
    for _ in range(5):
        is_claimed(file)
        is_claimed(file.with_name("absent"))
    assert file.stat().st_mtime == 1_700_000_000
    assert open_below(file.parent) == []


def test_taking_out_what_is_gone_is_no_error(file: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        file.unlink()
        held.take_out()


# -- names that are free, or not


@pytest.mark.parametrize("links", [True, False])
def test_one_of_many_gets_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:  # as on a file system such as FAT
        monkeypatch.setattr(os, "link", raising(PermissionError(1, "Operation not permitted")))

    def one(number: int) -> bool:
        return write_new(tmp_path / "a", str(number).encode(), f"key {number}")

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(one, range(60)))
    assert done.count(True) == 1
    assert (tmp_path / "a").read_text() == str(done.index(True))
    assert names(tmp_path) == ["a"]


def test_what_was_begun_under_the_same_key_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        unlink: Callable[..., None] = lambda *_, **__: None  # noqa: E731
        killed.setattr(Path, "unlink", unlink)
        killed.setattr(os, "link", unlink)
        write_new(tmp_path / "a", b"half", "key")
    assert len(names(tmp_path)) == 1
    assert write_new(tmp_path / "a", b"whole", "key")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_file_whose_name_means_another_by_now_is_copied(file: Path, tmp_path: Path) -> None:
    with claimed(file) as held:
        assert isinstance(held, ClaimedFile)
        write(tmp_path / "b", "other").replace(file)
        assert copy_new(tmp_path / "c", held)
        assert not copy_new(tmp_path / "c", held)
        held.take_out()
    assert (tmp_path / "c").read_text() == "content"
    assert file.read_text() == "other"


def test_a_folder_with_its_parents_is_brought_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync: Callable[[int], None] = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    make_folder(tmp_path / "a" / "b")
    assert synced == [str(tmp_path / "a"), str(tmp_path)]
    make_folder(tmp_path / "a" / "b")
    assert len(synced) == 2
