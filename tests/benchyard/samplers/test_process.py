"""The sampling process: deadlines, lines, and its end with its parent."""

import io
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.samplers import process
from benchyard.samplers.rows import read_samples

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("now", "expected"),
    [(0, (100, 0)), (99, (100, 0)), (100, (200, 1)), (250, (300, 2)), (-5, (100, 0))],
)
def test_the_next_deadline_is_in_the_future(now: int, expected: tuple[int, int]) -> None:
    assert process.next_deadline(0, now, 100) == expected


@given(st.lists(st.integers(0, 10**12), min_size=1), st.integers(1, 10**10))
def test_defect_07_what_a_sample_costs_shifts_no_deadline(costs: list[int], interval: int) -> None:
    due = missed = 0
    for cost in costs:
        now = due + cost
        due, passed = process.next_deadline(due, now, interval)
        missed += passed
        assert now < due <= now + interval
    assert due == (len(costs) + missed) * interval


def test_defect_07_the_mean_period_is_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=7 * SECOND, ends=17 * SECOND)

    def slow_reading() -> process.Values:
        clock.now += SECOND // 20
        return (None,) * len(process.COLUMNS)

    def wait(_r: Any, _w: Any, _x: Any, timeout: float) -> tuple[list[int], list[int], list[int]]:
        clock.now += round(timeout * 1e9)
        return ([0], [], []) if clock.now >= clock.ends else ([], [], [])

    monkeypatch.setattr(process, "read_host", slow_reading)
    monkeypatch.setattr(process.time, "monotonic_ns", lambda: clock.now)
    monkeypatch.setattr(process.select, "select", wait)
    stream = io.StringIO()

    samples, missed = process.sample(stream, 0.1)

    times = [int(line.split(",")[0]) for line in stream.getvalue().splitlines()]
    assert (samples, missed) == (101, 0)
    assert (times[-1] - times[0]) / (len(times) - 1) == pytest.approx(0.1 * SECOND)


def test_missed_deadlines_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0, readings=0)

    def stalled_reading() -> process.Values:
        clock.readings += 1
        clock.now += 35 * SECOND // 100 if clock.readings == 1 else 0
        return ()

    def wait(_r: Any, _w: Any, _x: Any, timeout: float) -> tuple[list[int], list[int], list[int]]:
        clock.now += round(timeout * 1e9)
        return ([0] if clock.readings == 3 else [], [], [])

    monkeypatch.setattr(process, "read_host", stalled_reading)
    monkeypatch.setattr(process.time, "monotonic_ns", lambda: clock.now)
    monkeypatch.setattr(process.select, "select", wait)

    assert process.sample(io.StringIO(), 0.1) == (4, 3)


def test_defect_25_a_diskless_host_has_unknown_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    def diskless(**_: object) -> dict[str, object]:
        return {}

    monkeypatch.setattr(psutil, "disk_io_counters", diskless)
    host = dict(zip(process.COLUMNS, process.read_host(), strict=True))
    assert {host[name] for name in host if name.startswith("disk_")} == {None}
    assert host["cpu_user"] is not None


def test_what_the_system_refuses_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError

    for name in ("cpu_times", "disk_io_counters", "net_io_counters"):
        monkeypatch.setattr(psutil, name, refuse)
    monkeypatch.setattr(Path, "read_text", refuse)
    assert process.read_host() == (None,) * len(process.COLUMNS)


def test_partitions_and_loops_are_not_counted_beside_their_disk() -> None:
    for name in process.real_disks():
        assert Path("/sys/block", name, "device").exists()
        assert not name.startswith(("loop", "ram", "zram", "dm-"))


def test_a_line_keeps_numbers_exactly_and_leaves_unknown_empty() -> None:
    assert process.line_of(12, (0.1 + 0.2, 7, None)) == "12,0.30000000000000004,7,\n"


def started(raw: Path, interval: float) -> "subprocess.Popen[bytes]":
    popen = subprocess.Popen(
        [sys.executable, "-I", process.__file__, str(raw), str(interval)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert popen.stdout is not None
    assert select.select([popen.stdout], [], [], 30)[0]
    assert popen.stdout.readline() == b"ready\n"
    return popen


def test_it_ends_when_its_input_does(tmp_path: Path) -> None:
    with started(tmp_path / "raw", 0.02) as popen:
        out, _ = popen.communicate(timeout=30)
    account = json.loads(out)
    samples = list(read_samples(tmp_path / "raw"))
    # The first one at once, and the last one at the end: no interval is lost.
    assert account["samples"] == len(samples) >= 2
    assert popen.returncode == 0


def test_a_dead_listener_costs_no_samples(tmp_path: Path) -> None:
    popen = started(tmp_path / "raw", 10)
    assert popen.stdin is not None
    assert popen.stdout is not None
    popen.stdout.close()
    popen.stdin.close()
    popen.wait(30)
    assert len(list(read_samples(tmp_path / "raw"))) == 2


def test_its_lines_survive_its_own_death(tmp_path: Path) -> None:
    with started(tmp_path / "raw", 10) as popen:
        os.kill(popen.pid, signal.SIGKILL)
        popen.wait(30)
    assert len(list(read_samples(tmp_path / "raw"))) == 1
