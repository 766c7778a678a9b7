"""The host collector with its real sampling process."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchyard.collector import Collector, Owned, Reading, StepWindow, used_between
from benchyard.errors import MeasurementError
from benchyard.krown_csv import COLUMNS, COUNTERS
from benchyard.labels import OWNER, labelled, start_time, this_owner
from benchyard.samplers import process, sampler
from benchyard.samplers.host import METRICS_FILE, RAW_FILE, HostCollector
from benchyard.samplers.rows import read_samples

SAMPLE = (
    "name,run,index,step,timestamp,version,cpu_user,cpu_system,cpu_user_system,cpu_idle,"
    "cpu_iowait,memory_ram,memory_swap,memory_ram_swap,disk_read_count,disk_write_count,"
    "disk_read_bytes,disk_write_bytes,disk_read_time,disk_write_time,disk_busy_time,"
    "network_received_count,network_sent_count,network_received_bytes,network_sent_bytes,"
    "network_received_error,network_sent_error,network_received_drop,network_sent_drop"
)


def collector(folder: Path, interval: float = 0.05) -> HostCollector:
    return HostCollector(folder, "case[a=1,b=2]", 3, interval, time.monotonic_ns())


def step(index: int, start: Reading, end: Reading) -> StepWindow:
    return StepWindow(index, start.at_ns, end.at_ns)


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / METRICS_FILE).open(newline="") as stream:
        return list(csv.DictReader(stream))


def sampler_pid(folder: Path) -> int:
    raw = str(folder / RAW_FILE)
    found = psutil.process_iter(["cmdline"])
    return next(p.pid for p in found if raw in (p.info["cmdline"] or []))


def wait_until_dead(pid: int, timeout: float = 30.0) -> bool:
    deadline = time.monotonic() + timeout
    while start_time(pid) is not None and time.monotonic() < deadline:
        time.sleep(0.005)
    return start_time(pid) is None


def test_it_is_a_collector(tmp_path: Path) -> None:
    fits: Collector = collector(tmp_path)
    assert fits.stop([])["name"] == "host"


def test_the_constructor_only_stores(tmp_path: Path) -> None:
    collector(tmp_path / "not there")
    assert list(tmp_path.iterdir()) == []


def test_a_run_leaves_krowns_columns_and_nothing_else(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    start = one.boundary(Owned())
    time.sleep(0.2)
    account = one.stop([step(1, start, one.boundary(Owned()))])

    assert [path.name for path in tmp_path.iterdir()] == [METRICS_FILE]
    text = (tmp_path / METRICS_FILE).read_text()
    assert text.splitlines()[0] == SAMPLE
    found = read(tmp_path)
    assert {(row["name"], row["run"], row["version"]) for row in found} == {
        ("case[a=1,b=2]", "3", "3")
    }
    assert [int(row["index"]) for row in found] == list(range(1, len(found) + 1))
    times = [float(row["timestamp"]) for row in found]
    assert times == sorted(times)
    assert len(found) == int(str(account["samples"])) + 2
    assert account["file"] == METRICS_FILE
    assert account["interval_s"] == 0.05
    assert account["error"] is None
    assert isinstance(account["missed"], int)


def test_defect_08_memory_is_never_zero(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    one.stop([])
    assert min(int(row["memory_ram"]) for row in read(tmp_path)) > 0


def test_counters_start_at_zero(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    one.stop([])
    first = read(tmp_path)[0]
    assert {float(first[name]) for name in COUNTERS if first[name]} == {0.0}


def test_defect_06_a_step_shorter_than_the_interval_keeps_its_rows(tmp_path: Path) -> None:
    one = collector(tmp_path, interval=0.5)
    one.start()
    windows: list[StepWindow] = []
    for index in (1, 2, 3):
        start = one.boundary(Owned())
        time.sleep(0.005)
        windows.append(step(index, start, one.boundary(Owned())))
    one.stop(windows)
    booked = [row["step"] for row in read(tmp_path)]
    assert all(booked.count(str(index)) >= 2 for index in (1, 2, 3))
    assert booked == sorted(booked)


def test_defect_06_readings_just_outside_of_their_step_keep_it(tmp_path: Path) -> None:
    one = collector(tmp_path, interval=10)
    one.start()
    windows: list[StepWindow] = []
    for index in (1, 2):
        one.boundary(Owned())
        start = time.monotonic_ns()
        time.sleep(0.02)
        end = time.monotonic_ns()
        one.boundary(Owned())
        windows.append(StepWindow(index, start, end))
        time.sleep(0.02)
    one.stop(windows)
    assert [row["step"] for row in read(tmp_path)][1:5] == ["1", "1", "2", "2"]


def test_defect_39_the_last_interval_is_not_lost(tmp_path: Path) -> None:
    origin = time.monotonic_ns()
    one = HostCollector(tmp_path, "c", 1, 60, origin)
    one.start()
    last = one.boundary(Owned())
    one.stop([])
    assert float(read(tmp_path)[-1]["timestamp"]) > (last.at_ns - origin) / 1e9
    assert len(read(tmp_path)) == 3


def test_defect_39_stop_joins_the_sampler(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    pid = sampler_pid(tmp_path)
    one.stop([])
    assert start_time(pid) is None


def test_stop_again_returns_the_same(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    account = one.stop([])
    written = (tmp_path / METRICS_FILE).read_bytes()
    one.boundary(Owned())
    assert one.stop([StepWindow(1, 0, 1)]) == account
    assert (tmp_path / METRICS_FILE).read_bytes() == written


def test_stop_without_a_start_says_so(tmp_path: Path) -> None:
    account = collector(tmp_path).stop([])
    assert account["samples"] == 0
    assert account["missed"] is None
    assert account["error"] == "it was not started"
    assert (tmp_path / METRICS_FILE).read_text() == SAMPLE + "\n"


def test_work_before_the_first_sample_is_no_part_of_the_curves(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.boundary(Owned())
    one.start()
    account = one.stop([])
    assert account["boundaries"] == 0
    assert len(read(tmp_path)) == account["samples"]


def test_the_sampler_carries_our_label(tmp_path: Path) -> None:
    one = collector(tmp_path)
    one.start()
    pid = sampler_pid(tmp_path)
    assert (pid, this_owner()) in list(labelled(OWNER))
    assert os.getsid(pid) == pid
    one.stop([])


def test_a_sampler_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("raise SystemExit('no such luck')")
    monkeypatch.setattr(process, "__file__", str(bad))
    one = collector(tmp_path)
    with pytest.raises(MeasurementError, match="no such luck"):
        one.start()
    assert one.stop([])["samples"] == 0


def test_a_sampler_that_stays_silent_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.py").write_text("import time; time.sleep(600)")
    monkeypatch.setattr(process, "__file__", str(tmp_path / "bad.py"))
    monkeypatch.setattr(sampler, "START_TIMEOUT", 0.3)
    with pytest.raises(MeasurementError, match="killed by SIGKILL"):
        collector(tmp_path).start()


def test_a_folder_that_is_not_there_is_a_measurement_error(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="no sampler"):
        collector(tmp_path / "none").start()


def test_a_sampler_that_died_is_told_and_its_samples_are_kept(tmp_path: Path) -> None:
    one = collector(tmp_path, interval=60)
    one.start()
    pid = sampler_pid(tmp_path)
    os.kill(pid, signal.SIGKILL)
    assert wait_until_dead(pid)
    reading = one.boundary(Owned())
    account = one.stop([step(1, reading, reading)])
    assert "SIGKILL" in str(account["error"])
    assert account["missed"] is None
    assert account["samples"] == 1
    assert len(read(tmp_path)) == 2


def test_a_full_disk_is_a_measurement_error_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    one = collector(tmp_path)
    one.start()
    pid = sampler_pid(tmp_path)
    monkeypatch.setattr("benchyard.samplers.host.write_atomically", full)
    for _ in range(2):
        with pytest.raises(MeasurementError, match="No space left"):
            one.stop([])
    assert start_time(pid) is None
    assert (tmp_path / RAW_FILE).exists()


PARENT = """
import sys, time
from pathlib import Path
from benchyard.samplers.host import HostCollector
one = HostCollector(Path(sys.argv[1]), "c", 1, 0.05, time.monotonic_ns())
one.start()
print(flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_the_sampler_dies_with_its_parent_and_its_lines_are_on_disk(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        pid = sampler_pid(tmp_path)
        time.sleep(0.3)
        assert start_time(pid) is not None
        parent.send_signal(signal.SIGKILL)
        parent.wait(30)
        # It takes milliseconds; the bound is for a machine that is busy with something else.
        assert wait_until_dead(pid, timeout=10)
    assert len(list(read_samples(tmp_path / RAW_FILE))) >= 2


def test_defect_18_a_step_of_the_wall_clock_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = collector(tmp_path)
    one.start()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    first = one.boundary(Owned())
    monkeypatch.setattr(time, "time", lambda: 1e12)
    second = one.boundary(Owned())
    one.stop([])
    assert 0 < second.at_ns - first.at_ns < 60e9
    assert all(0 <= float(row["timestamp"]) < 60 for row in read(tmp_path))


def test_defect_25_a_diskless_host_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def diskless(**_: object) -> dict[str, object]:
        return {}

    monkeypatch.setattr(psutil, "disk_io_counters", diskless)
    one = collector(tmp_path)
    reading = one.boundary(Owned())
    assert reading.cumulative["host_disk_read_bytes"] is None
    assert used_between(reading, reading)["host_disk_read_time_s"] is None
    one.start()
    one.boundary(Owned())
    one.stop([])
    assert any(row["disk_read_bytes"] == "" for row in read(tmp_path))
    assert all(row["cpu_user"] for row in read(tmp_path))


def test_a_boundary_names_units_and_counters(tmp_path: Path) -> None:
    reading = collector(tmp_path).boundary(Owned())
    assert all(name.endswith(("_s", "_bytes", "_count")) for name in reading.cumulative)
    assert set(reading.gauges) == {"host_memory_used_bytes", "host_swap_used_bytes"}
    assert {names[0] for names, _ in COUNTERS.values()} == set(reading.cumulative)
    assert set(COLUMNS) >= set(COUNTERS)


def test_a_boundary_counts_the_owned_trees(tmp_path: Path) -> None:
    one = collector(tmp_path)
    before = one.boundary(Owned(pids=[os.getpid()]))
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    used = used_between(before, one.boundary(Owned(pids=[os.getpid()])))
    spent = [used["tree_cpu_user_s"], used["tree_cpu_system_s"]]
    assert sum(value for value in spent if value is not None) >= 0.05


def test_an_owned_process_that_is_gone_is_unknown(tmp_path: Path) -> None:
    reading = collector(tmp_path).boundary(Owned(pids=[2**22 + 1]))
    assert reading.cumulative["tree_cpu_user_s"] is None
