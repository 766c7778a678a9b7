"""The collector of this host, with its real sampling process and the kernel's real counters."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import psutil
import pytest

from benchyard.core.errors import MeasurementError
from benchyard.host import sampler
from benchyard.host.checks.suspicion import WAIT_VARIABLE, suspicions
from benchyard.host.collector import MeasuredRun, Used
from benchyard.host.measuring import RAW_FILE, LocalCollector
from benchyard.host.sampler import process
from benchyard.host.sampler.curves import METRICS_FILE, RESOURCES_FILE
from benchyard.host.sampler.process import PROCESSES
from benchyard.host.sampler.raw import Tick, read_raw
from benchyard.process.children import spawn
from benchyard.process.labels import start_time
from benchyard.process.usage import Ended, LifeSpan, Owned
from benchyard.results.metrics_csv import COLUMNS, COUNTERS
from tests.benchyard.host.counters.conftest import Worker
from tests.children import speaking
from tests.conftest import eventually

CPU = "resource_cpu_s"


def collector(folder: Path, interval: float = 0.05, **lab: int) -> LocalCollector:
    run = MeasuredRun(folder, "case[a=1,b=2]", 3, interval, time.monotonic_ns(), lab)
    return LocalCollector(run)


def measured(
    one: LocalCollector, index: int, work: Callable[[], object], owned: Owned | None = None
) -> tuple[tuple[int, int], Used]:
    """Measure ``work`` as the engine does; return instants around both boundaries, and usage."""
    start = time.monotonic_ns()
    before = one.boundary(owned or Owned(), begins=True)
    work()
    after = one.boundary(owned or Owned(), begins=False)
    used = one.used(before, after, step=index)
    return (start, time.monotonic_ns()), used


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / METRICS_FILE).open(newline="") as stream:
        return list(csv.DictReader(stream))


def started(folder: Path, interval: float = 0.05) -> tuple[LocalCollector, int]:
    """Start a collector; give it and the process id of its sampler."""
    one = collector(folder, interval)
    one.start()
    raw, every = str(folder / RAW_FILE), psutil.process_iter(["cmdline"])
    return one, next(p.pid for p in every if raw in (p.info["cmdline"] or []))


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_run_leaves_krowns_columns_and_nothing_else(tmp_path: Path) -> None:
    one, pid = started(tmp_path)
    (begun, _), used = measured(one, 1, lambda: burn(0.3))
    account = one.stop({1: begun})
    assert (start_time(pid), account.stops) == (None, [])
    # -- the curves
    assert [path.name for path in tmp_path.iterdir()] == [METRICS_FILE]
    text = (tmp_path / METRICS_FILE).read_text()
    assert text.splitlines()[0] == ",".join(COLUMNS)
    found = read(tmp_path)
    of = {(row["name"], row["run"], row["version"]) for row in found}
    assert of == {("case[a=1,b=2]", "3", "3")}
    assert [int(row["index"]) for row in found] == list(range(1, len(found) + 1))
    times = [float(row["timestamp"]) for row in found]
    assert times == sorted(times)
    assert {float(found[0][name]) for name in COUNTERS if found[0][name]} == {0.0}
    # -- what they show, without reading them again
    sampled = cast("dict[str, Any]", account.sampled[1])
    assert 2 < len(found) == sampled["samples"] <= int(str(account.facts["samples"])) + 2
    booked = [int(row["memory_ram"]) for row in found]
    level = sampled["levels"]["memory_ram"]
    assert 0 < min(booked) <= level["min"] <= level["max"] <= max(booked)  # defect 08
    # -- the account
    told = [account.facts[name] for name in ("files", "interval_s", "error")]
    assert told == [[METRICS_FILE], 0.05, None]
    assert isinstance(account.facts["missed"], int)
    assert int(str(account.facts["sampler_peak_rss_bytes"])) < 15 << 20
    # -- the boundaries
    assert all(name.endswith(("_s", "_bytes", "_count", "_j")) for name in used.metrics)
    assert {name for names, _ in COUNTERS.values() for name in names} <= set(used.metrics)
    assert not any(name.startswith("resource_") for name in used.metrics)
    # -- again
    assert one.stop({1: 0}) == account
    assert (tmp_path / METRICS_FILE).read_text() == text


def test_defect_06_a_step_shorter_than_the_interval_keeps_its_rows(tmp_path: Path) -> None:
    one, _ = started(tmp_path, 0.5)
    spans = {index: measured(one, index, lambda: time.sleep(0.005))[0] for index in (1, 2, 3)}
    one.stop({index: begun for index, (begun, _) in spans.items()})
    booked = [row["step"] for row in read(tmp_path)]
    assert all(booked.count(str(index)) >= 2 for index in (1, 2, 3))
    assert booked == sorted(booked)


def test_what_phases_and_pauses_use_is_in_no_row(tmp_path: Path) -> None:
    one = collector(tmp_path, interval=0.01)
    measured(one, 1, int)  # before the first sample
    one.start()
    begun = time.monotonic_ns()
    before = one.boundary(Owned(), begins=True)
    time.sleep(0.1)  # a database starts
    one.used(before, one.boundary(Owned(), begins=False))
    (start, end), _ = measured(one, 1, int)
    time.sleep(0.1)  # and is stopped
    account = one.stop({1: begun})
    assert int(str(account.facts["samples"])) > 2
    times = [float(row["timestamp"]) for row in read(tmp_path)]
    assert account.facts["boundaries"] == 2 <= len(times)
    assert times[-1] - times[0] <= (end - start) / 1e9
    assert cast("dict[str, Any]", account.sampled[1])["samples"] == len(times)


def test_stop_while_the_sampler_starts_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = collector(tmp_path)
    made: list[sampler.Sampler] = []

    def slow(*given: Any) -> sampler.Sampler:
        made.append(sampler.start_sampler(*given))
        one.stop({})
        return made[0]

    monkeypatch.setattr("benchyard.host.measuring.start_sampler", slow)
    with pytest.raises(MeasurementError, match="stopped while it started"):
        one.start()
    assert start_time(made[0].pid) is None


def test_a_stop_of_the_sampler_is_told(tmp_path: Path) -> None:
    one, pid = started(tmp_path)

    def stopped() -> None:
        os.kill(pid, signal.SIGSTOP)
        assert eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, 60)
        os.kill(pid, signal.SIGCONT)

    (start, end), _ = measured(one, 1, stopped)
    (stop,) = [s for s in one.stop({1: start}).stops if s.who == "the lab's sampler"]
    assert stop.since_ns <= end
    assert stop.until_ns >= start


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit('no such luck')", "no such luck"),
        ("import time; time.sleep(60)", r"within 0.5 s: killed by SIGKILL"),
    ],
)
def test_a_sampler_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(program)
    monkeypatch.setattr(process, "__file__", str(bad))
    monkeypatch.setattr(sampler, "START_TIMEOUT", 0.5 if "sleep" in program else 60)
    one = collector(tmp_path)
    with pytest.raises(MeasurementError, match=why):
        one.start()
    assert one.stop({}).facts["samples"] == 0


@pytest.mark.parametrize("dies", [True, False])
def test_defect_39_a_sampler_that_died_is_told_and_no_sample_is_lost(
    tmp_path: Path, *, dies: bool
) -> None:
    one, pid = started(tmp_path, 60)
    if dies:
        os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: start_time(pid) is None, 30)
        one.watch("Process", Owned(pids=[os.getpid()]))  # nobody listens, and nothing happens
    facts = one.stop({1: measured(one, 1, int)[0][0]}).facts
    assert ("SIGKILL" in str(facts["error"])) is (facts["missed"] is None) is dies
    assert facts["samples"] == 2 - dies  # the first one and the last
    assert len(read(tmp_path)) == 2  # the edges of the step


def test_curves_that_cannot_be_written_do_not_take_the_rest_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, pid = started(tmp_path)
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("benchyard.core.files.os.fsync", full)
    account = one.stop({})
    assert one.stop({}) == account
    raw = tmp_path / RAW_FILE
    said = f"cannot be written: No space left on device; the samples are kept in {raw}"
    assert said in str(account.facts["error"])
    assert account.facts["sampler_peak_rss_bytes"] is not None
    assert start_time(pid) is None
    assert list(tmp_path.iterdir()) == [raw]


def test_defect_18_a_step_of_the_wall_clock_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = started(tmp_path)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    first = one.boundary(Owned(), begins=True)
    monkeypatch.setattr(time, "time_ns", lambda: 10**21)
    second = one.boundary(Owned(), begins=False)
    used = one.used(first, second)
    one.stop({})
    assert (first.wall_ns, second.wall_ns) == (0, 10**21)
    assert 0 < second.at_ns - first.at_ns < 60e9
    length = (second.at_ns - first.at_ns) / 1e9
    assert used.suspect == suspicions(used.metrics, length, os.cpu_count() or 1)
    assert all(0 <= float(row["timestamp"]) < 60 for row in read(tmp_path))


def test_what_an_owned_process_uses_is_told_apart_or_has_a_reason(tmp_path: Path) -> None:
    one, owned = collector(tmp_path), Worker()
    cpu_s = measured(one, 1, lambda: owned.burn(0.1), Owned(pids=[owned.pid]))[1].metrics[CPU]
    owned.kill()
    assert 0.1 <= (cpu_s or 0) < 0.2
    assert (cpu_s or 0) * 100 % 1 != 0, "not in ticks"
    one = collector(tmp_path)
    _, used = measured(one, 1, int, Owned(pids=[2**22 + 1]))
    unknown = cast("dict[str, str]", one.stop({}).facts["unknown"])
    assert CPU in unknown
    assert {name for name, value in used.metrics.items() if value is None} == set(unknown)
    assert all(unknown.values())


#: Pins to one CPU: otherwise the kernel may run the step on one CPU and its neighbours on another.
ON_ONE_CPU = f"import os; os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}})\n"


@pytest.fixture
def neighbours() -> Generator[None]:
    """Keep a CPU busy with two programs that have nothing to do with the lab."""
    loop = [sys.executable, "-S", "-c", f"{ON_ONE_CPU}while True: pass"]
    each = [subprocess.Popen(loop) for _ in range(2)]
    yield
    for one in each:
        one.kill()
        one.wait()


def burned(one: LocalCollector) -> Used:
    """Measure a program that is to burn half a second of CPU time."""
    ended: list[Ended] = []
    burns = f"{ON_ONE_CPU}import time\nwhile time.process_time() < 0.5: pass"
    before = one.boundary(Owned(ended=ended), begins=True)
    ended.append(spawn([sys.executable, "-S", "-c", burns], folder=Path("/")).wait())
    return one.used(before, one.boundary(Owned(ended=ended), begins=False), step=1)


@pytest.mark.usefixtures("neighbours")
@pytest.mark.parametrize("share", ["0.05", "1"])
def test_a_step_beside_busy_neighbours_is_suspect_unless_that_is_switched_off(
    share: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAIT_VARIABLE, share)
    one = collector(tmp_path)
    used = burned(one)
    waited = [words for words in used.suspect if words.startswith("it waited for a CPU for")]
    assert (used.metrics["resource_cpu_wait_s"] or 0) > 0.05 * 0.5
    assert len(waited) == (share == "0.05")
    assert one.stop({}).facts["cpu_wait_share"] == float(share)


@pytest.mark.usefixtures("neighbours")
def test_what_goes_on_side_by_side_is_no_neighbour_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAIT_VARIABLE, "0.05")
    one = collector(tmp_path)
    one.boundary(Owned(), begins=True)
    assert not [words for words in burned(one).suspect if "waited" in words]
    one.boundary(Owned(), begins=False)
    assert [words for words in burned(one).suspect if "waited" in words]
    one.stop({})


@pytest.mark.parametrize(
    ("granted", "ended", "told", "why"),
    [
        ([], 10**9, None, None),
        ([True, True], 10**9, True, None),
        ([True, False], 10**9, False, None),
        ([True], None, True, "its begin or its end was not seen"),
    ],
)
def test_it_is_recorded_how_programs_were_watched_and_why_a_time_is_null(
    tmp_path: Path, granted: list[bool], ended: int | None, why: str | None, *, told: bool | None
) -> None:
    one = collector(tmp_path)
    before = one.boundary(Owned(), begins=True)
    missed = {"resource_cpu_s": None}, {"resource_cpu_s": "missed"}
    spans = [LifeSpan(0, ended, 0, 0.0, is_real_time=each) for each in granted]
    lives: list[Any] = [Mock(span=span, told=Mock(return_value=missed)) for span in spans]
    one.used(before, one.boundary(Owned(lives=lives), begins=False))
    facts = cast("dict[str, Any]", one.stop({}).facts)
    assert facts["real_time"] is told
    assert facts["unknown"].get("run_s") == why


def test_the_labs_own_share_is_told(tmp_path: Path) -> None:
    with speaking("print(); input()") as (server, _):
        one = collector(tmp_path, server=server.pid)
        one.start()
        _, used = measured(one, 1, lambda: burn(0.1))
        one.stop({})
        server.communicate("\n")
    assert None not in used.harness.values()
    assert 0.1 <= (used.harness["flow_cpu_s"] or 0) < 0.15
    assert all(v for k, v in used.harness.items() if k.endswith("_memory_bytes"))


def test_curves_of_what_a_resource_owns(tmp_path: Path) -> None:
    with speaking("print(flush=True)\nwhile True: pass") as (busy, _):
        one, _ = started(tmp_path, 0.02)

        def has_curve() -> bool:
            """Tell whether the process has used some time, and was sampled some times."""
            records = list(read_raw(tmp_path / RAW_FILE))
            sampled = sum(isinstance(r, Tick) and bool(r.classes & PROCESSES) for r in records)
            return sampled > 9 and psutil.Process(busy.pid).cpu_times().user > 0.3

        one.watch("Busy", Owned(pids=[busy.pid]))
        (begun, _), _ = measured(one, 1, lambda: eventually(has_curve, 60), Owned(pids=[busy.pid]))
        one.watch("Busy", Owned())
        account = one.stop({1: begun})
        busy.kill()
    assert account.facts["files"] == [METRICS_FILE, RESOURCES_FILE]
    with (tmp_path / RESOURCES_FILE).open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["resource"] == "Busy"]
    assert len(rows) > 5
    assert float(rows[-1]["cpu_s"]) - float(rows[0]["cpu_s"]) > 0.1
