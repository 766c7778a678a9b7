"""Reading with several processes."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.core.errors import RecordError
from benchyard.results.krown import scanning, workers
from benchyard.results.krown.workers import scan_files

WriteMetrics = Callable[..., Path]


@pytest.fixture
def files(write_metrics: WriteMetrics) -> list[Path]:
    def rows(run: int) -> list[tuple[int, float, int]]:
        return [(1 + n // 90, n / 10, 4096 * (n * 31 * run % 97 + 1)) for n in range(1, 400)]

    return [write_metrics(*rows(run), run=run) for run in (1, 2, 3)]


@pytest.mark.parametrize("part", [300, 5000, 1 << 30])
def test_processes_find_what_one_finds(
    files: list[Path], part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = json.dumps([scanning.scan(str(path)) for path in files])
    monkeypatch.setattr(workers, "_PART", part)
    monkeypatch.setattr(workers, "_ALONE", -1)
    assert json.dumps(scan_files(files)) == alone


def wrong(files: list[Path]) -> str:
    """Scan three files, and return what is wrong with the second one; the others are read."""
    one, error, other = scan_files(files)
    assert isinstance(error, RecordError)
    assert not isinstance(one, RecordError)
    assert not isinstance(other, RecordError)
    return str(error)


def test_no_file_is_nothing() -> None:
    assert scan_files([]) == []


@pytest.mark.parametrize("alone", [1 << 30, -1])
def test_what_cannot_be_read_is_named(
    files: list[Path], alone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_ALONE", alone)
    files[1].write_text("not,metrics\n")
    assert re.search(r"run_2/metrics.csv: .* no header .* move its run away", wrong(files))
    files[1].unlink()
    assert re.search(r"run_2/metrics.csv: .* No such file", wrong(files))
    files[1].mkdir()
    assert "run_2/metrics.csv: " in wrong(files)
    assert "no regular file" in wrong(files)
    files[1].rmdir()
    os.mkfifo(files[1])
    assert "no regular file" in wrong(files)


def test_a_line_without_an_end_in_sight_is_no_table(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with files[1].open("ab") as stream:
        stream.write(b"\0" * (scanning.LONGEST_LINE + 2 * scanning.BLOCK))
    for alone in (1 << 30, -1):
        monkeypatch.setattr(workers, "_ALONE", alone)
        assert "a line of more than 1,048,576 bytes" in wrong(files)


def test_rows_that_alternate_between_steps_are_no_table(
    write_metrics: WriteMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each row would be kept in memory."""
    path = write_metrics(*((1 + n % 2, n / 10, 5) for n in range(1, 40)))
    monkeypatch.setattr(scanning, "_MOST_PARTS", 30)
    for part in (1 << 30, 300):
        monkeypatch.setattr(workers, "_PART", part)
        [error] = scan_files([path])
        assert "its step changes more than 30 times" in str(error)


def test_a_process_that_dies_is_told(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dies.py"
    program.write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(workers, "_ALONE", -1)
    monkeypatch.setattr(scanning, "__file__", str(program))
    found = scan_files(files)
    assert all(isinstance(one, RecordError) and "ended early" in str(one) for one in found)
