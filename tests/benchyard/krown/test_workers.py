"""Reading with several processes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.errors import RecordError
from benchyard.krown import scanning, workers
from benchyard.krown.workers import scan_files

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


def test_no_file_is_nothing() -> None:
    assert scan_files([]) == []


@pytest.mark.parametrize("alone", [1 << 30, -1])
def test_what_cannot_be_read_is_named(
    files: list[Path], alone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_ALONE", alone)
    files[1].write_text("not,metrics\n")
    with pytest.raises(RecordError, match=r"run_2/metrics.csv: .* no header .* move its run away"):
        scan_files(files)
    files[1].unlink()
    with pytest.raises(RecordError, match=r"run_2/metrics.csv: .* No such file"):
        scan_files(files)


def test_a_process_that_dies_is_told(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dies.py"
    program.write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(workers, "_ALONE", -1)
    monkeypatch.setattr(scanning, "__file__", str(program))
    with pytest.raises(RecordError, match="ended early"):
        scan_files(files)
