"""Files of Python's benchmark tools: pytest-benchmark, pyperf, asv (airspeed velocity)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from benchyard.catalogue.formats.measurements import (
    Measurement,
    Measurements,
    beside,
    by_keys,
    decoded,
    facts,
    items,
    known,
    moment,
    number,
    numbers,
    seconds_of,
    statistics,
    words,
)
from benchyard.core.model import Json
from benchyard.statistics.measures import mean

# -- pytest-benchmark: seconds an iteration; benchmarks that failed are absent.
# Source: pytest-benchmark 5.3, src/pytest_benchmark/session.py and stats.py.


class _PytestBenchmark(Struct):
    name: str
    stats: dict[str, Any]
    fullname: str = ""
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
    told = statistics(one.stats, "rounds median mean stddev min max")
    name, values = one.fullname or one.name, numbers(one.stats.get("data"))
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
    metadata: dict[str, Any] = {}


class _PyperfFile(Struct):
    benchmarks: list[_PyperfBenchmark]
    metadata: dict[str, Any] = {}


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
_COLUMNS = ("result", "samples", "stats_repeat")


class _AsvFile(Struct):
    commit_hash: str
    results: dict[str, Any]
    result_columns: list[str] = []
    env_name: str = ""
    params: dict[str, Any] = {}
    started_at: dict[str, Any] = {}
    date: float | None = None


def _read_asv(content: bytes, place: Path) -> Measurements:
    file = decoded(content, _AsvFile)
    declared = beside(place.parent.parent / "benchmarks.json")
    told = {name: _columns(file, name, listed) for name, listed in file.results.items()}
    began = [_of_ms(one.get("started_at")) for one in told.values()]
    return Measurements(
        [row for name, one in told.items() for row in _asv_rows(name, one, declared.get(name))],
        host=words(file.params, "machine"),
        commit=file.commit_hash,
        started_s=min(known(began), default=None),
        about=facts(**{"environment": file.env_name, **file.params}),
        # Samples are of ``rounds`` processes, and the file does not tell which.
        one_process=True,
        commit_s=_of_ms(file.date),
    )


def _of_ms(value: object) -> float | None:
    found = number(value)
    return None if found is None else moment(found / 1000)


def _columns(file: _AsvFile, name: str, listed: Any) -> dict[str, Any]:
    if isinstance(listed, list):
        return dict(zip(file.result_columns, cast("list[Any]", listed), strict=False))
    # Format 1 has a number, or an object of columns, and statistics of each point.
    told = _object(listed) or {"result": listed}
    result = told.get("result")
    return {
        **told,
        "result": result if isinstance(result, list) or result is None else [result],
        "stats_repeat": [_object(one).get("repeat") for one in items(told.get("stats"))],
        "started_at": file.started_at.get(name),
    }


def _asv_rows(name: str, told: Mapping[str, Any], declared: object) -> Iterator[Measurement]:
    about = _object(declared)
    kind = name.rpartition(".")[2].partition("_")[0].lower()
    unit = str(about.get("unit") or _BY_NAME.get(kind, ""))
    metric = {"seconds": "wall", "bytes": "memory"}.get(unit, "value")
    what = name, metric, _ASV_UNITS.get(unit, unit)
    names, axes = items(about.get("param_names")), map(items, items(told.get("params")))
    if not isinstance(told.get("result"), list):
        yield Measurement(*what, note="failed")
    results, samples, repeats = (items(told.get(column)) for column in _COLUMNS)
    points = [*product(*axes)]
    for at, value in enumerate(results):
        yield Measurement(
            *what,
            numbers(_at(samples, at)),
            # Of several samples the result is their median. Source: asv_runner, statistics.py.
            statistics({"median": value, "n": _at(repeats, at)}, "n median - - - -"),
            _parameters(names, _at(points, at) or ()),
            _note(value),
        )


def _note(value: object) -> str:
    # Source: asv, docs/source/dev.rst: null is a failure, NaN a benchmark left out.
    if value is None:
        return "failed"
    return "skipped" if isinstance(value, float) and math.isnan(value) else ""


def _parameters(names: Sequence[Any], point: Sequence[Any]) -> dict[str, Json]:
    return {str(_at(names, at) or f"param{at + 1}"): str(one) for at, one in enumerate(point)}


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


#: For the registry.
PYTHON_TOOLS = (
    by_keys(
        *("pytest-benchmark", "pytest-benchmark", _read_pytest),
        ("machine_info.python_implementation",),
        ("benchmarks.[].stats",),
    ),
    by_keys("pyperf", "pyperf", _read_pyperf, ("benchmarks.[].runs",)),
    by_keys(
        *("asv", "asv", _read_asv),
        *(("commit_hash", one) for one in ("env_name", "requirements", "result_columns")),
    ),
)
