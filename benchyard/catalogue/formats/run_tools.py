"""Files of tools that run programs under limits and denoised: ReBench, BenchExec."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from benchyard.catalogue.formats.measurements import (
    BenchmarkFile,
    Measurement,
    Measurements,
    decoded,
    facts,
    seconds_of,
    words,
)
from benchyard.catalogue.formats.units import gathered, measured, newest, quantity
from benchyard.catalogue.formats.xml_text import elements
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.traces.recognising import Head

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
    for at, line in enumerate(_lines(content), 1):
        if line.startswith("#"):
            session |= {key: line[len(key) :] for key in _HEADS if line.startswith(key)}
        elif line.startswith(_HEAD):
            heads = line.split("\t")[_MEASURED:]
        elif line:
            key = (session.get(_WHERE, ""), session.get(_WHAT, ""))
            _, rows = found.setdefault(key, ({**session}, []))
            rows.append(_rebench_row(at, line.split("\t"), heads))
    return newest([_session(told, rows) for told, rows in found.values()])


def _lines(content: bytes) -> list[str]:
    try:
        return content.decode().replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"it is no text in UTF-8: {error}") from error


def _rebench_row(at: int, cells: list[str], heads: Sequence[str]) -> tuple[str, Measurement]:
    if len(cells) < _FEWEST:
        raise InputError(f"line {at:,} has {len(cells)} values, not {_MEASURED + len(heads)}")
    invocation, _, text, unit, criterion = cells[:_MEASURED]
    told = dict(zip(heads, cells[_MEASURED:], strict=False))
    try:
        value = quantity(text)
    except ValueError as error:
        raise InputError(f"line {at:,}: {error}") from error
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
            branch=what.get("branchOrTag"),
            message=words(what, "commitMsg").partition("\n")[0],
            processor=where.get("cpu"),
            system=where.get("osType"),
        ),
    )


def _is_rebench(head: Head) -> bool:
    return head.text.startswith(b"#") and _BEGAN.encode() in head.text


# -- BenchExec: NAME.results.xml, a task a run.
# Source: sosy-lab/benchexec 3.35, doc/result.dtd and benchexec/result.py.

_COLUMNS = {"walltime": "wall", "cputime": "cpu", "memory": "memory", "memUsage": "memory"}
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z/]*)")
_DONE = ("done", "true", "false")


def _read_benchexec(content: bytes, _place: Path) -> Measurements:
    root = elements(content)
    systems = root.findall("systeminfo")
    hosts = {system.get("hostname", "") for system in systems}
    processor = systems[0].find("cpu") if systems else None
    return Measurements(
        gathered(("", row) for run in root.iter("run") for row in _run_rows(run)),
        # Where several hosts took part, no run tells its own.
        host=hosts.pop() if len(hosts) == 1 else "",
        started_s=seconds_of(root.get("starttime", "")),
        about=facts(
            tool=words(root.attrib, "tool", "version"),
            run_set=root.get("name"),
            date=root.get("date"),
            options=root.get("options"),
            time_limit=root.get("timelimit"),
            memory_limit=root.get("memlimit"),
            processor=None if processor is None else processor.get("model"),
            benchexec=root.get("generator"),
            error=root.get("error"),
        ),
    )


def _run_rows(run: Element) -> Iterator[Measurement]:
    told = {
        one.get("title", ""): one.get("value", "")
        for one in run.findall("column")
        if one.get("hidden") != "true"
    }
    status = told.pop("status", "")
    note = "" if status in ("", "done", "true") else f"status {status}"
    if not status.startswith(_DONE) and status:
        note = f"failed: {note}"
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
    return measured(name, metric, unit, quantity(read[1]))


def _is_benchexec(head: Head) -> bool:
    return re.search(rb"<result\s[^>]*\bbenchmarkname=", head.text) is not None


#: For the registry.
RUN_TOOLS = (
    BenchmarkFile(
        "rebench",
        "ReBench",
        _is_rebench,
        _read_rebench,
        "`.data` with a line `# Execution Start:` among its first",
        (".data",),
    ),
    BenchmarkFile(
        "benchexec",
        "BenchExec",
        _is_benchexec,
        _read_benchexec,
        "`.xml` whose `result` has a `benchmarkname`",
        (".xml", ".xml.gz"),
    ),
)
