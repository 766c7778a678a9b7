"""pyperf's JSON: runs of processes, each with values of one loop.

Source: pyperf 2.10, pyperf/_bench.py, format 1.0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import Measurement, Measurements, facts, known

_UNITS = {"second": "s", "byte": "B", "integer": "1"}
_METRICS = {"second": "wall", "byte": "memory", "integer": "number"}
_ABOUT = ("perf_version", "python_version", "platform", "cpu_model_name", "cpu_config", "timer")


class _Run(Struct):
    values: list[float | None] = []


class _Benchmark(Struct):
    runs: list[_Run]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


class _File(Struct):
    benchmarks: list[_Benchmark]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


def _read(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _File)
    about = {**(file.benchmarks[0].metadata if file.benchmarks else {}), **file.metadata}
    return Measurements(
        [*_rows(file)],
        host=str(about.get("hostname") or ""),
        # Its dates are local times without an offset, so when it was is not known.
        about=facts(**{name: about.get(name) for name in _ABOUT}),
    )


def _rows(file: _File) -> Iterator[Measurement]:
    for one in file.benchmarks:
        told = {**file.metadata, **one.metadata}
        unit = str(told.get("unit", "second"))
        values = known(value for run in one.runs for value in run.values)
        yield Measurement(
            str(told.get("name") or "unnamed"),
            _METRICS.get(unit, unit),
            _UNITS.get(unit, unit),
            values,
            note="" if values else "calibrated only; no value was measured",
        )


PYPERF = BenchmarkFile("pyperf", "pyperf", lambda head: head.has("benchmarks.[].runs"), _read)
