"""The two files of curves, from a raw file made by the real sampling process or by hand."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.host.collector import MeasuredRun
from benchyard.host.sampler import owned, process
from benchyard.host.sampler.curves import METRICS_FILE, MOST_TOLD, RESOURCES_FILE, write_curves
from benchyard.host.sampler.process import MAGIC, MISSED, PART
from benchyard.host.sampler.rows import Boundary, StepSpan
from benchyard.results.metrics_csv import COLUMNS as METRICS_COLUMNS
from tests.benchyard.host.sampler.frames import COLUMNS, frame, opened, tick

SECOND = 1_000_000_000


def read(folder: Path, name: str = METRICS_FILE) -> list[dict[str, str]]:
    with (folder / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def measured(folder: Path, origin_ns: int = 0) -> MeasuredRun:
    return MeasuredRun(folder, "case[a=1,b=2]", 3, 0.1, origin_ns)


def written(folder: Path, *frames: bytes) -> Path:
    raw = folder / "raw"
    raw.write_bytes(MAGIC + b"".join(frames))
    return raw


def meminfo(used_kib: int) -> bytes:
    text = f"MemTotal: 100 kB\nMemAvailable: {100 - used_kib} kB\nSwapTotal: 8 kB\nSwapFree: 8 kB\n"
    return text.encode()


def boundary(at_ns: int, memory: int | None = None) -> Boundary:
    known = {} if memory is None else {"memory_ram": memory, "memory_swap": 0}
    return Boundary(at_ns, tuple(known.get(name) for name in COLUMNS))


def execution(step: int, start: int, end: int, memory: int | None = None) -> StepSpan:
    return StepSpan(step, boundary(start, memory), boundary(end, memory))


#: A step that lasts longer than whatever is sampled.
ALWAYS = execution(1, 0, 1000 * SECOND)


def test_a_host_without_hardware_disks_draws_all_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned, "disk_numbers", frozenset)
    raw = written(
        tmp_path,
        opened(0, b"db cgroup:/g io"),
        tick(5 * SECOND, (0, b"7:0 rbytes=5 wbytes=6 rios=1 wios=1\n")),
    )
    write_curves(raw, measured(tmp_path), [ALWAYS], {})
    (row,) = read(tmp_path, RESOURCES_FILE)
    assert (row["disk_read_bytes"], row["disk_write_bytes"]) == ("5", "6")


@pytest.mark.parametrize(
    ("ticks", "spans", "rows"),
    [
        (
            (10, 20, 30),
            ((2, 16, 40), (1, 5, 12), (1, 13, 15)),
            [*((at, "1") for at in (5, 10, 12, 13, 15)), *((at, "2") for at in (16, 20, 30, 40))],
        ),
        (
            (15, 25, 35),
            ((1, 10, 30), (2, 20, 40)),
            [(10, "1"), (15, "1"), (20, "2"), (25, "2"), (30, "1"), (35, "2"), (40, "2")],
        ),
    ],
    ids=["in turn", "side by side"],
)
def test_the_edges_of_commands_are_rows_among_the_samples(
    tmp_path: Path, ticks: Sequence[int], spans: Sequence[Any], rows: list[tuple[int, str]]
) -> None:
    raw = written(tmp_path, *map(tick, ticks))
    write_curves(raw, measured(tmp_path), [execution(*span) for span in spans], {})
    found = [(round(float(row["timestamp"]) * 1e9), row["step"]) for row in read(tmp_path)]
    assert found == rows


def test_defect_17_what_lies_outside_of_commands_is_no_row(tmp_path: Path) -> None:
    raw = written(
        tmp_path,
        opened(0, b"db cgroup:/a memory"),
        tick(5, (0, b"5")),
        *(tick(at) for at in (10, 20, 30, 50)),
    )
    executions = [execution(1, 8, 12), execution(2, 28, 40)]
    made = write_curves(raw, measured(tmp_path), executions, {1: 0, 2: 28})
    assert made.samples == 5
    assert [row["step"] for row in read(tmp_path)] == ["1"] * 3 + ["2"] * 3
    assert [row["step"] for row in read(tmp_path, RESOURCES_FILE)] == ["1", "2"]
    assert [made.sampled[step]["samples"] for step in (1, 2)] == [3, 3]


def test_levels_of_the_attempt_that_decided(tmp_path: Path) -> None:
    levels = ((10, 90), (20, 50), (30, 60), (50, 99))
    ticks = [tick(at, (0, meminfo(used))) for at, used in levels]
    raw = written(tmp_path, opened(0, b"host columns meminfo"), *ticks)
    executions = [execution(1, 5, 12, 99 * 1024), execution(1, 15, 40, 40 * 1024)]
    made = write_curves(raw, measured(tmp_path), executions, {1: 14, 3: 45})
    level, swap = {"min": 40 * 1024, "max": 60 * 1024}, {"min": 0, "max": 0}
    known = {"memory_ram": level, "memory_swap": swap, "memory_ram_swap": level}
    assert made.sampled[1] == {"samples": 4, "levels": known}
    assert made.sampled[3]["samples"] == 0


def test_a_row_that_is_left_out_is_no_sample(tmp_path: Path) -> None:
    line = b"eth0: %d 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
    raw = written(tmp_path, opened(0, b"host columns network"), tick(10, (0, line % 90)))
    # At the end of the command an interface was gone whose counters the sample still has.
    ends = Boundary(20, tuple(1 if name == "network_received_bytes" else None for name in COLUMNS))
    span = StepSpan(1, Boundary(5, ends.values), ends)
    made = write_curves(raw, measured(tmp_path), [span], {1: 0})
    assert made.sampled[1]["samples"] == len(read(tmp_path)) == 2


def test_what_did_not_change_is_as_it_was_and_what_was_not_read_is_no_row(tmp_path: Path) -> None:
    raw = written(
        tmp_path,
        opened(0, b"host columns meminfo"),
        opened(1, b"db cgroup:/a memory"),
        opened(2, b"db tree:7 7/stat"),
        tick(1 * SECOND, (0, meminfo(5)), (1, b"500"), (2, b"7 (x) S"), classes=3),
        tick(2 * SECOND, classes=1),
        frame(process.GONE, PART.pack(1, 0)),
        tick(3 * SECOND, classes=3),
    )
    write_curves(raw, measured(tmp_path), [ALWAYS], {})
    assert [row["memory_ram"] for row in read(tmp_path)][1:-1] == [str(5 * 1024)] * 3
    drawn = [(row["timestamp"], row["what"]) for row in read(tmp_path, RESOURCES_FILE)]
    assert drawn == [("1.0", "cgroup"), ("1.0", "tree"), ("2.0", "cgroup"), ("3.0", "tree")]


def test_gaps_and_notes_are_told_and_not_without_end(tmp_path: Path) -> None:
    late = [frame(process.LATE, MISSED.pack(at * SECOND, 2)) for at in range(300)]
    notes = [frame(process.NOTE, b"none")] * 300
    made = write_curves(written(tmp_path, *late, *notes), measured(tmp_path, -SECOND), [], {})
    assert made.missed == 600
    assert made.gaps[:2] == [(1.0, 2), (2.0, 2)]
    assert len(made.gaps) == len(made.notes) == MOST_TOLD


def test_without_samples_there_is_a_header(tmp_path: Path) -> None:
    made = write_curves(tmp_path / "none", measured(tmp_path), [], {1: 0})
    assert (made.samples, made.files) == (0, [METRICS_FILE])
    assert (tmp_path / METRICS_FILE).read_text() == ",".join(METRICS_COLUMNS) + "\n"
    assert not (tmp_path / RESOURCES_FILE).exists()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_samples(tmp_path: Path) -> None:
    import tracemalloc  # noqa: PLC0415 - it slows what is measured

    peaks: list[int] = []
    for count in (2_000, 20_000):
        files = (opened(0, b"host columns meminfo"), opened(1, b"db cgroup:/a memory"))
        ticks = (tick(at, (0, meminfo(at % 90)), (1, b"%d" % at)) for at in range(count))
        raw = written(tmp_path, *files, *ticks)
        tracemalloc.start()
        write_curves(raw, measured(tmp_path), [ALWAYS], {})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 100_000
