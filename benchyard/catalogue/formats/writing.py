"""Measurements as files of hyperfine, Bencher, Google Benchmark and github-action-benchmark.

What all writers share is here too. Numbers are written unrounded.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from benchyard.catalogue.formats.as_runs import benchmarks, values_of
from benchyard.catalogue.formats.measurements import Measurement, Measurements
from benchyard.core.model import Json, plain
from benchyard.results.summary_metrics import SMALLER
from benchyard.statistics import median
from benchyard.statistics.intervals import median_interval


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What is known of one benchmark.

    Args:
        title: Its name with its parameters; no two have the same.
        metrics: By name; times are ``wall``.
    """

    title: str
    metrics: Mapping[str, Measurement]

    @property
    def wall(self) -> Measurement:
        """Its times; without numbers if they are not known."""
        return self.metrics.get("wall", Measurement(self.title, "wall", "s"))

    @property
    def first(self) -> Measurement:
        """One of its metrics, which all have its name and parameters."""
        return next(iter(self.metrics.values()))

    @property
    def parameters(self) -> dict[str, Json]:
        """Its parameters, as texts."""
        return {name: plain(value) for name, value in self.first.parameters.items()}


@dataclass(frozen=True, slots=True)
class ToolWriter:
    """Writes measurements as the file of another tool.

    Args:
        holds: Tells whether the format has a place for one metric of a benchmark.
        document: Returns the file's text, or what it says in JSON, of what it has a place for.
    """

    holds: Callable[[Benchmark, Measurement], bool]
    document: Callable[[Measurements, Sequence[Benchmark]], Any]

    def __call__(self, measured: Measurements) -> bytes:
        """Return the file's content.

        Raises:
            InputError: If something is unknown that the tool requires.
        """
        every = [Benchmark(*one) for one in benchmarks(measured.rows).items()]
        held = [
            Benchmark(one.title, {n: r for n, r in one.metrics.items() if self.holds(one, r)})
            for one in every
        ]
        made = self.document(measured, [one for one in held if one.metrics])
        text = made if isinstance(made, str) else json.dumps(made, indent=1) + "\n"
        return text.encode(errors="backslashreplace")

    def leaves_out(self, measured: Measurements) -> list[str]:
        """Name what the format has no place for: metrics, and the times of benchmarks."""
        missing = (
            f"wall of {title}" if metric == "wall" else metric
            for title, rows in benchmarks(measured.rows).items()
            for metric, row in rows.items()
            if not self.holds(Benchmark(title, rows), row)
        )
        return list(dict.fromkeys(missing))


def has_numbers(_: Benchmark, row: Measurement) -> bool:
    """Tell whether a measurement has a value, or at least its median or mean."""
    return bool(values_of(row))


def middle(row: Measurement) -> float:
    """Return the median of a measurement, else its mean."""
    told = row.statistic("median")
    return median(values_of(row)) if told is None else told


def _bounds(row: Measurement) -> tuple[float | None, float | None, str]:
    """Return the 95 % interval of the median, else the extremes, and which of both it is."""
    found = median_interval(row.values)
    if found.low is not None:
        return found.low, found.high, "95 % interval of the median"
    return row.statistic("min"), row.statistic("max"), "minimum and maximum"


def date_of(measured: Measurements) -> str:
    """Return when they were measured, by ISO 8601 with its offset; empty if it is not known."""
    began = measured.started_s
    return "" if began is None else datetime.fromtimestamp(began, UTC).isoformat()


# -- hyperfine. Source: hyperfine 1.19, src/benchmark/benchmark_result.rs.

_HYPERFINE = {"mean": "mean", "stddev": "stdev", "median": "median", "min": "min", "max": "max"}


def _in_hyperfine(one: Benchmark, row: Measurement) -> bool:
    if row.metric == "peak memory" and len(row.values) != len(one.wall.values):
        return False
    known = None not in (one.wall.statistic("mean"), row.statistic("mean"))
    return known and row.metric in ("wall", "user", "system", "peak memory")


def _hyperfine(_: Measurements, found: Sequence[Benchmark]) -> object:
    return {"results": [_result(one, one.wall) for one in found]}


def _result(one: Benchmark, wall: Measurement) -> Mapping[str, object]:
    means = {name: row.statistic("mean") for name, row in one.metrics.items()}
    memory = one.metrics.get("peak memory")
    # Which of them failed is not known; null is neither success nor a code.
    code = None if "failed" in wall.note else 0
    return {
        "command": one.first.name,
        **{theirs: wall.statistic(ours) for theirs, ours in _HYPERFINE.items()},
        **{name: means.get(name) for name in ("user", "system")},
        "times": [*wall.values],
        **({"memory_usage_byte": [*memory.values]} if memory else {}),
        "exit_codes": [code for _ in wall.values],
        **({"parameters": one.parameters} if one.parameters else {}),
    }


# -- Bencher Metric Format. Source: bencher.dev/docs/reference/bencher-metric-format.

_NS_PER_S = 1e9


