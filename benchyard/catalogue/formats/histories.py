"""Files of services that keep histories: github-action-benchmark, Conbench."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from benchyard.catalogue.formats.measurements import (
    BenchmarkFile,
    Measurement,
    Measurements,
    by_keys,
    decoded,
    facts,
    failures,
    items,
    known,
    moment,
    seconds_of,
    words,
)
from benchyard.catalogue.formats.units import gathered, is_rate, measured, newest, quantity
from benchyard.core.wording import quote
from benchyard.results.summary_metrics import LARGER, SMALLER

# -- github-action-benchmark: data.js of its charts, and the JSON that its custom tools read.
# Source: benchmark-action/github-action-benchmark, src/extract.ts, src/write.ts.

_SCRIPT = b"window.BENCHMARK_DATA"
_DIRECTIONS = {"customBiggerIsBetter": LARGER, "customSmallerIsBetter": SMALLER}


class _Bench(Struct):
    name: str
    value: float | str | None = None
    unit: str = ""
    range: float | str | None = None


class _Entry(Struct):
    benches: list[_Bench]
    commit: dict[str, Any] = {}
    date: float | None = None
    tool: str = ""


class _ActionFile(Struct):
    entries: dict[str, list[_Entry]]
    repo: str = field(default="", name="repoUrl")


def _read_action(content: bytes, _place: Path) -> Measurements:
    if content.lstrip().startswith(_SCRIPT):
        content = content.partition(b"=")[2].strip().rstrip(b";")
    file = decoded(content, _ActionFile)
    # A commit that is measured again is measured by all suites again.
    commits: dict[tuple[str, int], list[tuple[str, _Entry]]] = {}
    for suite, entries in file.entries.items():
        times: dict[str, int] = {}
        for one in entries:
            commit = words(one.commit, "id")
            times[commit] = times.get(commit, 0) + 1
            commits.setdefault((commit, times[commit]), []).append((suite, one))
    several = len(file.entries) > 1
    return newest([_action_commit(file.repo, found, several=several) for found in commits.values()])


def _action_commit(repo: str, found: list[tuple[str, _Entry]], *, several: bool) -> Measurements:
    commit = found[0][1].commit
    dates = [one.date / 1000 for _, one in found if one.date is not None]
    rows = [
        ("", _action_row(bench, entry.tool, f"{suite}: " if several else ""))
        for suite, entry in found
        for bench in entry.benches
    ]
    return Measurements(
        gathered(rows),
        commit=words(commit, "id"),
        started_s=moment(min(dates)) if dates else seconds_of(words(commit, "timestamp")),
        about=facts(
            repository=repo,
            message=words(commit, "message").partition("\n")[0],
            tool=", ".join(dict.fromkeys(one.tool for _, one in found if one.tool)),
        ),
        one_process=True,
    )


def _action_row(one: _Bench, tool: str = "", before: str = "") -> Measurement:
    direction = _DIRECTIONS.get(tool)
    value = quantity(one.value, f"the value of '{quote(one.name)}'")
    said = f"range {one.range}" if one.range not in (None, "") else ""
    row = measured(before + one.name, "", one.unit, value, note=said)
    # Where of times the larger, or of rates the smaller are better, they are none of an operation.
    expected = LARGER if is_rate(one.unit) else SMALLER
    if direction is None or (row.metric == "wall" and direction == expected):
        return row
    if row.metric == "wall":
        row = Measurement(row.name, "value", one.unit, known([value]), note=said)
    return replace(row, direction=direction)


def _read_custom(content: bytes, _place: Path) -> Measurements:
    rows = gathered(("", _action_row(one)) for one in decoded(content, list[_Bench]))
    return Measurements(rows, one_process=True)


# -- Conbench: what is posted to its API, one benchmark a result.
# Source: conbench/conbench, benchadapt/python/benchadapt/result.py, cmd/conbench/testdata.


class _Result(Struct):
    tags: dict[str, Any]
    stats: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    timestamp: str = ""
    batch_id: str = ""
    machine_info: dict[str, Any] | None = None
    github: dict[str, Any] | None = None


def _read_conbench(content: bytes, _place: Path) -> Measurements:
    single = content.lstrip().startswith(b"{")
    results = [decoded(content, _Result)] if single else decoded(content, list[_Result])
    batches: dict[tuple[str, ...], list[_Result]] = {}
    for one in results:
        machine = words(one.machine_info or {}, "name")
        key = (words(one.github or {}, "commit"), machine, one.batch_id)
        batches.setdefault(key, []).append(one)
    return newest([_batch(found) for found in batches.values()])


def _batch(found: list[_Result]) -> Measurements:
    first = found[0]
    github, machine = first.github or {}, first.machine_info or {}
    return Measurements(
        gathered(("", row) for one in found for row in _result_rows(one)),
        host=words(machine, "name"),
        commit=words(github, "commit"),
        started_s=min(known(seconds_of(one.timestamp) for one in found), default=None),
        about=facts(
            repository=github.get("repository"),
            batch=first.batch_id,
            processor=machine.get("cpu_model_name"),
            system=words(machine, "os_name", "os_version"),
        ),
        one_process=True,
    )


def _result_rows(one: _Result) -> Iterator[Measurement]:
    stats = one.stats or {}
    title = words(one.tags, "name") or "unnamed"
    values = [quantity(value, f"a value of '{quote(title)}'") for value in items(stats.get("data"))]
    note = failures(values.count(None), len(values), "iterations")
    if one.error is not None:
        told = next((text for text in one.error.values() if isinstance(text, str)), "")
        note = f"failed: {quote(told) or 'no reason is told'}"
    # Our own files tell a metric by a tag.
    parameters = {str(k): tag for k, tag in one.tags.items() if k not in ("name", "metric")}
    metric = words(one.tags, "metric") or ("" if values else "wall")
    # The other is what benchrun writes.
    unit = words(stats, "unit") or words(stats, "units")
    for value in values or [None]:
        yield measured(title, metric, unit, value, parameters=parameters, note=note)


#: For the registry.
HISTORIES = (
    BenchmarkFile(
        "github-action-benchmark",
        "github-action-benchmark",
        lambda head: head.text.startswith(_SCRIPT) or head.has("lastUpdate", "entries"),
        _read_action,
        "`window.BENCHMARK_DATA`, or `.json` with `lastUpdate` and `entries`",
        ("data.js", ".json", ".json.gz"),
    ),
    by_keys(
        *("github-action-custom", "github-action-benchmark (custom)", _read_custom),
        ("[].name", "[].unit", "[].value"),
    ),
    by_keys(
        *("conbench", "Conbench", _read_conbench),
        ("batch_id", "run_id", "tags"),
        ("[].batch_id", "[].run_id", "[].tags"),
    ),
)
