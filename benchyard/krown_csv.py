"""KROWN's four CSV files: their columns, and how they are made from what was measured.

``metrics.csv`` holds the curves of a run, ``stats.csv`` describes each step over all runs,
``summary.csv`` and ``aggregated.csv`` show the median run. Lengths and usage come from the record,
which was read at the boundaries of the commands; samples give the levels of memory and the number
of samples. What is not known is an empty cell.

Source: Van Assche et al., KROWN's execution framework, metrics version 3,
https://github.com/kg-construct/KROWN (collector.py and stats.py of bench_executor).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from benchyard.statistics import describe

Cell: TypeAlias = "str | int | float | None"
Row: TypeAlias = "dict[str, Cell]"

VERSION = 3
IDENTITY = ("name", "run", "index", "step", "timestamp", "version")
LEVELS = ("memory_ram", "memory_swap", "memory_ram_swap")
#: Cumulative column to our metrics, whose sum it is, and how many of its units one of ours makes.
COUNTERS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "cpu_user": (("host_cpu_user_s",), 1),
    "cpu_system": (("host_cpu_system_s",), 1),
    "cpu_user_system": (("host_cpu_user_s", "host_cpu_system_s"), 1),
    "cpu_idle": (("host_cpu_idle_s",), 1),
    "cpu_iowait": (("host_cpu_iowait_s",), 1),
    "disk_read_count": (("host_disk_read_count",), 1),
    "disk_write_count": (("host_disk_write_count",), 1),
    "disk_read_bytes": (("host_disk_read_bytes",), 1),
    "disk_write_bytes": (("host_disk_write_bytes",), 1),
    "disk_read_time": (("host_disk_read_time_s",), 1000),
    "disk_write_time": (("host_disk_write_time_s",), 1000),
    "disk_busy_time": (("host_disk_busy_time_s",), 1000),
    "network_received_count": (("host_network_received_count",), 1),
    "network_sent_count": (("host_network_sent_count",), 1),
    "network_received_bytes": (("host_network_received_bytes",), 1),
    "network_sent_bytes": (("host_network_sent_bytes",), 1),
    "network_received_error": (("host_network_received_error_count",), 1),
    "network_sent_error": (("host_network_sent_error_count",), 1),
    "network_received_drop": (("host_network_received_drop_count",), 1),
    "network_sent_drop": (("host_network_sent_drop_count",), 1),
}
_CPU = tuple(name for name in COUNTERS if name.startswith("cpu_"))
_DEVICES = tuple(name for name in COUNTERS if name not in _CPU)
#: The header of metrics.csv and aggregated.csv.
COLUMNS = (*IDENTITY, *_CPU, *LEVELS, *_DEVICES)
#: The header of summary.csv, in KROWN's order.
SUMMARY_COLUMNS = (
    *("name", "run", "number_of_samples", "step", "duration", "version"),
    *(f"{name}_diff" for name in _CPU),
    *(f"{name}_max" for name in LEVELS),
    *(f"{name}_min" for name in LEVELS),
    *(f"{name}_diff" for name in _DEVICES),
)
_DESCRIBED = (
    *("duration", "number_of_samples"),
    *(f"{name}_diff" for name in _CPU),
    *(f"{name}_{end}" for name in LEVELS for end in ("min", "max")),
    *(f"{name}_diff" for name in _DEVICES),
)
_STATISTICS = ("median", "average", "max", "min", "stdev", "values")
#: The header of stats.csv.
STATS_COLUMNS = (
    *("step", "name", "version"),
    *(f"{name}_{statistic}" for name in _DESCRIBED for statistic in _STATISTICS),
)


@dataclass(frozen=True, slots=True)
class StepOfRun:
    """One step as one run measured it.

    Args:
        step: Its position in the case, from 1.
        duration_s: What the record says; None if the step did not succeed.
        used: Metric of the record to what the step used; a missing one is not known.
        rows: The rows of metrics.csv while the step was under way.
    """

    case: str
    run: int
    step: int
    duration_s: float | None
    used: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    rows: Sequence[Row] = ()


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Cell]]) -> str:
    """Write rows under a header; None and what is missing stay empty."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_metrics(path: Path) -> list[Row]:
    """Read the rows of a ``metrics.csv``; none if the file is not there."""
    try:
        with path.open(newline="") as stream:
            return [_row(line) for line in csv.DictReader(stream)]
    except FileNotFoundError:
        return []


def _row(line: Mapping[str, str]) -> Row:
    return {name: text if name == "name" else number(text) for name, text in line.items()}


def number(text: str) -> int | float | None:
    """Read a cell back: an integer, another number, or None where it is empty.

    Raises:
        ValueError: If it is none of these.
    """
    try:
        return int(text)
    except ValueError:
        return float(text) if text else None


def figures(step: StepOfRun) -> dict[str, float | None]:
    """Return what stats.csv describes of one step of one run; nothing of a step that failed."""
    if step.duration_s is None:
        return {"number_of_samples": len(step.rows)}
    made: dict[str, float | None] = {
        "duration": step.duration_s,
        "number_of_samples": len(step.rows),
    }
    for column in COUNTERS:
        made[f"{column}_diff"] = _difference(column, step.used)
    for column in LEVELS:
        levels = [v for row in step.rows if isinstance(v := row.get(column), int | float)]
        made[f"{column}_min"] = min(levels, default=None)
        made[f"{column}_max"] = max(levels, default=None)
    return made


def _difference(column: str, used: Mapping[str, float | None]) -> float | None:
    names, scale = COUNTERS[column]
    parts = [value for name in names if (value := used.get(name)) is not None]
    return sum(parts) * scale if len(parts) == len(names) else None


def stats_csv(steps: Iterable[StepOfRun]) -> str:
    """Describe each step over the runs in which it succeeded.

    Args:
        steps: In the order of the runs, any order of steps.
    """
    by_step: dict[int, list[StepOfRun]] = {}
    for step in steps:
        if step.duration_s is not None:
            by_step.setdefault(step.step, []).append(step)
    return to_csv(STATS_COLUMNS, (_described(by_step[index]) for index in sorted(by_step)))


def _described(steps: Sequence[StepOfRun]) -> Row:
    row: Row = {"step": steps[0].step, "name": steps[0].case, "version": VERSION}
    each = [figures(step) for step in steps]
    for name in _DESCRIBED:
        values = [value for one in each if (value := one[name]) is not None]
        if not values:
            continue
        about = describe(values)
        row[f"{name}_median"] = about.median
        row[f"{name}_average"] = about.mean
        row[f"{name}_max"] = about.max
        row[f"{name}_min"] = about.min
        row[f"{name}_stdev"] = about.stdev
        row[f"{name}_values"] = str(values)
    return row


def summary_csv(steps: Iterable[StepOfRun]) -> str:
    """Show each step of one run; of one that did not succeed nothing but that it was there."""
    rows = (
        {"name": s.case, "run": s.run, "step": s.step, "version": VERSION, **figures(s)}
        for s in sorted(steps, key=lambda s: s.step)
    )
    return to_csv(SUMMARY_COLUMNS, rows)


def aggregated_csv(rows: Iterable[Row]) -> str:
    """Write the rows of the median run's ``metrics.csv``."""
    return to_csv(COLUMNS, ({name: row.get(name) for name in COLUMNS} for row in rows))
