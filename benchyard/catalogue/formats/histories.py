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
    known,
    moment,
    seconds_of,
    words,
)
from benchyard.catalogue.formats.units import gathered, is_rate, measured, newest, quantity
from benchyard.catalogue.formats.writing_more import WRITERS
from benchyard.core.wording import quote
from benchyard.results.summary_metrics import LARGER, SMALLER

_MS_PER_S = 1000

# -- github-action-benchmark: data.js of its charts, and the JSON that its custom tools read.
# Source: benchmark-action/github-action-benchmark, src/extract.ts, src/write.ts.

_SCRIPT = b"window.BENCHMARK_DATA"
_DIRECTIONS = {"customBiggerIsBetter": LARGER, "customSmallerIsBetter": SMALLER}


class _Bench(Struct):
    name: str
    value: float | str | None = None
    unit: str = ""
    range: float | str | None = None


class _Commit(Struct):
    id: str = ""
    message: str | None = None
    timestamp: str | None = None


class _Entry(Struct):
    benches: list[_Bench]
    commit: _Commit = field(default_factory=_Commit)
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
            times[one.commit.id] = times.get(one.commit.id, 0) + 1
            commits.setdefault((one.commit.id, times[one.commit.id]), []).append((suite, one))
    several = len(file.entries) > 1
    return newest([_action_commit(file.repo, found, several=several) for found in commits.values()])


def _action_commit(repo: str, found: list[tuple[str, _Entry]], *, several: bool) -> Measurements:
    commit = found[0][1].commit
    dates = [one.date / _MS_PER_S for _, one in found if one.date is not None]
    rows = [
        ("", _action_row(bench, entry.tool, f"{suite}: " if several else ""))
        for suite, entry in found
        for bench in entry.benches
    ]
    return Measurements(
        gathered(rows),
        commit=commit.id,
        started_s=moment(min(dates)) if dates else seconds_of(commit.timestamp or ""),
        about=facts(
            repository=repo,
            message=(commit.message or "").partition("\n")[0],
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


class _Stats(Struct):
    data: list[float | str | None] = []
    unit: str = ""
    #: As benchrun writes it.
    units: str = ""


class _Result(Struct):
    tags: dict[str, Any]
    stats: _Stats | None = None
    error: dict[str, Any] | None = None
    timestamp: str = ""
    batch_id: str = ""
    machine_info: dict[str, Any] | None = None
    cluster_info: dict[str, Any] | None = None
    github: dict[str, Any] | None = None


def _read_conbench(content: bytes, _place: Path) -> Measurements:
    single = content.lstrip().startswith(b"{")
    results = [decoded(content, _Result)] if single else decoded(content, list[_Result])
    batches: dict[tuple[str, ...], list[_Result]] = {}
    for one in results:
        key = (words(one.github or {}, "commit"), _machine(one), one.batch_id)
        batches.setdefault(key, []).append(one)
    return newest([_batch(found) for found in batches.values()])


def _machine(one: _Result) -> str:
    return words(one.machine_info or one.cluster_info or {}, "name")


def _batch(found: list[_Result]) -> Measurements:
    first = found[0]
    github = first.github or {}
    began = [when for one in found if (when := seconds_of(one.timestamp)) is not None]
    machine = first.machine_info or {}
    return Measurements(
        gathered(("", row) for one in found for row in _result_rows(one)),
        host=_machine(first),
        commit=words(github, "commit"),
        started_s=min(began, default=None),
        about=facts(
            repository=github.get("repository"),
            batch=first.batch_id,
            processor=machine.get("cpu_model_name"),
            system=words(machine, "os_name", "os_version"),
        ),
        one_process=True,
    )


def _result_rows(one: _Result) -> Iterator[Measurement]:
    stats = one.stats or _Stats()
    title = words(one.tags, "name") or "unnamed"
    values = [quantity(value, f"a value of '{quote(title)}'") for value in stats.data]
    missing = values.count(None)
    note = f"{missing:,} of {len(values):,} iterations failed" if missing else ""
    if one.error is not None:
        told = next((text for text in one.error.values() if isinstance(text, str)), "")
        note = f"failed: {quote(told) or 'no reason is told'}"
    # Our own files tell a metric by a tag.
    told = {"name", "metric"}
    parameters = {str(name): tag for name, tag in one.tags.items() if name not in told}
    for value in values or [None]:
        metric = words(one.tags, "metric") or ("" if stats.data else "wall")
        unit = stats.unit or stats.units
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
        write=WRITERS["github-action-custom"],
    ),
    by_keys(
        *("conbench", "Conbench", _read_conbench),
        ("batch_id", "run_id", "tags"),
        ("[].batch_id", "[].run_id", "[].tags"),
        write=WRITERS["conbench"],
    ),
)
