"""Kernel files that stay open."""

import errno
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.counters import kernel
from benchyard.host.counters.kernel import KernelFile, Traffic, carried, read_network, why_unknown


@pytest.mark.parametrize("records", [False, True])
def test_any_size_is_read_again_and_again(tmp_path: Path, records: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    file = KernelFile(path, records=records)
    for content in (b"one", b"three", b"", os.urandom(100_000)):
        path.write_bytes(content)
        assert file.read() == file.read() == content
    file.close()
    assert file.read() is None
    file.close()


@pytest.mark.parametrize(
    ("name", "problem"),
    [("none", "No such file or directory"), ("", "Is a directory"), (None, None)],
)
def test_what_cannot_be_read_says_why(
    tmp_path: Path, name: str | None, problem: str | None
) -> None:
    file = KernelFile(None if name is None else tmp_path / name)
    assert file.is_open == (name == "")
    assert file.read() is None
    assert file.problem == problem
    file.close()
    assert name is None or kernel.read_once(str(tmp_path / name)) is None


def test_a_list_that_the_kernel_hands_out_in_parts_is_whole() -> None:
    file = KernelFile(Path("/proc/self/maps"), records=True)
    content = file.read()
    file.close()
    assert len(content or b"") > os.sysconf("SC_PAGE_SIZE")
    last = Path("/proc/self/maps").read_bytes().splitlines()[-1]
    assert (content or b"").splitlines()[-1] == last


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


class Level(kernel.ProcessPeak):
    """A gauge whose level tests set."""

    level = highest = 0

    def go(self, *levels: int) -> None:
        self.level = levels[-1]
        self.highest = max(self.highest, *levels)

    def peak(self) -> int | None:
        return self.highest

    def reset(self) -> bool:
        self.highest = self.level
        return True


@given(st.lists(st.lists(st.integers(0, 100), min_size=1), min_size=2), st.data())
def test_overlapping_windows(segments: list[list[int]], data: st.DataObject) -> None:
    level = Level(os.getpid())
    book = kernel.PeakBook(level)
    marks = [book.mark()]
    standing = [0]
    for segment in segments:
        standing.append(level.level)
        level.go(*segment)
        marks.append(book.mark())
    start = data.draw(st.integers(0, len(segments) - 1))
    end = data.draw(st.integers(start + 1, len(segments)))
    inside = [standing[start + 1], *(value for part in segments[start:end] for value in part)]
    assert book.between(marks[start], marks[end]) == max(inside)
    assert book.between(None, marks[end]) == max(map(max, segments[:end]))
    assert book.largest == max(map(max, segments))


LINE = b"eth0: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\nlo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n"


def test_the_labs_own_namespace_is_nobodys_else_and_one_that_ended_has_none() -> None:
    assert read_network(os.getpid()) == read_network(None) == Traffic()
    assert why_unknown(Traffic(), Traffic()) == "it has no network namespace of its own"
    with subprocess.Popen(["/bin/true"]) as ended:
        pass
    assert "has ended" in why_unknown(Traffic(), read_network(ended.pid))


def test_a_namespace_that_may_not_be_read_is_not_taken_for_the_labs_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuse = Mock(side_effect=PermissionError(errno.EACCES, "Permission denied"))
    monkeypatch.setattr(kernel, "_namespace", refuse)
    hidden = read_network(1)
    assert not hidden.name
    assert "may not be read" in why_unknown(Traffic(), hidden)


def test_loopback_is_left_out_and_what_changed_is_not_known() -> None:
    start, end = Traffic("net:1", LINE % (10, 20)), Traffic("net:1", LINE % (15, 27))
    assert carried(start, end, began_inside=False) == (5, 7)
    assert carried(Traffic(), end, began_inside=True) == (15, 27)
    for before, after in ((Traffic(), end), (end, start)):
        assert carried(before, after, began_inside=False) is None
    for after in (Traffic(), end._replace(name="net:2")):
        assert carried(start, after, began_inside=True) is None
    assert "changed" in why_unknown(Traffic(), end)
