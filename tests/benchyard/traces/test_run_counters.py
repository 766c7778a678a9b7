"""Counters of a run: rates, levels, sums over programs, pressure."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Outcome
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, read_record
from benchyard.traces.model import Counter
from benchyard.traces.run_counters import counters_of_run
from tests.benchyard.show.curves.conftest import MakeRun, host_rows

BEGAN = "2026-11-20T08:00:00+00:00"
DONE = Outcome.COMPLETED


def counters(folder: Path, record: RunRecord | None = None) -> dict[str, Counter]:
    found, _ = counters_of_run(folder, "host1", record or read_record(folder))
    assert {one.process for one in found} <= {"host1"}
    for one in found:
        assert (np.diff(one.times) > 0).all()
        assert np.isfinite(one.values).all()
    assert len({one.name for one in found}) == len(found)
    return {one.name: one for one in found}


def at(counter: Counter, second: float) -> float:
    """Return what holds at a moment."""
    place = int(np.searchsorted(counter.times, round(second * 1e9), side="right")) - 1
    return float(counter.values[place]) if place >= 0 else 0.0


def owned(second: float, resource: str, name: str, **cells: float) -> dict[str, object]:
    what = cells.pop("what", "tree")
    return {"timestamp": second, "resource": resource, "what": what, "name": name, **cells}


def test_rates_and_levels_of_the_host(make_run: MakeRun) -> None:
    folder = make_run(
        host_rows(10, cpu_user_system=1.5, disk_read_bytes=2000, network_sent_bytes=7)
    )
    found = counters(folder)
    assert at(found["CPU of the host"], 4.2) == pytest.approx(1.5)
    assert found["CPU of the host"].unit == "cores"
    assert at(found["disk reads of the host"], 0) == pytest.approx(2000)
    assert at(found["network sent of the host"], 9.95) == pytest.approx(7)
    assert at(found["CPU of the host"], 10) == 0
    memory = found["memory of the host"]
    assert (memory.times.tolist(), memory.values.tolist(), memory.unit) == (
        [0, 10_000_000_000],
        [1e9, 1e9],
        "B",
    )


def test_a_row_soon_after_another_makes_no_peak(make_run: MakeRun) -> None:
    rows = host_rows(2, cpu_user_system=1.0)
    rows.insert(8, {"timestamp": 0.7001, "memory_ram": 1e9, "cpu_user_system": 0.71})
    found = counters(make_run(rows, length=2.0))
    assert found["CPU of the host"].values.max() < 1.2


@given(st.lists(st.tuples(st.floats(0.01, 2.0), st.integers(0, 10**9)), min_size=2, max_size=30))
def test_no_increase_is_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, int]]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    moment, total, lines = 0.0, 0, ["timestamp,disk_read_bytes", "0.0,0"]
    for length, amount in steps:
        moment, total = moment + length, total + amount
        lines.append(f"{moment!r},{total}")
    (folder / "metrics.csv").write_text("\n".join([*lines, ""]))
    found, _ = counters_of_run(folder, "host1", None)
    [reads] = [one for one in found if one.name == "disk reads of the host"]
    spread = float((reads.values[:-1] * np.diff(reads.times)).sum()) / 1e9
    assert spread == pytest.approx(total, rel=1e-6, abs=0.01)


def test_what_fell_or_is_not_known_has_no_rate(make_run: MakeRun) -> None:
    rows = host_rows(3, disk_read_bytes=100)
    for row in rows[10:20]:
        row["disk_read_bytes"] = ""
    rows[25]["disk_read_bytes"] = 0
    found = counters(make_run(rows, length=3.0))
    values = found["disk reads of the host"].values
    assert values.min() >= 0
    assert set(np.round(values[:-1], 3)) <= {100.0, 2600.0}


def test_programs_of_a_resource_are_added_up(make_run: MakeRun) -> None:
    rows = [
        row
        for n in range(21)
        for row in (
            owned(n / 10, "Process", "1", cpu_s=n / 10, memory_bytes=100),
            *(
                [owned(n / 10, "Process", "2", cpu_s=n / 5, memory_bytes=50)]
                if 5 <= n <= 10
                else []
            ),
            owned(n / 10, "Other", "3", cpu_s=n / 100, memory_bytes=1, process_count=2),
        )
    ]
    found = counters(make_run(host_rows(2), rows, length=2.0))
    cpu, memory = found["CPU of Process"], found["memory of Process"]
    assert [at(cpu, second) for second in (0.25, 0.75, 1.5)] == pytest.approx([1.0, 3.0, 1.0])
    assert [at(memory, second) for second in (0.45, 0.5, 1.05, 1.1, 2.0)] == [
        100,
        150,
        150,
        100,
        100,
    ]
    assert at(found["CPU of Other"], 1.0) == pytest.approx(0.1)
    assert at(found["processes of Other"], 1.0) == 2


def test_things_of_the_host_go_by_their_own_names(make_run: MakeRun) -> None:
    rows = [
        row
        for n in range(11)
        for row in (
            owned(n / 10, "host", "package-0", what="energy", energy_j=5.0 * n),  # pyright: ignore[reportArgumentType]
            owned(n / 10, "host", "gpu 0", what="gpu", utilisation_ratio=0.5, power_w=30),  # pyright: ignore[reportArgumentType]
        )
    ]
    found = counters(make_run(host_rows(1), rows, length=1.0))
    assert at(found["power of package-0"], 0.5) == pytest.approx(50.0)
    assert at(found["utilisation of gpu 0"], 0.5) == 50.0
    assert at(found["power of gpu 0"], 0.5) == 30.0


def executed(start_s: float, length_s: float, used: Mapping[str, float | None]) -> StepRecord:
    made = Repetition("measured", start_s, length_s, DONE, used)
    attempt = Attempt(1, BEGAN, start_s, start_s + length_s, DONE, (made,))
    return StepRecord(1, "s", "s", "DB", "c", {}, True, DONE, (attempt,))


def test_pressure_is_that_of_the_command_begun_last(tmp_path: Path) -> None:
    steps = (
        executed(1.0, 4.0, {"host_psi_cpu_some_s": 0.4, "resource_psi_io_some_s": 8.0}),
        executed(2.0, 1.0, {"host_psi_cpu_some_s": 0.5, "host_psi_io_some_s": None}),
    )
    record = RunRecord({"title": "t"}, 1, DONE, BEGAN, BEGAN, 6.0, steps)
    found = counters(tmp_path, record)
    cpu = found["CPU pressure of the host"]
    moments = (0.5, 1.5, 2.5, 3.5, 5.5)
    assert [at(cpu, second) for second in moments] == pytest.approx([0, 10, 50, 10, 0])
    assert at(found["I/O pressure of DB"], 2.0) == 100.0
    assert "I/O pressure of the host" not in found


def test_missing_files_are_losses(make_run: MakeRun) -> None:
    folder = make_run(host_rows(1), length=1.0)
    assert counters_of_run(folder, "h", read_record(folder))[1] == []
    (folder / "metrics.csv").unlink()
    found, losses = counters_of_run(folder, "h", read_record(folder))
    assert found == []
    assert [loss.first for loss in losses] == ["metrics.csv"]
