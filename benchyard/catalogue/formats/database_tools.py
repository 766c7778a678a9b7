"""Files of benchmarks of databases: ClickBench, BenchBase."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from benchyard.catalogue.formats.measurements import (
    BenchmarkFile,
    Measurement,
    Measurements,
    decoded,
    facts,
    known,
    moment,
    seconds_of,
    statistics,
    words,
)
from benchyard.core.model import Json

# -- ClickBench: SYSTEM/results/DAY/MACHINE.json, three tries of each of 43 queries.
# Source: ClickHouse/ClickBench, README.md and arc/results/20260511/t3a.small.json.


class _ClickFile(Struct):
    system: str
    result: list[list[float | None] | None]
    machine: str = ""
    date: str = ""
    load_time: float | None = None
    data_size: float | None = None
    cluster_size: int | str | None = None
    comment: str | None = None
    tags: list[str] = []
    tuned: str | None = None
    error: str | None = None


def _read_click(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _ClickFile)
    rows = [row for at, tries in enumerate(file.result) for row in _query_rows(at, tries or [])]
    if file.load_time is not None:
        rows.append(Measurement("load", "wall", "s", known([file.load_time])))
    if file.data_size is not None:
        rows.append(Measurement("data", "size", "B", known([file.data_size])))
    return Measurements(
        rows,
        host=file.machine,
        # Only the day is known.
        started_s=seconds_of(file.date, utc=True),
        about=facts(
            system=file.system,
            date=file.date,
            tuned=file.tuned,
            cluster_size=file.cluster_size,
            comment=file.comment,
            # They tell which systems have no cold run.
            tags=", ".join(file.tags),
            error=file.error,
        ),
        # The tries of a query are of one server.
        one_process=True,
    )


def _query_rows(at: int, tries: list[float | None]) -> Iterator[Measurement]:
    # Caches are dropped before the first try alone.
    for name, part in ((f"Q{at} (cold)", tries[:1]), (f"Q{at}", tries[1:])):
        values = known(part)
        failed = len(part) - len(values)
        note = f"{failed:,} of {len(part):,} executions failed" if values and failed else ""
        yield Measurement(name, "wall", "s", values, note=note or ("" if values else "failed"))


# -- BenchBase: NAME_TIME.summary.json.
# Source: cmu-db/benchbase, util/ResultWriter.java, DistributionStatistics.java.

_US_PER_S, _NS_PER_MS, _MS_PER_S = 1e6, 1e6, 1e3
_LATENCY = " Latency (microseconds)"
_PARAMETERS = ("scalefactor", "terminals", "isolation")
_TOLD = {"Average": "mean", "Median": "median", "Minimum": "min", "Maximum": "max"}


class _BenchBaseFile(Struct):
    latency: dict[str, float | None] = field(name="Latency Distribution")
    throughput: float | None = field(name="Throughput (requests/second)")
    goodput: float | None = field(default=None, name="Goodput (requests/second)")
    benchmark: str | None = field(default=None, name="Benchmark Type")
    database: str | None = field(default=None, name="DBMS Type")
    version: str | None = field(default=None, name="DBMS Version")
    state: str | None = field(default=None, name="Final State")
    requests: float | None = field(default=None, name="Measured Requests")
    began_ms: float | None = field(default=None, name="Start timestamp (milliseconds)")
    ended_ms: float | None = field(default=None, name="Current Timestamp (milliseconds)")
    took_ns: float | None = field(default=None, name="Elapsed Time (nanoseconds)")
    scalefactor: Any = None
    terminals: Any = None
    isolation: Any = None


def _read_benchbase(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _BenchBaseFile)
    began = file.began_ms
    if began is None and file.ended_ms is not None:
        began = file.ended_ms - (file.took_ns or 0) / _NS_PER_MS
    return Measurements(
        [*_benchbase_rows(file)],
        started_s=None if began is None else moment(began / _MS_PER_S),
        about=facts(database=file.database, version=file.version, state=file.state),
    )


def _benchbase_rows(file: _BenchBaseFile) -> Iterator[Measurement]:
    name = file.benchmark or "unnamed"
    told = {member: words({"": getattr(file, member)}, "") for member in _PARAMETERS}
    parameters: dict[str, Json] = {member: text for member, text in told.items() if text}
    note = "" if file.state in (None, "EXIT", "DONE") else f"failed: it ended as {file.state}"
    # Where nothing was measured, it writes -1.
    latency = {
        key.removesuffix(_LATENCY): value / _US_PER_S
        for key, value in file.latency.items()
        if value is not None and value >= 0
    }
    wall = {_TOLD[key]: value for key, value in latency.items() if key in _TOLD}
    stats = statistics(**wall, n=file.requests)
    note = note or ("" if wall else "no value")
    yield Measurement(name, "wall", "s", (), stats, parameters, note)
    for metric, value in (("throughput", file.throughput), ("goodput", file.goodput)):
        if values := known([value]):
            yield Measurement(name, metric, "1/s", values, {}, parameters)
    for key, value in latency.items():
        if key not in _TOLD:
            yield Measurement(name, f"{key.lower()} latency", "s", [value], {}, parameters)


#: For the registry.
DATABASE_TOOLS = (
    BenchmarkFile(
        "clickbench",
        "ClickBench",
        lambda head: head.has("system", "machine", "load_time", "result"),
        _read_click,
        "`.json` with a `system`, a `machine`, a `load_time` and a `result`",
    ),
    BenchmarkFile(
        "benchbase",
        "BenchBase",
        lambda head: head.has("Latency Distribution", "DBMS Type"),
        _read_benchbase,
        "`.json` with a `Latency Distribution` and a `DBMS Type`",
    ),
)
