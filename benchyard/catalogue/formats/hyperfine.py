"""hyperfine's ``--export-json``: commands against each other; always seconds and bytes.

Source: hyperfine 1.19, src/benchmark/benchmark_result.rs.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import (
    Measurement,
    Measurements,
    known,
    statistics,
)
from benchyard.core.model import Json


class _Result(Struct):
    command: str
    mean: float
    stddev: float | None = None
    median: float | None = None
    user: float | None = None
    system: float | None = None
    min: float | None = None
    max: float | None = None
    times: list[float | None] = []
    memory_usage_byte: list[float | None] = []
    exit_codes: list[int | None] = []
    parameters: dict[str, str] = field(default_factory=dict[str, str])


class _File(Struct):
    results: list[_Result]


def _read(content: bytes, _place: Path) -> Measurements:
    return Measurements([row for one in decoded(content, _File).results for row in _rows(one)])


def _rows(one: _Result) -> Iterator[Measurement]:
    failed = sum(code != 0 for code in one.exit_codes)
    note = f"{failed:,} of {len(one.exit_codes):,} executions failed" if failed else ""
    parameters: dict[str, Json] = {**one.parameters}
    told = statistics(mean=one.mean, stdev=one.stddev, median=one.median, min=one.min, max=one.max)
    yield Measurement(one.command, "wall", "s", known(one.times), told, parameters, note)
    for metric, value in (("user", one.user), ("system", one.system)):
        if value is not None:
            yield Measurement(one.command, metric, "s", (), statistics(mean=value), parameters)
    if memory := known(one.memory_usage_byte):
        yield Measurement(one.command, "peak memory", "B", memory, {}, parameters)


HYPERFINE = BenchmarkFile(
    "hyperfine",
    "hyperfine",
    lambda head: head.has("results.[].command", "results.[].mean"),
    _read,
)
