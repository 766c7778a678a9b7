"""Files of JMH, BenchmarkDotNet, k6 and vitest: programs on virtual machines, and the web."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    Measurement,
    Measurements,
    by_keys,
    decoded,
    facts,
    known,
    number,
    numbers,
    statistics,
    words,
)
from benchyard.core.model import Json
from benchyard.statistics.measures import mean

_NS, _MS = IN_A_SECOND["ns"], IN_A_SECOND["ms"]

# -- JMH -rf json: forks of iterations; numbers that are none are texts.
# Source: openjdk/jmh, results/format/JSONResultFormat.java.


class _JmhMetric(Struct, rename="camel"):
    score_unit: str = ""
    score: Any = None
    raw_data: list[list[Any]] = []
    raw_data_histogram: list[list[list[tuple[float, float]]]] = []


class _JmhResult(Struct, rename="camel"):
    benchmark: str
    primary_metric: _JmhMetric
    mode: str = ""
    params: dict[str, str] | None = None
    secondary_metrics: dict[str, _JmhMetric] | None = None
    vm_name: str = ""


_JMH_UNITS = {"B/op": "B", "counts": "1"}


def _read_jmh(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, list[_JmhResult])
    several = len({one.mode for one in file}) > 1
    rows = [row for one in file for row in _jmh_rows(one, {"mode": one.mode} if several else {})]
    machines = sorted({one.vm_name for one in file})
    one_process = any(len(_forks(one.primary_metric)) == 1 for one in file)
    return Measurements(rows, about=facts(VM=", ".join(machines)), one_process=one_process)


def _jmh_rows(one: _JmhResult, mode: dict[str, Json]) -> Iterator[Measurement]:
    parameters: dict[str, Json] = {**(one.params or {}), **mode}
    yield _jmh_row(one.benchmark, "wall", one.primary_metric, parameters)
    for name, metric in (one.secondary_metrics or {}).items():
        # A profiler's metric has a dot before its name in older versions, and may be no number.
        row = _jmh_row(one.benchmark, name.lstrip("\u00b7"), metric, parameters)
        if row.values or row.told:
            yield row


def _jmh_row(
    name: str, metric: str, one: _JmhMetric, parameters: Mapping[str, Json]
) -> Measurement:
    forks = _forks(one)
    # A fork is a process: its iterations are not independent.
    values = [mean(fork) for fork in forks] if len(forks) > 1 else [*chain(*forks)]
    score = None if values else number(one.score)
    told = {} if score is None else {"mean": score}
    note = "" if values or told else "failed: the score is no number"
    time = IN_A_SECOND.get(one.score_unit.removesuffix("/op"))
    rate = IN_A_SECOND.get(one.score_unit.removeprefix("ops/"))
    unit = _JMH_UNITS.get(one.score_unit, one.score_unit)
    if time:
        unit, values = "s", [value / time for value in values]
        told = {name: value / time for name, value in told.items()}
    elif rate and metric == "wall":
        unit, values = "s", [1 / (value * rate) for value in values if value]
        told = {name: 1 / (value * rate) for name, value in told.items() if value}
        note = note or "the file has operations a time; these are their inverses"
    elif metric == "wall":
        metric, note = "score", note or f"{unit!r} is no unit of time that is known"
    return Measurement(name, metric, unit, known(values), told, parameters, note)


def _forks(one: _JmhMetric) -> list[list[float]]:
    sampled = [known(map(_weighted, fork)) for fork in one.raw_data_histogram]
    return [fork for fork in sampled or map(numbers, one.raw_data) if fork]


def _weighted(counts: Sequence[tuple[float, float]]) -> float | None:
    """Return the mean of an iteration, of whose samples there are so many of each value."""
    total = sum(count for _, count in counts)
    return sum(value * count for value, count in counts) / total if total else None


# -- BenchmarkDotNet's JSON exporters: nanoseconds an operation.
# Source: dotnet/BenchmarkDotNet, Exporters/Json/JsonExporterBase.cs.

_DOTNET_STATISTICS = "N Median Mean StandardDeviation Min Max"


class _DotNetMeasurement(Struct, rename="pascal"):
    iteration_stage: str = ""
    launch_index: int = 0
    operations: float = 0.0
    nanoseconds: float | None = None


class _DotNetBenchmark(Struct, rename="pascal"):
    method: str
    namespace: str | None = None
    type: str | None = None
    display_info: str = ""
    parameters: str | None = None
    statistics: dict[str, Any] | None = None
    memory: dict[str, Any] | None = None
    measurements: list[_DotNetMeasurement] = []


class _DotNetFile(Struct, rename="pascal"):
    benchmarks: list[_DotNetBenchmark]
    host_environment_info: dict[str, Any]


def _read_dotnet(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _DotNetFile)
    several = len({_job(one) for one in file.benchmarks}) > 1
    rows = [row for one in file.benchmarks for row in _dotnet_rows(one, job=several)]
    told = file.host_environment_info
    about = facts(
        BenchmarkDotNet=told.get("BenchmarkDotNetVersion"),
        system=words(told, "OsVersion", "RuntimeVersion"),
    )
    one_process = any(len(_launches(one)) < 2 for one in file.benchmarks)
    return Measurements(rows, about=about, one_process=one_process)


def _job(one: _DotNetBenchmark) -> str:
    # It is told only between the name and the parameters, as in "Type.Method: Job-A(x=1) [N=2]".
    return one.display_info.partition(": ")[2].partition(" [")[0]


def _launches(one: _DotNetBenchmark) -> list[float]:
    """Return the mean of each launch, in seconds: it is a process."""
    found: dict[int, list[float]] = {}
    for part in one.measurements:
        time = number(part.nanoseconds)
        if part.iteration_stage == "Result" and part.operations > 0 and time is not None:
            found.setdefault(part.launch_index, []).append(time / part.operations)
    return [mean(launch) / _NS for launch in found.values()]


def _dotnet_rows(one: _DotNetBenchmark, *, job: bool) -> Iterator[Measurement]:
    name = ".".join(part for part in (one.namespace, one.type, one.method) if part)
    pairs = [pair.partition("=") for pair in (one.parameters or "").split("&") if pair]
    parameters: dict[str, Json] = {key: value for key, _, value in pairs}
    parameters |= {"job": _job(one)} if job else {}
    found = one.statistics or {}
    values, told = _launches(one) if found else [], {}
    if len(values) < 2:
        values = [value / _NS for value in numbers(found.get("OriginalValues"))]
        told = statistics(found, _DOTNET_STATISTICS, _NS)
    note = "failed: it has no statistics" if one.statistics is None else ""
    yield Measurement(name, "wall", "s", values, told, parameters, note)
    memory = number((one.memory or {}).get("BytesAllocatedPerOperation"))
    if memory is not None:
        yield Measurement(name, "memory", "B", (), {"mean": memory}, parameters)


# -- k6 --summary-export, where a metric's numbers are its members, and the data of handleSummary,
# where they are its ``values``. Times are in milliseconds, whatever the summary shows them in.
# Source: grafana/k6, js/summary-wrapper.js (oldJSONSummary).

#: Metrics of k6's own that are times; an export does not tell it.
_K6_TIMES = re.compile(
    r"(browser_)?http_req_\w+|(iteration|group|grpc_req|ws_session)_duration|ws_connecting|ws_ping"
)
_K6_UNITS = {"data_sent": "B", "data_received": "B", "vus": "1", "vus_max": "1"}
_K6_STATISTICS = "count med avg - min max"


class _K6File(Struct):
    metrics: dict[str, dict[str, Any]]


def _read_k6(content: bytes, _place: Path) -> Measurements:
    metrics = decoded(content, _K6File).metrics
    return Measurements([row for name, one in metrics.items() for row in _k6_rows(name, one)])


def _k6_rows(name: str, one: dict[str, Any]) -> Iterator[Measurement]:
    inner = one.get("values")
    told = cast("dict[str, Any]", inner) if isinstance(inner, dict) else one
    own = name.partition("{")[0]
    contains = one.get("contains", "time" if _K6_TIMES.fullmatch(own) else "")
    unit = "B" if contains == "data" else _K6_UNITS.get(own, "")
    if one.get("type") == "trend" or "avg" in told or "med" in told:
        metric, unit, parts = ("wall", "s", _MS) if contains == "time" else ("value", unit, 1.0)
        yield Measurement(name, metric, unit, (), statistics(told, _K6_STATISTICS, parts))
        rest = {key: (unit, parts) for key in told if key.startswith("p(")}
    elif "count" in told:
        rest = {"count": (unit or "1", 1.0), "rate": (f"{unit or 1}/s", 1.0)}
    elif "passes" in told:
        told, rest = {"rate": told.get("rate", told.get("value"))}, {"rate": ("1", 1.0)}
    else:
        rest = {"value": ("s", _MS) if contains == "time" else (unit, 1.0)}
    for metric, (unit, parts) in rest.items():
        if (value := number(told.get(metric))) is not None:
            yield Measurement(name, metric, unit, [value / parts])


# -- vitest bench --outputJson: milliseconds an iteration; vitest 3.2 empties the samples.
# Source: vitest-dev/vitest, src/node/reporters/benchmark/json-formatter.ts.


class _Group(Struct, rename="camel"):
    benchmarks: list[dict[str, Any]]
    full_name: str = ""


class _VitestSource(Struct):
    groups: list[_Group]


class _VitestFile(Struct):
    files: list[_VitestSource]


def _read_vitest(content: bytes, _place: Path) -> Measurements:
    groups = [group for one in decoded(content, _VitestFile).files for group in one.groups]
    rows = [_vitest_row(group.full_name, one) for group in groups for one in group.benchmarks]
    return Measurements(rows, one_process=True)


def _vitest_row(group: str, one: dict[str, Any]) -> Measurement:
    told = statistics(one, "sampleCount median mean sd min max", _MS)
    values = [value / _MS for value in numbers(one.get("samples"))]
    note = "" if values or told else "failed: nothing was measured"
    name = " > ".join(filter(None, (group, words(one, "name"))))
    return Measurement(name, "wall", "s", values, told, note=note)


#: For the registry.
VM_TOOLS = (
    by_keys("jmh", "JMH", _read_jmh, ("[].benchmark", "[].primaryMetric")),
    by_keys(
        "benchmarkdotnet", "BenchmarkDotNet", _read_dotnet, ("HostEnvironmentInfo", "Benchmarks")
    ),
    by_keys(
        "k6", "k6", _read_k6, ("metrics", "root_group"), ("metrics", "state.testRunDurationMs")
    ),
    by_keys("vitest", "vitest bench", _read_vitest, ("files.[].filepath", "files.[].groups")),
)