def _bencher(_: Measurements, found: Sequence[Benchmark]) -> object:
    return {
        one.title: {
            "latency" if name == "wall" else name: _metric(row, _NS_PER_S if name == "wall" else 1)
            for name, row in one.metrics.items()
        }
        for one in found
    }


def _metric(row: Measurement, parts: float) -> dict[str, float]:
    low, high, _ = _bounds(row)
    told = {"value": middle(row), "lower_value": low, "upper_value": high}
    return {name: value * parts for name, value in told.items() if value is not None}


# -- Google Benchmark: repetitions, and their aggregates.
# Source: github.com/google/benchmark, src/json_reporter.cc.

#: Members that are no counters of the benchmark's author.
GOOGLE_OWN = {
    *("name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations"),
    *("family_index", "per_family_instance_index", "aggregate_name", "aggregate_unit"),
    *("time_unit", "label", "error_occurred", "error_message", "skipped", "skip_message"),
    *("real_time", "cpu_time", "cpu_coefficient", "real_coefficient", "big_o", "rms"),
}
_AGGREGATES = {"mean": "mean", "median": "median", "stdev": "stddev", "min": "min", "max": "max"}


def _in_google(one: Benchmark, row: Measurement) -> bool:
    alike = "wall" in one.metrics and len(row.values) == len(one.wall.values)
    known = row.metric == "wall" or has_numbers(one, row)
    return alike and known and row.metric not in GOOGLE_OWN


def _google(measured: Measurements, found: Sequence[Benchmark]) -> object:
    processors, frequency = (measured.about.get(name, "") for name in ("processors", "MHz"))
    return {
        "context": {
            "date": date_of(measured),
            "host_name": measured.host,
            "executable": measured.about.get("executable", ""),
            "num_cpus": int(processors) if processors.isdecimal() else None,
            "mhz_per_cpu": int(frequency) if frequency.isdecimal() else None,
        },
        "benchmarks": [one for each in found for one in _google_runs(each)],
    }


def _google_runs(one: Benchmark) -> Iterator[dict[str, Any]]:
    rows = _with_cpu(one.metrics)
    n, note = len(one.wall.values), one.wall.note
    start = {"name": one.title, "run_name": one.title, "run_type": "iteration"}
    start |= {"repetitions": n, "threads": 1, "iterations": 1}
    for at in range(n):
        numbers = {metric: row.values[at] for metric, row in rows.items()}
        yield {**start, "repetition_index": at, **_google_numbers(numbers)}
    for statistic, name in _AGGREGATES.items():
        told = {metric: row.statistic(statistic) for metric, row in rows.items()}
        if n != 1 and told["wall"] is not None:
            about = {"name": f"{one.title}_{name}", "run_type": "aggregate", "aggregate_name": name}
            yield {**start, **about, **_google_numbers(told)}
    if not values_of(one.wall):
        failed = note.startswith("failed")
        flag, text = ("error_occurred", "error") if failed else ("skipped", "skip")
        yield {**start, flag: True, f"{text}_message": note.partition(": ")[2]}


def _with_cpu(rows: Mapping[str, Measurement]) -> Mapping[str, Measurement]:
    """Add the CPU time, which its compare.py requires, as the sum of user and system."""
    user, system = rows.get("user"), rows.get("system")
    if "cpu" in rows or user is None or system is None:
        return rows
    both = [a + b for a, b in zip(user.values, system.values, strict=True)]
    return {**rows, "cpu": replace(user, values=both, told={})}


def _google_numbers(numbers: Mapping[str, float | None]) -> dict[str, Any]:
    times = {"wall": "real_time", "cpu": "cpu_time"}
    return {"time_unit": "ns"} | {
        times.get(name, name): value * (_NS_PER_S if name in times else 1)
        for name, value in numbers.items()
        if value is not None
    }


# -- github-action-benchmark, its tool customSmallerIsBetter.
# Source: github.com/benchmark-action/github-action-benchmark, README.


def _is_smaller_better(one: Benchmark, row: Measurement) -> bool:
    smaller = row.direction == SMALLER or (row.direction is None and row.unit in ("s", "B"))
    return smaller and has_numbers(one, row)


def _github_action(_: Measurements, found: Sequence[Benchmark]) -> object:
    return [_entry(one, row) for one in found for row in one.metrics.values()]


def _entry(one: Benchmark, row: Measurement) -> dict[str, object]:
    low, high, which = _bounds(row)
    name = one.title if row.metric == "wall" else f"{one.title}: {row.metric}"
    entry: dict[str, object] = {
        "name": name,
        "unit": row.unit or "1",
        "value": middle(row),
        "extra": row.note,
    }
    told = "\n".join(filter(None, (f"range: {which}", row.note)))
    return entry if low is None else {**entry, "range": f"{low} … {high}", "extra": told}


#: By the name of the format.
WRITERS: Mapping[str, ToolWriter] = {
    "hyperfine": ToolWriter(_in_hyperfine, _hyperfine),
    "bencher": ToolWriter(has_numbers, _bencher),
    "google-benchmark": ToolWriter(_in_google, _google),
    "github-action-custom": ToolWriter(_is_smaller_better, _github_action),
}
