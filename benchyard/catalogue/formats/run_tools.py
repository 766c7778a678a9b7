"""Files of ReBench and BenchExec, which run programs, and of benchmarks of databases."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from msgspec import Struct, field

from benchyard.catalogue.formats.contract import elements, text_of
from benchyard.catalogue.formats.measurements import (
    IN_A_SECOND,
    BenchmarkFile,
    Measurement,
    Measurements,
    by_keys,
    decoded,
    facts,
    failures,
    known,
    moment,
    number,
    numbers,
    seconds_of,
    statistics,
    words,
)
from benchyard.catalogue.formats.units import gathered, measured, newest, quantity
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.wording import quote

_US = IN_A_SECOND["us"]

# -- ReBench: NAME.data, lines with tabs; each execution of ReBench adds a head and lines.
# Source: smarr/ReBench 1.3, rebench/persistence.py and rebench/model/measurement.py.

_BEGAN, _WHERE, _WHAT = "# Execution Start: ", "# Environment: ", "# Source: "
_HEADS = (_BEGAN, _WHERE, _WHAT)
_HEAD = "invocation\titeration\tvalue\tunit\tcriterion"
#: What is behind these five in files without a head; the machine came with version 1.2.
_RUN = ("benchmark", "executor", "suite", "extraArgs", "cores", "inputSize", "varValue", "machine")
_MEASURED = 5
_FEWEST = _MEASURED + len(_RUN) - 1
#: Of ``/usr/bin/time``: it tells kibibytes.
_MEMORY = {"MaxRSS": ("peak memory", "KiB")}


def _read_rebench(content: bytes, _place: Path) -> Measurements:
    if not content.endswith(b"\n"):
        raise InputError("its last line breaks off")
    session: dict[str, str] = {}
    found: dict[tuple[str, str], tuple[dict[str, str], list[tuple[str, Measurement]]]] = {}
    heads: Sequence[str] = _RUN
    for at, line in enumerate(text_of(content).replace("\r\n", "\n").split("\n"), 1):
        if line.startswith("#"):
            session |= {key: line[len(key) :] for key in _HEADS if line.startswith(key)}
        elif line.startswith(_HEAD):
            heads = line.split("\t")[_MEASURED:]
        elif line:
            key = (session.get(_WHERE, ""), session.get(_WHAT, ""))
            _, rows = found.setdefault(key, ({**session}, []))
            rows.append(_rebench_row(at, line.split("\t"), heads))
    return newest([_session(told, rows) for told, rows in found.values()])


def _rebench_row(at: int, cells: list[str], heads: Sequence[str]) -> tuple[str, Measurement]:
    if len(cells) < _FEWEST:
        raise InputError(f"line {at:,} has {len(cells)} values, not {_MEASURED + len(heads)}")
    invocation, _, text, unit, criterion = cells[:_MEASURED]
    told = dict(zip(heads, cells[_MEASURED:], strict=False))
    value = quantity(text, f"line {at:,}: '{quote(text)}'")
    parameters: dict[str, Json] = {
        name: one for name, one in told.items() if one and name not in ("benchmark", "runId")
    }
    metric, unit = _MEMORY.get(criterion, (criterion, unit))
    metric = "" if metric == "total" else metric
    name = told.get("benchmark", "unnamed")
    return invocation, measured(name, metric, unit, value, parameters=parameters)


def _session(told: Mapping[str, str], rows: list[tuple[str, Measurement]]) -> Measurements:
    where, what = (decoded(told.get(key, "{}").encode(), dict[str, Any]) for key in (_WHERE, _WHAT))
    return Measurements(
        # An invocation is a process: its iterations are not independent.
        gathered(rows),
        host=words(where, "hostName"),
        commit=words(what, "commitId"),
        started_s=seconds_of(told.get(_BEGAN, "")),
        about=facts(
            repository=what.get("repoURL"),
            message=words(what, "commitMsg").partition("\n")[0],
            processor=where.get("cpu"),
        ),
    )


# -- BenchExec: NAME.results.xml, a task a run.
# Source: sosy-lab/benchexec 3.35, doc/result.dtd and benchexec/result.py.

_COLUMNS = {"walltime": "wall", "cputime": "cpu", "memUsage": "memory"}
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z/]*)")
_DONE = ("done", "true", "false")


def _read_benchexec(content: bytes, _place: Path) -> Measurements:
    root = elements(content)
    hosts = {system.get("hostname", "") for system in root.findall("systeminfo")}
    return Measurements(
        gathered(("", row) for run in root.iter("run") for row in _run_rows(run)),
        # Where several hosts took part, no run tells its own.
        host=hosts.pop() if len(hosts) == 1 else "",
        started_s=seconds_of(root.get("starttime", "")),
        about=facts(
            tool=words(root.attrib, "tool", "version"),
            run_set=root.get("name"),
            time_limit=root.get("timelimit"),
            memory_limit=root.get("memlimit"),
            error=root.get("error"),
        ),
    )


def _run_rows(run: Element) -> Iterator[Measurement]:
    shown = [one for one in run.findall("column") if one.get("hidden") != "true"]
    told = {one.get("title", ""): one.get("value", "") for one in shown}
    status = told.pop("status", "")
    failed = "" if status.startswith(_DONE) else "failed: "
    note = "" if status in ("", "done", "true") else f"{failed}status {status}"
    name = run.get("name", "unnamed")
    parameters: dict[str, Json] = {
        key: text for key in ("properties", "options") if (text := run.get(key))
    }
    rows = [row for title, text in told.items() if (row := _column(name, title, text))]
    for row in rows or [Measurement(name, "wall", "s")]:
        yield replace(row, parameters=parameters, note=note)


def _column(name: str, title: str, text: str) -> Measurement | None:
    """Return what a column has; None if that is no number."""
    read = _NUMBER.fullmatch(text.strip())
    if read is None:
        return None
    metric = _COLUMNS.get(title, title)
    # Before version 2 memory had no unit.
    unit = read[2] or ("B" if metric == "memory" else "")
    return measured(name, metric, unit, quantity(read[1], title))


# -- ClickBench: SYSTEM/results/DAY/MACHINE.json, three tries of each of 43 queries.
# Source: ClickHouse/ClickBench, README.md and arc/results/20260511/t3a.small.json.


class _ClickFile(Struct):
    system: str
    result: list[list[float | None] | None]
    machine: str = ""
    date: str = ""
    load_time: float | None = None
    data_size: float | None = None
    tags: list[str] = []


def _read_click(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _ClickFile)
    rows = [row for at, tries in enumerate(file.result) for row in _query_rows(at, tries or [])]
    load, size = known([file.load_time]), known([file.data_size])
    rows += [Measurement("load", "wall", "s", load)] if load else []
    rows += [Measurement("data", "size", "B", size)] if size else []
    return Measurements(
        rows,
        host=file.machine,
        # Only the day is known.
        started_s=seconds_of(file.date, utc=True),
        # The tags tell which systems have no cold run.
        about=facts(system=file.system, tags=", ".join(file.tags)),
        # The tries of a query are of one server.
        one_process=True,
    )


def _query_rows(at: int, tries: list[float | None]) -> Iterator[Measurement]:
    # Caches are dropped before the first try alone.
    for name, part in ((f"Q{at} (cold)", tries[:1]), (f"Q{at}", tries[1:])):
        values = known(part)
        note = failures(len(part) - len(values), len(part)) if values else "failed"
        yield Measurement(name, "wall", "s", values, note=note)


# -- BenchBase: NAME_TIME.summary.json.
# Source: cmu-db/benchbase, util/ResultWriter.java, DistributionStatistics.java.

_MOMENTS = ("Start timestamp", "Current Timestamp")
_PARAMETERS = ("scalefactor", "terminals", "isolation")
_BENCHBASE_STATISTICS = "n Median Average - Minimum Maximum"


class _BenchBaseFile(Struct):
    latencies: dict[str, float | None] = field(name="Latency Distribution")


def _read_benchbase(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, dict[str, Any])
    began, ended = (number(file.get(f"{name} (milliseconds)")) for name in _MOMENTS)
    if began is None and ended is not None:
        began = ended - (number(file.get("Elapsed Time (nanoseconds)")) or 0.0) / 1e6
    return Measurements(
        [*_benchbase_rows(file, decoded(content, _BenchBaseFile).latencies)],
        started_s=None if began is None else moment(began / 1e3),
        about=facts(database=words(file, "DBMS Type", "DBMS Version")),
    )


def _benchbase_rows(
    file: Mapping[str, Any], latencies: Mapping[str, float | None]
) -> Iterator[Measurement]:
    name, state = words(file, "Benchmark Type") or "unnamed", file.get("Final State")
    parameters: dict[str, Json] = {key: str(file[key]) for key in _PARAMETERS if file.get(key)}
    # Where nothing was measured, it writes -1.
    latency = {
        key.removesuffix(" Latency (microseconds)"): value
        for key, value in latencies.items()
        if value is not None and value >= 0
    }
    told = statistics({**latency, "n": file.get("Measured Requests")}, _BENCHBASE_STATISTICS, _US)
    note = "" if told.keys() - {"n"} else "no value"
    if state not in (None, "EXIT", "DONE"):
        note = f"failed: it ended as {state}"
    yield Measurement(name, "wall", "s", (), told, parameters, note)
    for metric in ("throughput", "goodput"):
        if values := numbers([file.get(f"{metric.title()} (requests/second)")]):
            yield Measurement(name, metric, "1/s", values, {}, parameters)
    for key, value in latency.items():
        if key not in _BENCHBASE_STATISTICS.split():
            yield Measurement(name, f"{key.lower()} latency", "s", [value / _US], {}, parameters)


#: For the registry.
RUN_TOOLS = (
    BenchmarkFile(
        "rebench",
        "ReBench",
        lambda head: head.text.startswith(b"#") and _BEGAN.encode() in head.text,
        _read_rebench,
        "`.data` with a line `# Execution Start:` among its first",
        (".data",),
    ),
    BenchmarkFile(
        "benchexec",
        "BenchExec",
        lambda head: re.search(rb"<result\s[^>]*\bbenchmarkname=", head.text) is not None,
        _read_benchexec,
        "`.xml` whose `result` has a `benchmarkname`",
        (".xml", ".xml.gz"),
    ),
    by_keys("clickbench", "ClickBench", _read_click, ("system", "machine", "load_time", "result")),
    by_keys("benchbase", "BenchBase", _read_benchbase, ("Latency Distribution", "DBMS Type")),
)
