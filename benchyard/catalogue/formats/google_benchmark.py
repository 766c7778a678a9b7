"""Google Benchmark's JSON: times of an iteration in a unit of each benchmark's own.

Source: github.com/google/benchmark, src/json_reporter.cc.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import (
    Measurement,
    Measurements,
    facts,
    number,
    seconds_of,
    statistics,
)
from benchyard.core.errors import InputError

#: So many make a second; to divide by them rounds once.
_IN_A_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
_TIMES = {"real_time": "wall", "cpu_time": "cpu"}
_UNITS = {"bytes_per_second": "B/s", "items_per_second": "1/s", "max_bytes_used": "B"}
#: Members that are no counters of the benchmark's author.
_OWN = {
    *("name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations"),
    *("family_index", "per_family_instance_index", "aggregate_name", "aggregate_unit"),
    *("time_unit", "label", "error_occurred", "error_message", "skipped", "skip_message"),
    *("real_time", "cpu_time", "cpu_coefficient", "real_coefficient", "big_o", "rms"),
}
#: Its aggregates of repetitions, as statistics; others are no amounts of the unit.
_AGGREGATES = {"mean": "mean", "median": "median", "stddev": "stdev", "min": "min", "max": "max"}


class _Context(Struct):
    date: str = ""
    host_name: str = ""
    executable: str = ""
    num_cpus: int | None = None
    mhz_per_cpu: float | None = None
    cpu_scaling_enabled: bool | None = None
    library_build_type: str = ""
    library_version: str = ""


class _File(Struct):
    context: _Context
    benchmarks: list[dict[str, Any]]


def _read(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _File)
    context = file.context
    runs: dict[str, list[dict[str, Any]]] = {}
    for one in file.benchmarks:
        runs.setdefault(str(one.get("run_name") or one.get("name") or ""), []).append(one)
    return Measurements(
        [row for name, parts in runs.items() for row in _rows(name, parts)],
        host=context.host_name,
        started_s=seconds_of(context.date),
        about=facts(
            date=context.date,
            executable=context.executable,
            processors=context.num_cpus,
            MHz=context.mhz_per_cpu,
            frequency_scaling="on" if context.cpu_scaling_enabled else None,
            library=f"{context.library_version} {context.library_build_type}".strip(),
        ),
    )


def _rows(name: str, parts: list[dict[str, Any]]) -> Iterator[Measurement]:
    single = [one for one in parts if not one.get("aggregate_name")]
    aggregates = {
        statistic: one
        for one in parts
        if (statistic := _AGGREGATES.get(str(one.get("aggregate_name"))))
    }
    note = next((found for one in parts if (found := _why(one))), "")
    metrics = dict.fromkeys(key for one in [*single, *aggregates.values()] for key in _metrics(one))
    for key in metrics:
        values = [value for one in single if (value := _value(one, key)) is not None]
        told = statistics(**{s: _value(one, key) for s, one in aggregates.items()})
        unit = "s" if key in _TIMES else _UNITS.get(key, "")
        yield Measurement(name, _TIMES.get(key, key), unit, values, told, note=note)
    if note and not metrics:
        yield Measurement(name, "wall", "s", note=note)


def _why(one: dict[str, Any]) -> str:
    """Return why a benchmark has no value; empty if nothing is said."""
    if one.get("error_occurred"):
        return f"failed: {one.get('error_message') or 'no reason is told'}"
    return f"skipped: {one.get('skip_message') or ''}".rstrip(": ") if one.get("skipped") else ""


def _metrics(one: dict[str, Any]) -> Iterator[str]:
    if _why(one):
        return
    for key, value in one.items():
        if key in _TIMES or (key not in _OWN and number(value) is not None):
            yield key


def _value(one: dict[str, Any], key: str) -> float | None:
    value = None if _why(one) else number(one.get(key))
    if value is None or key not in _TIMES:
        return value
    unit = str(one.get("time_unit", "ns"))
    if unit not in _IN_A_SECOND:
        raise InputError(f"the time_unit of {one.get('name')!r} is none of ns, us, ms, s")
    return value / _IN_A_SECOND[unit]


GOOGLE_BENCHMARK = BenchmarkFile(
    "google-benchmark",
    "Google Benchmark",
    lambda head: head.has("context.num_cpus", "context.mhz_per_cpu"),
    _read,
)
