"""Booking samples on steps, and differences since the first one."""

from pathlib import Path

import pytest

from benchyard.collector import StepWindow
from benchyard.krown_csv import COLUMNS
from benchyard.samplers import process
from benchyard.samplers.rows import Booking, Sample, read_samples, rows

WINDOWS = [StepWindow(1, 100, 200), StepWindow(2, 300, 400)]


def at(at_ns: int, *, boundary: bool = False, **known: float) -> Sample:
    return Sample(at_ns, tuple(known.get(name) for name in process.COLUMNS), boundary)


@pytest.mark.parametrize(
    ("at_ns", "step"),
    [(0, 1), (100, 1), (200, 1), (201, None), (299, None), (300, 2), (400, 2), (999, 2)],
)
def test_defect_17_a_sample_belongs_to_the_step_under_way_and_to_none_between(
    at_ns: int, step: int | None
) -> None:
    assert Booking(WINDOWS).step(at(at_ns)) == step


@pytest.mark.parametrize(("at_ns", "step"), [(0, 1), (201, 1), (299, 2), (350, 2), (401, 2)])
def test_a_boundary_belongs_to_the_nearer_edge(at_ns: int, step: int) -> None:
    assert Booking(WINDOWS).step(at(at_ns, boundary=True)) == step


@pytest.mark.parametrize(("at_ns", "step"), [(0, 1), (10, 2), (15, 3), (21, 2), (99, 1)])
def test_of_parallel_steps_it_is_the_latest_begun(at_ns: int, step: int) -> None:
    windows = [StepWindow(3, 12, 20), StepWindow(1, 0, 100), StepWindow(2, 10, 50)]
    assert Booking(windows).step(at(at_ns)) == step


def test_without_any_step_samples_are_booked_on_the_first() -> None:
    assert Booking([]).step(at(5)) == 1


def test_defect_09_a_failed_step_shifts_no_booking() -> None:
    windows = [StepWindow(1, 0, 10), StepWindow(2, 10, 20), StepWindow(4, 20, 30)]
    assert [Booking(windows).step(at(t)) for t in (5, 15, 25)] == [1, 2, 4]


def test_counters_start_at_zero_and_levels_stay() -> None:
    samples = [
        at(2_000_000_000, cpu_user=10.5, cpu_system=1.0, memory_ram=7, memory_swap=2),
        at(2_500_000_001, cpu_user=11.0, cpu_system=1.25, memory_ram=9, memory_swap=2),
    ]
    made = list(rows(samples, [StepWindow(1, 0, 3)], "c", 4, 1_000_000_000))
    assert set(made[0]) == set(COLUMNS)
    assert [row["cpu_user"] for row in made] == [0.0, 0.5]
    assert [row["cpu_user_system"] for row in made] == [0.0, 0.75]
    assert [row["memory_ram_swap"] for row in made] == [9, 11]
    assert [row["timestamp"] for row in made] == [1.0, 1.500000001]
    assert [(row["name"], row["run"], row["version"]) for row in made] == [("c", 4, 3)] * 2
    assert [row["index"] for row in made] == [1, 2]


def test_defect_08_no_row_is_made_up() -> None:
    made = list(rows([at(1, memory_ram=7, memory_swap=0)], WINDOWS, "c", 1, 0))
    assert [row["memory_ram"] for row in made] == [7]


def test_defect_25_what_is_unknown_stays_unknown() -> None:
    made = list(rows([at(1), at(2, cpu_user=1.0)], WINDOWS, "c", 1, 0))
    assert made[1]["disk_read_bytes"] is None
    assert made[1]["cpu_user"] is None
    assert made[1]["cpu_user_system"] is None


def test_a_line_that_death_cut_off_is_left_out(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    header = ",".join(("at_ns", *process.COLUMNS)) + "\n"
    whole = process.line_of(5, tuple(range(len(process.COLUMNS))))
    raw.write_text(header + whole + process.line_of(6, (1, 2)) + whole[:-1])
    assert [sample.at_ns for sample in read_samples(raw)] == [5]
    assert list(read_samples(tmp_path / "none")) == []
