"""Files that survive a full disk and a power cut."""

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.core.errors import WrongFileError
from benchyard.core.files import (
    content,
    files_below,
    inside,
    remove_tree,
    sha256,
    write_atomically,
    write_json,
)
from benchyard.core.model import Json
from tests.benchyard.publish.conftest import disk_of


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- writing


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_atomically(file, "é")
    assert file.read_bytes() == "é".encode()
    write_atomically(file, b"\xff")
    assert file.read_bytes() == b"\xff"
    assert names(tmp_path) == ["a.txt"]


def test_a_reader_keeps_the_old_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_atomically(file, "old")
    with file.open() as reader:
        write_atomically(file, "new and longer")
        assert reader.read() == "old"
    assert file.read_text() == "new and longer"


def test_a_folder_that_is_not_there_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as told:
        write_atomically(tmp_path / "none" / "a.txt", "new")
    assert told.value.filename == str(tmp_path / "none" / "a.txt")


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("where", "error"), [("fsync", FULL), ("replace", FULL), ("fsync", KeyboardInterrupt())]
)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: BaseException
) -> None:
    file = tmp_path / "a.txt"
    write_atomically(file, "old")
    monkeypatch.setattr(os, where, Mock(side_effect=error))
    with pytest.raises(type(error)):
        write_atomically(file, "new")
    assert file.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.requires("mount")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    with disk_of(tmp_path, "64k") as disk:
        _fill(disk)


def _fill(disk: Path) -> None:
    file = disk / "run.json"
    write_json(file, {"old": True})
    with pytest.raises(OSError, match="No space left on device"):
        write_json(file, {"new": "x" * 1_000_000})
    assert json.loads(file.read_text()) == {"old": True}
    assert names(disk) == ["run.json"]
    write_json(file, {"new": True})
    assert json.loads(file.read_text()) == {"new": True}


def test_order_is_write_sync_rename_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync: Callable[[int], None] = os.fsync

    def noted(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append(f"{'folder' if folder else 'file'} with {names(tmp_path)[-1]}")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_atomically(tmp_path / "a", "x")
    assert done == [f"file with .a.{os.getpid()}.new", "folder with a"]


def test_results_are_not_writable_for_everybody(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_json_knows_no_nan(tmp_path: Path, value: Json) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", value)
    assert names(tmp_path) == []


def test_names_that_are_no_text_are_written_as_json(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.csv")
    write_json(tmp_path / "a.json", {"path": name, "good": "é→😀"})
    text = (tmp_path / "a.json").read_text()
    assert "é→😀" in text
    assert json.loads(text) == {"path": name, "good": "é→😀"}


@settings(deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    )
)
def test_json_is_read_back(tmp_path_factory: pytest.TempPathFactory, value: Json) -> None:
    file = tmp_path_factory.getbasetemp() / "read_back.json"
    write_json(file, value)
    assert json.dumps(json.loads(file.read_bytes())) == json.dumps(value)


# -- trees


def test_files_below_are_regular_files_in_order(tmp_path: Path) -> None:
    for name in ("b/z", "b/a/x", "a", "c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "linked").symlink_to("b")
    os.mkfifo(tmp_path / "pipe")
    found = [str(file.relative_to(tmp_path)) for file in files_below(tmp_path)]
    assert found == ["a", "c", "b/z", "b/a/x"]


def test_whatever_is_there_is_removed_and_no_link_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "inner").symlink_to(tmp_path / "kept")
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "tree", "file", "dangling", "pipe", "absent"):
        remove_tree(tmp_path / name)
    assert names(tmp_path) == ["kept"]
    assert names(tmp_path / "kept") == ["file"]


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(tmp_path / "a") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


# -- inside


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("a", "a"),
        ("sub/a", "sub/a"),
        ("sub/../a", "a"),
        ("absent/deep", "absent/deep"),
        ("link", "a"),
        (".", "."),
        ("loop", "loop"),
        ("..", None),
        ("../x", None),
        ("/etc/passwd", None),
        ("out", None),
        ("out/passwd", None),
        ("up", None),
        ("sub/up/x", None),
    ],
)
def test_inside(tmp_path: Path, name: str, there: str | None) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").touch()
    (folder / "link").symlink_to("a")
    (folder / "loop").symlink_to("loop")
    (folder / "out").symlink_to("/etc")
    (folder / "up").symlink_to("../folderish")
    (folder / "sub" / "up").symlink_to("../..")
    (tmp_path / "folderish").mkdir()  # its name begins like the folder's, and it is outside
    found = inside(folder, name)
    assert found == (None if there is None else (folder / there).absolute())


def test_inside_of_a_folder_that_is_itself_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert inside(tmp_path / "link", "a") == tmp_path / "real" / "a"


def test_what_blocks_or_never_ends_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, what in (("pipe", "named pipe"), ("zero", "device")):
        with pytest.raises(OSError, match=f"{name} is a {what}, not a file"):
            content(tmp_path / name)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(WrongFileError, match=r"huge has more than 67,108,864 bytes"):
        content(tmp_path / "huge")
    # The kernel says that it has no bytes.
    with pytest.raises(WrongFileError, match=r"has more than 10 bytes"):
        content(Path("/proc/self/status"), 10)
    assert content(Path("/proc/self/comm"), 100)
