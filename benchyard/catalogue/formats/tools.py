"""Files of hyperfine, ``benchyard time``, Bencher, Google Benchmark; TestResults documents."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    BenchmarkFile,
    Measurement,
    Measurements,
    ToolFile,
    by_keys,
    decoded,
    facts,
    failures,
    known,
    number,
    numbers,
    seconds_of,
    statistics,
    words,
)
from benchyard.catalogue.formats.writing import GOOGLE_OWN
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.publish.testresults.document import Document, parse, subject_in
from benchyard.traces.recognising import Head

_NS = IN_A_SECOND["ns"]

# -- hyperfine --export-json: always seconds and bytes.
# Source: hyperfine 1.19, src/benchmark/benchmark_result.rs.


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
    parameters: dict[str, str] = {}


class _HyperfineFile(Struct):
    results: list[_Result]


def _read_hyperfine(content: bytes, _place: Path) -> Measurements:
    results = decoded(content, _HyperfineFile).results
    return Measurements([row for one in results for row in _hyperfine_rows(one)])


def _hyperfine_rows(one: _Result) -> Iterator[Measurement]:
    note = failures(sum(code != 0 for code in one.exit_codes), len(one.exit_codes))
    parameters: dict[str, Json] = {**one.parameters}
    told = structs.asdict(one)
    wall = statistics(told, "- median mean stddev min max")
    yield Measurement(one.command, "wall", "s", known(one.times), wall, parameters, note)
    for metric in ("user", "system"):
        if (value := number(told[metric])) is not None:
            yield Measurement(one.command, metric, "s", (), {"mean": value}, parameters)
    if memory := known(one.memory_usage_byte):
        yield Measurement(one.command, "peak memory", "B", memory, {}, parameters)


# -- benchyard time -o NAME.json: commands against each other, each execution

_TIMING_METRICS = {
    "wall_s": ("wall", "s"),
    "user_s": ("user", "s"),
    "system_s": ("system", "s"),
    "peak_rss_bytes": ("peak memory", "B"),
}


class _Command(Struct):
    name: str
    executions: list[dict[str, Any]] = []
    parameters: dict[str, str] = {}


class _TimingFile(Struct):
    commands: list[_Command]
    version: str = ""
    stopped: str | None = None
    warnings: list[str] = []


def _read_timing(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _TimingFile)
    about = facts(benchyard=file.version, stopped=file.stopped, warnings="; ".join(file.warnings))
    rows = [row for one in file.commands for row in _timing_rows(one)]
    return Measurements(rows, about=about, in_turns=True)


def _timing_rows(one: _Command) -> Iterator[Measurement]:
    parameters: dict[str, Json] = {**one.parameters}
    failed = sum(bool(execution.get("exit_code")) for execution in one.executions)
    note = failures(failed, len(one.executions))
    for member, (metric, unit) in _TIMING_METRICS.items():
        values = numbers([execution.get(member) for execution in one.executions])
        if values or member == "wall_s":
            yield Measurement(one.name, metric, unit, values, {}, parameters, note)


# -- Bencher Metric Format: {BENCHMARK: {MEASURE: {"value": NUMBER}}}.
# Source: bencher.dev/docs/reference/bencher-metric-format.

#: Of measures that Bencher itself defines; a latency is in nanoseconds there.
_MEASURES = {"latency": "s", "throughput": "1/s", "build-time": "s", "file-size": "B"}
_NO_NUMBER = re.compile(rb'"(?:lower_|upper_)?value"\s*:\s*[^\s\d\-n]')


class _Metric(Struct, forbid_unknown_fields=True):
    value: float
    lower_value: float | None = None
    upper_value: float | None = None


def _read_bencher(content: bytes, _place: Path) -> Measurements:
    return Measurements([*_bencher_rows(decoded(content, dict[str, dict[str, _Metric]]))])


def _bencher_rows(benchmarks: dict[str, dict[str, _Metric]]) -> Iterator[Measurement]:
    for name, measures in benchmarks.items():
        for measure, one in measures.items():
            values = known([one.value / (_NS if measure == "latency" else 1.0)])
            bounds = {"lower_value": one.lower_value, "upper_value": one.upper_value}
            said = [f"{key} {bound:.15g}" for key, bound in bounds.items() if bound is not None]
            note = f"the file has {', '.join(said)}" if said else ""
            yield Measurement(name, measure, _MEASURES.get(measure, ""), values, note=note)


def _is_bencher(head: Head) -> bool:
    """Tell whether each key of the third level is a member of a metric, with a number behind it.

    Nothing in the format says its name.
    """
    third = {keys[2] for keys in head.keys if len(keys) == 3}
    members = {*_Metric.__struct_fields__}
    return "value" in third and third <= members and _NO_NUMBER.search(head.text) is None


# -- Google Benchmark: times of an iteration in a unit of each benchmark's own.
# Source: github.com/google/benchmark, src/json_reporter.cc.

_TIMES = {"real_time": "wall", "cpu_time": "cpu"}
_GOOGLE_UNITS = {"bytes_per_second": "B/s", "items_per_second": "1/s", "max_bytes_used": "B"}
#: Its aggregates of repetitions, as statistics; others are no amounts of the unit.
_AGGREGATES = "- median mean stddev min max"


class _GoogleFile(Struct):
    context: dict[str, Any]
    benchmarks: list[dict[str, Any]]


def _read_google(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _GoogleFile)
    context, date = file.context, words(file.context, "date")
    runs: dict[str, list[dict[str, Any]]] = {}
    for one in file.benchmarks:
        runs.setdefault(str(one.get("run_name") or one.get("name") or ""), []).append(one)
    return Measurements(
        [row for name, parts in runs.items() for row in _google_rows(name, parts)],
        host=words(context, "host_name"),
        started_s=seconds_of(date),
        about=facts(
            date=date,
            executable=context.get("executable"),
            processors=context.get("num_cpus"),
            MHz=context.get("mhz_per_cpu"),
            frequency_scaling="on" if context.get("cpu_scaling_enabled") else None,
        ),
        one_process=True,
    )


def _google_rows(name: str, parts: list[dict[str, Any]]) -> Iterator[Measurement]:
    note = next((why for one in parts if (why := _why(one))), "")
    good = [one for one in parts if not _why(one)]
    single = [one for one in good if not one.get("aggregate_name")]
    aggregates = {
        statistic: one
        for one in good
        if (statistic := str(one.get("aggregate_name"))) in _AGGREGATES.split()
    }
    metrics = dict.fromkeys(
        key
        for one in [*single, *aggregates.values()]
        for key, value in one.items()
        if key in _TIMES or (key not in GOOGLE_OWN and number(value) is not None)
    )
    for key in metrics:
        values = known(_value(one, key) for one in single)
        told = {statistic: _value(one, key) for statistic, one in aggregates.items()}
        unit = "s" if key in _TIMES else _GOOGLE_UNITS.get(key, "")
        stats = statistics(told, _AGGREGATES)
        yield Measurement(name, _TIMES.get(key, key), unit, values, stats, note=note)
    if note and not metrics:
        yield Measurement(name, "wall", "s", note=note)


def _why(one: dict[str, Any]) -> str:
    """Return why a benchmark has no value; empty if nothing is said."""
    if one.get("error_occurred"):
        return f"failed: {one.get('error_message') or 'no reason is told'}"
    return f"skipped: {one.get('skip_message') or ''}".rstrip(": ") if one.get("skipped") else ""


def _value(one: dict[str, Any], key: str) -> float | None:
    value = number(one.get(key))
    if value is None or key not in _TIMES:
        return value
    unit = str(one.get("time_unit", "ns"))
    if unit not in IN_A_SECOND:
        raise InputError(f"the time_unit of {one.get('name')!r} is none of ns, us, ms, s")
    return value / IN_A_SECOND[unit]


# -- TestResults documents of TensorFlow's schema, ours and others'

_ENTRIES = ("entries.entry", "entries")
#: One of them stands in each document, in one of the two spellings of its printers.
_BESIDE = (
    *("startTime", "start_time", "runTime", "run_time", "runConfiguration", "run_configuration"),
    *("machineConfiguration", "machine_configuration", "benchmarkType", "benchmark_type"),
)


class TestResultsFile(ToolFile[Document]):
    """The format of TestResults documents."""

    __test__ = False  # keeps pytest from collecting it

    def told(self, content: Document) -> Mapping[str, Any]:
        """Return what was tested, where and when, and how many entries there are."""
        subject = subject_in(content)
        return {
            "title": content.test,
            "host": str(subject.get("host") or ""),
            "commit": _commit(subject.get("repositories")),
            "started_s": content.started_at.timestamp() or None,
            "counts": {"entries": len(content.entries)},
        }


def _is_document(head: Head) -> bool:
    return any(map(head.has, _ENTRIES)) and any(map(head.has, _BESIDE))


def _commit(repositories: Json) -> str:
    for told in repositories.values() if isinstance(repositories, dict) else ():
        if isinstance(told, dict) and told.get("commit"):
            return str(told["commit"])
    return ""


#: For the registry.
TOOLS = (
    by_keys(
        *("hyperfine", "hyperfine", _read_hyperfine),
        ("results.[].command", "results.[].mean"),
    ),
    by_keys(
        *("benchyard-time", "benchyard time", _read_timing),
        ("seed", "rounds", "stopped", "commands"),
    ),
    BenchmarkFile(
        *("bencher", "Bencher Metric Format", _is_bencher, _read_bencher),
        "`.json` whose third level is `value`, `lower_value`, `upper_value`",
    ),
    by_keys(
        *("google-benchmark", "Google Benchmark", _read_google),
        ("context.num_cpus", "context.mhz_per_cpu"),
    ),
    TestResultsFile(
        "testresults",
        "TestResults",
        _is_document,
        lambda content, _: parse(content),
        "`.json` with `entries`, and a start, a machine or a configuration",
    ),
)
