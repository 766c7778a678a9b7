"""Files of Python's benchmark tools: pytest-benchmark, pyperf, asv (airspeed velocity)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

from msgspec import Struct, field

from benchyard.catalogue.formats.measurements import (
    STATISTICS,
    BenchmarkFile,
    Measurement,
    Measurements,
    beside,
    decoded,
    facts,
    known,
    moment,
    number,
    seconds_of,
    statistics,
    words,
)
from benchyard.catalogue.formats.writing_more import WRITERS
from benchyard.core.model import Json
from benchyard.statistics.measures import mean

# -- pytest-benchmark: seconds an iteration; benchmarks that failed are absent.
# Source: pytest-benchmark 5.3, src/pytest_benchmark/session.py and stats.py.


class _Stats(Struct, rename={"n": "rounds", "stdev": "stddev"}):
    n: int | None = None
    median: float | None = None
    mean: float | None = None
    stdev: float | None = None
    min: float | None = None
    max: float | None = None
    data: list[float | None] = []


class _PytestBenchmark(Struct):
    name: str
    stats: _Stats
    fullname: str = ""
    group: str | None = None
    params: dict[str, Any] | None = None


class _PytestFile(Struct):
    benchmarks: list[_PytestBenchmark]
    machine_info: dict[str, Any] | None = None
    commit_info: dict[str, Any] | None = None
    datetime: str = ""
    version: str = ""


def _read_pytest(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _PytestFile)
    machine, commit = file.machine_info or {}, file.commit_info or {}
    known_commit = commit.get("id") not in (None, "unknown", "unversioned")
    return Measurements(
        [_row(one) for one in file.benchmarks],
        host=words(machine, "node"),
        commit=words(commit, "id") if known_commit else "",
        # Up to version 3 it is UTC without an offset, since then with one.
        started_s=seconds_of(file.datetime, utc=True),
        about=facts(
            project=words(commit, "project"),
            branch=words(commit, "branch"),
            uncommitted_changes="yes" if commit.get("dirty") else None,
            python=words(machine, "python_implementation", "python_version"),
            system=words(machine, "system", "release"),
            machine=words(machine, "machine"),
            pytest_benchmark=file.version,
        ),
        one_process=True,
    )


def _row(one: _PytestBenchmark) -> Measurement:
    told = statistics(**{name: getattr(one.stats, name) for name in STATISTICS})
    name, values = one.fullname or one.name, known(one.stats.data)
    return Measurement(name, "wall", "s", values, told, one.params or {})


# -- pyperf: runs of processes, each with values of one loop.
# Source: pyperf 2.10, pyperf/_bench.py, format 1.0.

_PYPERF_UNITS = {"second": "s", "byte": "B", "integer": "1"}
_PYPERF_METRICS = {"second": "wall", "byte": "memory", "integer": "number"}
_ABOUT = ("perf_version", "python_version", "platform", "cpu_model_name", "cpu_config", "timer")


class _Run(Struct):
    values: list[float | None] = []


class _PyperfBenchmark(Struct):
    runs: list[_Run]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


class _PyperfFile(Struct):
    benchmarks: list[_PyperfBenchmark]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


def _read_pyperf(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _PyperfFile)
    about = {**(file.benchmarks[0].metadata if file.benchmarks else {}), **file.metadata}
    rows = [*_pyperf_rows(file)]
    return Measurements(
        rows,
        host=words(about, "hostname"),
        one_process=any(len(row.values) == 1 for row in rows),
        # Its dates are local times without an offset, so when it was is not known.
        about=facts(**{name: about.get(name) for name in _ABOUT}),
    )


def _pyperf_rows(file: _PyperfFile) -> Iterator[Measurement]:
    for one in file.benchmarks:
        told = {**file.metadata, **one.metadata}
        unit = str(told.get("unit", "second"))
        # A run is a process: its values are not independent.
        values = [mean(found) for run in one.runs if (found := known(run.values))]
        yield Measurement(
            str(told.get("name") or "unnamed"),
            _PYPERF_METRICS.get(unit, unit),
            _PYPERF_UNITS.get(unit, unit),
            values,
            note="" if values else "calibrated only; no value was measured",
        )


# -- asv: MACHINE/HASH-ENVIRONMENT.json, one a commit; benchmarks.json above it has the units.
# Source: asv 0.6, asv/results.py; formats 1 and 2.

_ASV_UNITS = {"seconds": "s", "bytes": "B", "unit": "", "": ""}
#: By the first word of a benchmark's name, where no file tells it.
_BY_NAME = {"time": "seconds", "timeraw": "seconds", "mem": "bytes", "peakmem": "bytes"}
_MS_PER_S = 1000


class _AsvFile(Struct):
    commit_hash: str
    results: dict[str, Any]
    result_columns: list[str] = []
    env_name: str = ""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    started_at: dict[str, Any] = field(default_factory=dict[str, Any])
    date: float | None = None


def _read_asv(content: bytes, place: Path) -> Measurements:
    file = decoded(content, _AsvFile)
    declared = beside(place.parent.parent / "benchmarks.json")
    rows: list[Measurement] = []
    started: list[float] = []
    for name, listed in file.results.items():
        told = _columns(file, name, listed)
        rows += _asv_rows(name, told, declared.get(name))
        began = _of_ms(told.get("started_at"))
        started += [began] if began is not None else []
    about = {"environment": file.env_name, **file.params}
    host = words(file.params, "machine")
    began = min(started, default=None)
    # Samples are of ``rounds`` processes, and the file does not tell which.
    told = rows, host, file.commit_hash, began, facts(**about)
    return Measurements(*told, one_process=True, commit_s=_of_ms(file.date))


def _of_ms(value: object) -> float | None:
    found = number(value)
    return None if found is None else moment(found / _MS_PER_S)


def _columns(file: _AsvFile, name: str, listed: Any) -> dict[str, Any]:
    if isinstance(listed, list):
        return dict(zip(file.result_columns, cast("list[Any]", listed), strict=False))
    # Format 1 has a number, or an object of columns, and statistics of each point.
    told = cast("dict[str, Any]", listed if isinstance(listed, dict) else {"result": listed})
    result, stats = told.get("result"), _list(told.get("stats"))
    repeats = [cast("dict[str, Any]", one or {}).get("repeat") for one in stats]
    if not isinstance(result, list) and result is not None:
        result = [result]
    began = file.started_at.get(name)
    return {**told, "result": result, "stats_repeat": repeats, "started_at": began}


def _asv_rows(name: str, told: Mapping[str, Any], declared: object) -> Iterator[Measurement]:
    about: Mapping[str, Any] = (
        cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
    )
    kind = name.rpartition(".")[2].partition("_")[0].lower()
    unit = str(about.get("unit") or _BY_NAME.get(kind, ""))
    metric = {"seconds": "wall", "bytes": "memory"}.get(unit, "value")
    names = _list(about.get("param_names"))
    results, samples = told.get("result"), _list(told.get("samples"))
    points = [*product(*map(_list, _list(told.get("params"))))]
    if not isinstance(results, list):
        yield Measurement(name, metric, _ASV_UNITS.get(unit, unit), note="failed")
        return
    for place, value in enumerate(cast("list[Any]", results)):
        point = points[place] if place < len(points) else ()
        yield Measurement(
            name,
            metric,
            _ASV_UNITS.get(unit, unit),
            known(map(number, _list(_at(samples, place)))),
            _asv_statistics(told, place, value),
            _parameters(names, point),
            _note(value),
        )


def _note(value: object) -> str:
    # Source: asv, docs/source/dev.rst: null is a failure, NaN a benchmark left out.
    if value is None:
        return "failed"
    return "skipped" if isinstance(value, float) and math.isnan(value) else ""


def _asv_statistics(told: Mapping[str, Any], place: int, value: object) -> dict[str, float]:
    # Of several samples asv's result is their median. Source: asv_runner, statistics.py.
    repeat = number(_at(_list(told.get("stats_repeat")), place))
    return statistics(median=number(value), n=repeat)


def _parameters(names: Sequence[Any], point: Sequence[Any]) -> dict[str, Json]:
    return {
        str(names[place]) if place < len(names) else f"param{place + 1}": str(value)
        for place, value in enumerate(point)
    }


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


#: For the registry.
PYTHON_TOOLS = (
    BenchmarkFile(
        "pytest-benchmark",
        "pytest-benchmark",
        lambda head: (
            head.has("machine_info.python_implementation") or head.has("benchmarks.[].stats")
        ),
        _read_pytest,
        "`.json` with `machine_info` of a Python, or `benchmarks` with `stats`",
        write=WRITERS["pytest-benchmark"],
    ),
    BenchmarkFile(
        "pyperf",
        "pyperf",
        lambda head: head.has("benchmarks.[].runs"),
        _read_pyperf,
        "`.json` with `benchmarks` that have `runs`",
    ),
    BenchmarkFile(
        "asv",
        "asv",
        lambda head: (
            head.has("commit_hash")
            and any(map(head.has, ("env_name", "result_columns", "requirements", "durations")))
        ),
        _read_asv,
        "`.json` with a `commit_hash` and an environment; `benchmarks.json` above it has units",
        write=WRITERS["asv"],
    ),
)
