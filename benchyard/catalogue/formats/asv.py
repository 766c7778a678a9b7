"""Results of asv (airspeed velocity): ``MACHINE/HASH-ENVIRONMENT.json``, one a commit.

Units stand in ``benchmarks.json`` in the folder above, if it is there.
Source: asv 0.6, asv/results.py; formats 1 and 2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from benchyard.catalogue.formats.benchmark_file import BenchmarkFile, decoded
from benchyard.catalogue.formats.measurements import (
    Measurement,
    Measurements,
    facts,
    known,
    moment,
    number,
    statistics,
)
from benchyard.catalogue.formats.sniffing import DESCRIBED_BYTES, content_of
from benchyard.core.errors import InputError
from benchyard.core.model import Json

_UNITS = {"seconds": "s", "bytes": "B", "unit": "", "": ""}
#: By the first word of a benchmark's name, where no file tells it.
_BY_NAME = {"time": "seconds", "timeraw": "seconds", "mem": "bytes", "peakmem": "bytes"}
_MS_PER_S = 1000


class _File(Struct):
    commit_hash: str
    results: dict[str, Any]
    result_columns: list[str] = []
    env_name: str = ""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    started_at: dict[str, Any] = field(default_factory=dict[str, Any])


def _read(content: bytes, place: Path) -> Measurements:
    file = decoded(content, _File)
    declared = _declared(place.parent.parent / "benchmarks.json")
    rows: list[Measurement] = []
    started: list[float] = []
    for name, listed in file.results.items():
        told = _columns(file, name, listed)
        rows += _rows(name, told, declared.get(name))
        began = moment((number(told.get("started_at")) or -1) / _MS_PER_S)
        started += [began] if began is not None else []
    about = {"environment": file.env_name, **file.params}
    # The file's own date is that of the commit.
    host = str(file.params.get("machine") or "")
    return Measurements(rows, host, file.commit_hash, min(started, default=None), facts(**about))


def _columns(file: _File, name: str, listed: Any) -> dict[str, Any]:
    if isinstance(listed, list):
        return dict(zip(file.result_columns, cast("list[Any]", listed), strict=False))
    # Format 1 has a number, or an object of columns, and statistics of each point.
    told = cast("dict[str, Any]", listed if isinstance(listed, dict) else {"result": listed})
    result, stats = told.get("result"), _list(told.get("stats"))
    repeats = [cast("dict[str, Any]", one or {}).get("repeat") for one in stats]
    if not isinstance(result, list) and result is not None:
        result = [result]
    began = file.started_at.get(name)
    return {**told, "result": result, "stats_repeat": repeats, "started_at": began}


def _rows(name: str, told: Mapping[str, Any], declared: object) -> Iterator[Measurement]:
    about: Mapping[str, Any] = (
        cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
    )
    kind = name.rpartition(".")[2].partition("_")[0].lower()
    unit = str(about.get("unit") or _BY_NAME.get(kind, ""))
    metric = {"seconds": "wall", "bytes": "memory"}.get(unit, "value")
    names = _list(about.get("param_names"))
    results, samples = told.get("result"), _list(told.get("samples"))
    points = [*product(*map(_list, _list(told.get("params"))))]
    if not isinstance(results, list):
        yield Measurement(name, metric, _UNITS.get(unit, unit), note="failed")
        return
    for place, value in enumerate(cast("list[Any]", results)):
        point = points[place] if place < len(points) else ()
        yield Measurement(
            name,
            metric,
            _UNITS.get(unit, unit),
            known(map(number, _list(_at(samples, place)))),
            _told(told, place, value),
            _parameters(names, point),
            _note(value),
        )


def _note(value: object) -> str:
    # Source: asv, docs/source/dev.rst: null is a failure, NaN a benchmark left out.
    if value is None:
        return "failed"
    return "skipped" if isinstance(value, float) and math.isnan(value) else ""


def _told(told: Mapping[str, Any], place: int, value: object) -> dict[str, float]:
    # Of several samples asv's result is their median. Source: asv_runner, statistics.py.
    repeat = number(_at(_list(told.get("stats_repeat")), place))
    return statistics(median=number(value), n=repeat)


def _parameters(names: Sequence[Any], point: Sequence[Any]) -> dict[str, Json]:
    return {
        str(names[place]) if place < len(names) else f"param{place + 1}": str(value)
        for place, value in enumerate(point)
    }


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _declared(file: Path) -> dict[str, Any]:
    try:
        return decoded(content_of(file, DESCRIBED_BYTES), dict[str, Any])
    except (InputError, RecursionError, msgspec.MsgspecError):
        return {}


ASV = BenchmarkFile(
    "asv",
    "asv",
    lambda head: (
        head.has("commit_hash")
        and any(map(head.has, ("env_name", "result_columns", "requirements", "durations")))
    ),
    _read,
)
