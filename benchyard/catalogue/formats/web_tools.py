"""Files of tools for the web: k6 and vitest."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec import Struct, field

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
)

_PER_S = IN_A_SECOND["ms"]

# -- k6 --summary-export, where a metric's numbers are its members, and the data of handleSummary,
# where they are its ``values``. Times are in milliseconds, whatever the summary shows them in.
# Source: grafana/k6, js/summary-wrapper.js (oldJSONSummary).

#: Metrics of k6's own that are times; an export does not tell it.
_K6_TIMES = re.compile(
    r"(browser_)?http_req_\w+|(iteration|group|grpc_req|ws_session)_duration|ws_connecting|ws_ping"
)
_K6_UNITS = {"data_sent": "B", "data_received": "B", "vus": "1", "vus_max": "1"}
_K6_STATISTICS = {"mean": "avg", "median": "med", "min": "min", "max": "max"}


class _K6File(Struct):
    metrics: dict[str, dict[str, Any]]
    state: dict[str, Any] = field(default_factory=dict[str, Any])


def _read_k6(content: bytes, _place: Path) -> Measurements:
    file = decoded(content, _K6File)
    rows = [row for name, one in file.metrics.items() for row in _k6_rows(name, one)]
    lasted = number(file.state.get("testRunDurationMs"))
    return Measurements(rows, about=facts(seconds=lasted and lasted / _PER_S))


def _k6_rows(name: str, one: dict[str, Any]) -> Iterator[Measurement]:
    inner = one.get("values")
    told = cast("dict[str, Any]", inner) if isinstance(inner, dict) else one
    own = name.partition("{")[0]
    contains = one.get("contains", "time" if _K6_TIMES.fullmatch(own) else "")
    unit = "B" if contains == "data" else _K6_UNITS.get(own, "")
    if one.get("type") == "trend" or "avg" in told or "med" in told:
        metric, unit, parts = ("wall", "s", _PER_S) if contains == "time" else ("value", unit, 1.0)
        numbers = {ours: told.get(theirs) for ours, theirs in _K6_STATISTICS.items()}
        stats = statistics(n=number(told.get("count"))) | divided(parts, **numbers)
        yield Measurement(name, metric, unit, (), stats)
        rest = {key: (unit, parts) for key in told if key.startswith("p(")}
    elif "count" in told:
        rest = {"count": (unit or "1", 1.0), "rate": (f"{unit or 1}/s", 1.0)}
    elif "passes" in told:
        told, rest = {"rate": told.get("rate", told.get("value"))}, {"rate": ("1", 1.0)}
    else:
        rest = {"value": ("s", _PER_S) if contains == "time" else (unit, 1.0)}
    for metric, (unit, parts) in rest.items():
        if (value := number(told.get(metric))) is not None:
            yield Measurement(name, metric, unit, [value / parts])


# -- vitest bench --outputJson: milliseconds an iteration; vitest 3.2 empties the samples.
# Source: vitest-dev/vitest, src/node/reporters/benchmark/json-formatter.ts.


class _Bench(Struct, rename={"n": "sampleCount", "stdev": "sd"}):
    name: str
    mean: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    stdev: float | None = None
    n: int | None = None
    samples: list[float | None] = []


class _Group(Struct, rename="camel"):
    benchmarks: list[_Bench]
    full_name: str = ""


class _VitestSource(Struct):
    groups: list[_Group]


class _VitestFile(Struct):
    files: list[_VitestSource]


def _read_vitest(content: bytes, _place: Path) -> Measurements:
    groups = [group for one in decoded(content, _VitestFile).files for group in one.groups]
    rows = [_vitest_row(group.full_name, one) for group in groups for one in group.benchmarks]
    return Measurements(rows, one_process=True)


def _vitest_row(group: str, one: _Bench) -> Measurement:
    numbers = {name: getattr(one, name) for name in ("mean", "median", "min", "max", "stdev")}
    told = {**statistics(n=one.n), **divided(_PER_S, **numbers)}
    values = [value / _PER_S for value in known(one.samples)]
    note = "" if values or told else "failed: nothing was measured"
    name = f"{group} > {one.name}" if group else one.name
    return Measurement(name, "wall", "s", values, told, note=note)


#: For the registry.
WEB_TOOLS = (
    BenchmarkFile(
        "k6",
        "k6",
        lambda head: (
            head.has("metrics") and (head.has("root_group") or head.has("state.testRunDurationMs"))
        ),
        _read_k6,
        "`.json` with `metrics`, and a `root_group` or a `state` with `testRunDurationMs`",
    ),
    BenchmarkFile(
        "vitest",
        "vitest bench",
        lambda head: head.has("files.[].filepath", "files.[].groups"),
        _read_vitest,
        "`.json` with `files` that have a `filepath` and `groups`",
    ),
)
