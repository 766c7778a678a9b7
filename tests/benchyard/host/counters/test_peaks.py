"""Peaks inside windows."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.host.counters import peaks
from benchyard.host.counters.peaks import Mark, PeakBook, PeakFile, ProcessPeak


class Level:
    """A gauge whose level tests set."""

    def __init__(self, *, may_reset: bool = True) -> None:
        self.level = self.highest = 0
        self.may_reset = may_reset
        self.gone = False
        self.problem: str | None = None

    def go(self, *levels: int) -> None:
        for level in levels:
            self.level = level
            self.highest = max(self.highest, level)

    def peak(self) -> int | None:
        return None if self.gone else self.highest

    def reset(self) -> bool:
        if self.may_reset:
            self.highest = self.level
        return self.may_reset


def test_a_window_has_a_peak_of_its_own() -> None:
    level = Level()
    book = PeakBook(level)
    level.go(900, 1)
    first = book.mark()
    level.go(50, 2)
    second = book.mark()
    level.go(10, 3)
    third = book.mark()
    assert book.between(first, second) == 50
    assert book.between(second, third) == 10
    assert book.between(first, third) == 50
    assert book.between(None, second) == 900
    assert book.largest == 900


@given(st.lists(st.lists(st.integers(0, 100), min_size=1), min_size=2), st.data())
def test_overlapping_windows(segments: list[list[int]], data: st.DataObject) -> None:
    level = Level()
    book = PeakBook(level)
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


def test_without_beginning_anew_a_new_height_is_exact_and_anything_else_unknown() -> None:
    level = Level(may_reset=False)
    book = PeakBook(level)
    level.go(100, 1)
    first = book.mark()
    level.go(300, 1)
    second = book.mark()
    level.go(200, 1)
    third = book.mark()
    assert book.between(first, second) == 300
    assert book.between(second, third) is None
    assert book.between(first, third) == 300
    assert book.largest == 300


def test_what_is_gone_is_not_known() -> None:
    level = Level()
    book = PeakBook(level)
    first = book.mark()
    level.gone = True
    assert book.between(first, book.mark()) is None
    assert book.between(Mark(0, None), first) is None


def test_a_process_gives_its_peak_and_begins_anew() -> None:
    gauge = ProcessPeak(os.getpid())
    held = bytearray(os.urandom(2**20) * 64)
    high = gauge.peak()
    del held
    assert gauge.reset()
    low = gauge.peak()
    assert high is not None
    assert low is not None
    assert high - low > 60 * 2**20


def test_a_process_that_is_gone_has_no_peak() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    gauge = ProcessPeak(pid)
    assert gauge.peak() is None
    assert not gauge.reset()


def test_an_old_kernel_does_not_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.peak"
    path.write_text("4096\n")

    def refuse(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(peaks.os, "pwrite", refuse)
    gauge = PeakFile(path)
    assert gauge.is_open
    assert gauge.peak() == 4096
    assert not gauge.reset()
    gauge.close()
    assert gauge.peak() is None
    assert not PeakFile(tmp_path / "none").is_open
