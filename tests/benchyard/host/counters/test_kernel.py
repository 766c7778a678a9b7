"""Kernel files that stay open."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchyard.host.counters.kernel import KernelFile, read_once


def test_it_is_read_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    file = KernelFile(path)
    assert file.read() == b"one"
    path.write_bytes(b"three")
    assert file.read() == b"three"
    path.write_bytes(b"")
    assert file.read() == b""
    file.close()
    assert file.read() is None
    file.close()


@pytest.mark.parametrize("records", [False, True])
def test_any_size_is_read(tmp_path: Path, records: bool) -> None:
    path = tmp_path / "file"
    content = os.urandom(100_000)
    path.write_bytes(content)
    file = KernelFile(path, records=records)
    assert file.read() == content
    assert file.read() == content
    file.close()


def test_a_list_that_the_kernel_hands_out_in_parts_is_whole() -> None:
    file = KernelFile(Path("/proc/self/maps"), records=True)
    content = file.read()
    file.close()
    assert content
    assert len(content) > os.sysconf("SC_PAGE_SIZE")
    last = Path("/proc/self/maps").read_bytes().splitlines()[-1]
    assert content.splitlines()[-1] == last


def test_what_is_not_there_says_why(tmp_path: Path) -> None:
    file = KernelFile(tmp_path / "none")
    assert not file.is_open
    assert file.read() is None
    assert file.problem == "No such file or directory"
    assert read_once(str(tmp_path / "none")) is None


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    file = KernelFile(tmp_path)
    assert file.read() is None
    assert file.problem == "Is a directory"
    file.close()
    assert read_once(str(tmp_path)) is None


def test_a_process_that_is_gone_gives_nothing() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    file = KernelFile(Path(f"/proc/{pid}/stat"))
    os.waitpid(pid, 0)
    assert file.read() is None
    assert file.problem == "No such process"
    file.close()


def test_what_has_no_place_here_is_never_open() -> None:
    file = KernelFile(None)
    assert not file.is_open
    assert file.read() is None
    assert file.problem is None
    assert not file.name
    file.close()


def test_threads_that_read_at_the_same_time_get_it_whole(tmp_path: Path) -> None:
    content = os.urandom(300_000)
    path = tmp_path / "file"
    path.write_bytes(content)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            file = KernelFile(path)
            found = [pool.submit(file.read) for _ in range(16)]
            assert all(one.result() == content for one in found)
            file.close()


def test_one_that_is_closed_while_it_is_read_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = KernelFile(Path("/proc/self/stat"))
    pread = os.pread

    def close_first(descriptor: int, size: int, offset: int) -> bytes:
        file.close()
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", close_first)
    assert file.read() is None
