"""KROWN's CSV files."""

import csv
import io

from benchyard.results.metrics_csv import (
    COLUMNS,
    COUNTERS,
    STATS_COLUMNS,
    SUMMARY_COLUMNS,
    StepSamples,
    stats_csv,
    summary_csv,
)

LEVELS = {"memory_ram": (5.0, 9.0), "memory_swap": (0, 0)}
USED: dict[str, float | None] = {
    "host_cpu_user_s": 0.5,
    "host_cpu_system_s": 0.25,
    "host_disk_busy_time_s": 0.125,
    "host_disk_read_bytes": None,
}


def parsed(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def step(run: int, duration_s: float | None, index: int = 1) -> StepSamples:
    return StepSamples("c", run, index, duration_s, USED, 2, LEVELS)


def test_the_columns_are_krowns() -> None:
    levels = ("ram", "swap", "ram_swap")
    described = ("median", "average", "max", "min", "stdev", "values")
    assert (len(COLUMNS), len(SUMMARY_COLUMNS)) == (29, 32)
    assert COLUMNS[:7] == ("name", "run", "index", "step", "timestamp", "version", "cpu_user")
    assert COLUMNS[11:15] == (*(f"memory_{name}" for name in levels), "disk_read_count")
    assert SUMMARY_COLUMNS[11:17] == tuple(
        f"memory_{name}_{end}" for end in ("max", "min") for name in levels
    )
    assert STATS_COLUMNS[:3] == ("step", "name", "version")
    assert STATS_COLUMNS[3:9] == tuple(f"duration_{name}" for name in described)
    assert set(COUNTERS) < set(COLUMNS)


def test_defect_24_one_run_loses_only_the_stdev() -> None:
    row = parsed(stats_csv([step(1, 1.0)]))[0]
    assert row["duration_stdev"] == ""
    assert row["duration_values"] == "[1.0]"
    assert row["duration_average"] == "1.0"
    assert row["memory_ram_max_max"] == "9.0"


def test_defect_25_what_is_unknown_is_an_empty_cell() -> None:
    row = parsed(summary_csv([step(1, 1.0)]))[0]
    unknown = ("disk_read_bytes_diff", "disk_write_bytes_diff", "memory_ram_swap_max")
    assert {row[column] for column in unknown} == {""}
    assert parsed(stats_csv([step(1, 1.0)]))[0]["disk_read_bytes_diff_values"] == ""


def test_usage_is_that_of_the_record_in_krowns_units() -> None:
    row = parsed(summary_csv([step(7, 1.0)]))[0]
    assert row["run"] == "7"
    assert row["cpu_user_diff"] == "0.5"
    assert row["cpu_user_system_diff"] == "0.75"
    assert row["disk_busy_time_diff"] == "125.0"
    assert (row["memory_ram_min"], row["memory_ram_max"]) == ("5.0", "9.0")


def test_a_step_that_failed_is_shown_without_figures() -> None:
    row = parsed(summary_csv([step(1, None)]))[0]
    assert (row["step"], row["duration"], row["cpu_user_diff"]) == ("1", "", "")
    assert parsed(stats_csv([step(1, None), step(2, 3.0)]))[0]["duration_values"] == "[3.0]"
    assert parsed(stats_csv([step(1, None)])) == []
