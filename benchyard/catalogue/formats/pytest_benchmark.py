"""pytest-benchmark's JSON: seconds an iteration; benchmarks that failed are absent.

Source: pytest-benchmark 5.3, src/pytest_benchmark/session.py and stats.py.
"""

from pathlib import Path
from typing import Any

from msgspec import Struct, field

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import (
    STATISTICS,
    Measurement,
    Measurements,
    facts,
    known,
    seconds_of,
    statistics,
)


class _Stats(Struct, rename={"n": "rounds", "stdev": "stddev"}):
    n: int | None = None
    median: float | None = None
    mean: float | None = None
    stdev: float | None = None
    min: float | None = None
    max: float | None = None
    data: list[float | None] = []


class _Benchmark(Struct):
    name: str
    stats: _Stats
    fullname: str = ""
    group: str | None = None
    params: dict[str, Any] | None = None


class _Commit(Struct):
    id: str | None = None
    dirty: bool | None = None
    branch: str | None = None
    project: str | None = None


class _Machine(Struct):
    node: str | None = None
    machine: str | None = None
    system: str | None = None
    release: str | None = None
    python_implementation: str | None = None
    python_version: str | None = None


class _File(Struct):
    benchmarks: list[_Benchmark]
    machine_info: _Machine | None = None
    commit_info: _Commit | None = None
    datetime: str = ""
    version: str = field(default="")


def _read(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _File)
    machine, commit = file.machine_info or _Machine(), file.commit_info or _Commit()
    return Measurements(
        [_row(one) for one in file.benchmarks],
        host=machine.node or "",
        commit="" if commit.id in (None, "unknown", "unversioned") else commit.id or "",
        # Up to version 3 it is UTC without an offset, since then with one.
        started_s=seconds_of(file.datetime, utc=True),
        about=facts(
            project=commit.project,
            branch=commit.branch,
            uncommitted_changes="yes" if commit.dirty else None,
            python=f"{machine.python_implementation or ''} {machine.python_version or ''}".strip(),
            system=f"{machine.system or ''} {machine.release or ''}".strip(),
            machine=machine.machine,
            pytest_benchmark=file.version,
        ),
    )


def _row(one: _Benchmark) -> Measurement:
    told = statistics(**{name: getattr(one.stats, name) for name in STATISTICS})
    name, values = one.fullname or one.name, known(one.stats.data)
    return Measurement(name, "wall", "s", values, told, one.params or {})


PYTEST_BENCHMARK = BenchmarkFile(
    "pytest-benchmark",
    "pytest-benchmark",
    lambda head: head.has("machine_info.python_implementation") or head.has("benchmarks.[].stats"),
    _read,
)
