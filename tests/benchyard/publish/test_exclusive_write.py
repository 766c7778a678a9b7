"""Giving a file its name, and never taking the name from another."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchyard.publish.exclusive_write import (
    link_exclusively,
    make_folder,
    write_exclusively,
)
from tests.benchyard.publish.conftest import names, write


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a file system without hard links, such as FAT."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)


@pytest.mark.usefixtures("no_links")
def test_without_links_too_one_of_many_gets_the_name(tmp_path: Path) -> None:
    def one(number: int) -> bool:
        return write_exclusively(tmp_path / "a", str(number).encode(), f"key {number}")

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
        write_exclusively(tmp_path / "a", b"half", "key")
    assert len(names(tmp_path)) == 1
    assert write_exclusively(tmp_path / "a", b"whole", "key")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_the_open_file_is_linked_whatever_its_name_means_now(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "mine")
    with path.open("rb") as stream:
        write(tmp_path / "b", "other").replace(path)
        assert link_exclusively(stream.fileno(), tmp_path / "c") is None, "it has no name any more"
    with path.open("rb") as stream:
        path.rename(tmp_path / "moved")
        write(path, "third")
        assert link_exclusively(stream.fileno(), tmp_path / "c")
        assert link_exclusively(stream.fileno(), tmp_path / "a") is False
    assert (tmp_path / "c").read_text() == "other"
    assert path.read_text() == "third"


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
