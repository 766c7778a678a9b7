"""KROWN's CSV files: their columns, and how they are made from what was measured.

``metrics.csv`` holds the curves of a run, ``stats.csv`` describes each step over all runs,
``summary.csv`` shows the median run of each step; ``aggregated.csv`` is the metrics.csv of the run
that is the median as a whole. Everything comes from
records: lengths and usage were read at the boundaries of the commands, levels of memory and the
number of samples were noted when the run ended. What is not known is an empty cell.

Source: Van Assche et al., KROWN's execution framework, metrics version 3,
https://github.com/kg-construct/KROWN (collector.py and stats.py of bench_executor).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from benchyard.core.table import csv_text
from benchyard.statistics import mean, median, stdev

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
class StepSamples:
    """One step as one run measured it.

    Args:
        step: Its position in the case, from 1.
        duration_s: What the record says; None if the step did not succeed.
        used: Metric of the record to what the step used; a missing one is not known.
        samples: How many of its samples there are; None if that is not known.
        levels: Name of a level to the least and the most of the samples (B).
    """

    case: str
    run: int
    step: int
    duration_s: float | None
    used: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    samples: int | None = None
    levels: Mapping[str, tuple[float, float]] = field(
        default_factory=dict[str, tuple[float, float]]
    )


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Cell]]) -> str:
    """Write rows under a header; None and what is missing stay empty."""
    return csv_text([columns, *(map(row.get, columns) for row in rows)])


def figures(step: StepSamples) -> dict[str, float | None]:
    """Return what stats.csv describes of one step of one run; nothing of a step that failed."""
    made: dict[str, float | None] = {"number_of_samples": step.samples}
    if step.duration_s is None:
        return made
    made["duration"] = step.duration_s
    for column in COUNTERS:
        made[f"{column}_diff"] = _difference(column, step.used)
    for column in LEVELS:
        least, most = step.levels.get(column, (None, None))
        made[f"{column}_min"] = least
        made[f"{column}_max"] = most
    return made


def _difference(column: str, used: Mapping[str, float | None]) -> float | None:
    names, scale = COUNTERS[column]
    if len(names) == scale == 1:
        return used.get(names[0])
    parts = [value for name in names if (value := used.get(name)) is not None]
    if len(parts) < len(names):
        return None
    # Binary noise of the sum and the product only: no counter tells less than a nanosecond.
    return round(sum(parts) * scale, 9)


def stats_csv(steps: Iterable[StepSamples]) -> str:
    """Describe each step over the runs in which it succeeded.

    Args:
        steps: In the order of the runs, any order of steps.
    """
    by_step: dict[int, list[StepSamples]] = {}
    for step in steps:
        if step.duration_s is not None:
            by_step.setdefault(step.step, []).append(step)
    return to_csv(STATS_COLUMNS, (_described(by_step[index]) for index in sorted(by_step)))


def _described(steps: Sequence[StepSamples]) -> Row:
    row: Row = {"step": steps[0].step, "name": steps[0].case, "version": VERSION}
    each = [figures(step) for step in steps]
    for name in _DESCRIBED:
        values = [value for one in each if (value := one[name]) is not None]
        if values:
            texts = zip(_STATISTICS, _statistics(values), strict=True)
            row |= {f"{name}_{statistic}": text for statistic, text in texts}
    return row


def _statistics(values: Sequence[float]) -> Sequence[Cell]:
    """Return the statistics in their order; one value has no standard deviation."""
    if min(values) == max(values):
        # Most counters of most steps do not move at all.
        one = values[0]
        return one, one, one, one, 0.0 if len(values) > 1 else None, str(values)
    return median(values), mean(values), max(values), min(values), stdev(values), str(values)


def summary_csv(steps: Iterable[StepSamples]) -> str:
    """Show steps, each of one run; of one that did not succeed nothing but that it was there."""
    rows = (
        {"name": s.case, "run": s.run, "step": s.step, "version": VERSION, **figures(s)}
        for s in sorted(steps, key=lambda s: s.step)
    )
    return to_csv(SUMMARY_COLUMNS, rows)
