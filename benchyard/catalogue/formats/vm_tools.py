"""Files of benchmarks on virtual machines: JMH's and BenchmarkDotNet's."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    BenchmarkFile,
    Measurement,
    Measurements,
    decoded,
    divided,
    facts,
    known,
    number,
    statistics,
    words,
)
from benchyard.core.model import Json
from benchyard.statistics.measures import mean

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
    jmh_version: str = ""
    vm_name: str = ""
    vm_version: str = ""


_JMH_UNITS = {"B/op": "B", "counts": "1"}


def _read_jmh(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, list[_JmhResult])
    several = len({one.mode for one in file}) > 1
    rows = [row for one in file for row in _jmh_rows(one, {"mode": one.mode} if several else {})]
    versions = {f"{one.jmh_version} on {one.vm_name} {one.vm_version}" for one in file}
    one_process = any(len(_forks(one.primary_metric)) == 1 for one in file)
    return Measurements(rows, about=facts(JMH=", ".join(sorted(versions))), one_process=one_process)


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
    told = {} if values else statistics(mean=number(one.score))
    note = "" if values or told else "failed: the score is no number"
    time = IN_A_SECOND.get(one.score_unit.removesuffix("/op"))
    rate = IN_A_SECOND.get(one.score_unit.removeprefix("ops/"))
    unit = _JMH_UNITS.get(one.score_unit, one.score_unit)
    if time:
        unit, values, told = "s", [value / time for value in values], divided(time, **told)
    elif rate and metric == "wall":
        unit, values = "s", [1 / (value * rate) for value in values if value]
        told = statistics(**{s: 1 / (value * rate) for s, value in told.items() if value})
        note = note or "the file has operations a time; these are their inverses"
    elif metric == "wall":
        metric, note = "score", note or f"{unit!r} is no unit of time that is known"
    return Measurement(name, metric, unit, known(values), told, parameters, note)


def _forks(one: _JmhMetric) -> list[list[float]]:
    sampled = [[*map(_weighted, fork)] for fork in one.raw_data_histogram]
    forks = sampled or [[*map(number, fork)] for fork in one.raw_data]
    return [found for fork in forks if (found := known(fork))]


def _weighted(counts: Sequence[tuple[float, float]]) -> float | None:
    """Return the mean of an iteration, of whose samples there are so many of each value."""
    total = sum(count for _, count in counts)
    return sum(value * count for value, count in counts) / total if total else None


# -- BenchmarkDotNet's JSON exporters: nanoseconds an operation.
# Source: dotnet/BenchmarkDotNet, Exporters/Json/JsonExporterBase.cs.

_PER_S = IN_A_SECOND["ns"]


_STATISTICS = {"stdev": "StandardDeviation"} | {
    name.lower(): name for name in ("Median", "Mean", "Min", "Max")
}


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
    version, system = words(told, "BenchmarkDotNetVersion"), words(told, "OsVersion")
    about = facts(BenchmarkDotNet=version, runtime=words(told, "RuntimeVersion"), system=system)
    one_process = any(len(_launches(one)) < 2 for one in file.benchmarks)
    return Measurements(rows, about=about, one_process=one_process)


def _job(one: _DotNetBenchmark) -> str:
    # It is told only between the name and the parameters, as in "Type.Method: Job-A(x=1) [N=2]".
    return one.display_info.partition(": ")[2].partition(" [")[0]


def _launches(one: _DotNetBenchmark) -> list[float]:
    """Return the mean of each launch, in nanoseconds: it is a process."""
    found: dict[int, list[float | None]] = {}
    for part in one.measurements:
        if part.iteration_stage == "Result" and part.operations > 0:
            time = number(part.nanoseconds)
            found.setdefault(part.launch_index, []).append(time and time / part.operations)
    return [mean(values) for launch in found.values() if (values := known(launch))]


def _dotnet_rows(one: _DotNetBenchmark, *, job: bool) -> Iterator[Measurement]:
    name = ".".join(part for part in (one.namespace, one.type, one.method) if part)
    pairs = [pair.partition("=") for pair in (one.parameters or "").split("&") if pair]
    parameters: dict[str, Json] = {key: value for key, _, value in pairs}
    parameters |= {"job": _job(one)} if job else {}
    told, launches = one.statistics, _launches(one)
    if told is None:
        yield Measurement(name, "wall", "s", (), {}, parameters, "failed: it has no statistics")
    elif len(launches) > 1:
        values = [value / _PER_S for value in launches]
        yield Measurement(name, "wall", "s", values, {}, parameters)
    else:
        values = [value / _PER_S for value in known(map(number, told.get("OriginalValues") or ()))]
        numbers = {ours: told.get(theirs) for ours, theirs in _STATISTICS.items()}
        stats = statistics(n=number(told.get("N"))) | divided(_PER_S, **numbers)
        yield Measurement(name, "wall", "s", values, stats, parameters)
    memory = number((one.memory or {}).get("BytesAllocatedPerOperation"))
    if memory is not None:
        yield Measurement(name, "memory", "B", (), {"mean": memory}, parameters)


#: For the registry.
VM_TOOLS = (
    BenchmarkFile(
        "jmh",
        "JMH",
        lambda head: head.has("[].benchmark", "[].primaryMetric"),
        _read_jmh,
        "`.json` with a list of objects that have a `benchmark` and a `primaryMetric`",
    ),
    BenchmarkFile(
        "benchmarkdotnet",
        "BenchmarkDotNet",
        lambda head: head.has("HostEnvironmentInfo", "Benchmarks"),
        _read_dotnet,
        "`.json` with `HostEnvironmentInfo` and `Benchmarks`",
    ),
)
