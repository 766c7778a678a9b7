"""What files of other benchmark tools hold, as tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from benchyard.catalogue.formats.measurements import Measurement, Measurements, number
from benchyard.core.model import Json, JsonObject, plain
from benchyard.core.quantity import amount, plural
from benchyard.core.table import LONG, NUMBER, Cell, Column, Row
from benchyard.publish.testresults.document import Document, suspect_in
from benchyard.web.paging import Part
from benchyard.web.tables import DataTable

_MEASUREMENTS = (
    Column("benchmark", "Benchmark", LONG),
    Column("parameters", "Parameters"),
    Column("metric", "Metric"),
    Column("unit", "Unit"),
    Column("n", "N", NUMBER),
    Column("median", "Median", NUMBER),
    Column("mean", "Mean", NUMBER),
    Column("stdev", "Std. dev.", NUMBER),
    Column("min", "Min", NUMBER),
    Column("max", "Max", NUMBER),
    Column("note", "Note", LONG),
)
_VALUES = (
    Column("benchmark", "Benchmark", LONG),
    Column("metric", "Metric"),
    Column("unit", "Unit"),
    Column("position", "Position", NUMBER),
    Column("value", "Value", NUMBER),
)
_RESULTS = (
    Column("entry", "Entry", LONG),
    Column("wall_time_s", "Wall time", NUMBER),
    Column("cpu_time_s", "CPU time", NUMBER),
    Column("iterations", "Iterations", NUMBER),
    Column("throughput_mb_s", "Throughput (MB/s)", NUMBER),
    Column("suspect", "Suspect"),
    Column("extras", "Extras", LONG),
    Column("metrics", "Metrics", LONG),
)


def measurements_table(measured: Measurements, href: str, part: Part) -> DataTable:
    """Return a row for each metric of each benchmark."""
    benchmarks = len({row.name for row in measured.rows})
    table = DataTable(
        "measurements",
        f"Measurements of {plural(benchmarks, 'benchmark')}",
        _MEASUREMENTS,
        [_measurement(row) for row in part.among(measured.rows)],
        f"{href}/measurements",
        empty="The file holds no measurement.",
    )
    return part.told(table, len(measured.rows))


def _measurement(row: Measurement) -> Row:
    count = row.statistic("n")
    return (
        row.name,
        Cell(dict(row.parameters), _pairs(row.parameters)),
        row.metric,
        Cell(row.unit, row.unit or "not told"),
        Cell(count, None if count is None else f"{count:,.0f}"),
        *(
            _amount(row.statistic(name), row.unit)
            for name in ("median", "mean", "stdev", "min", "max")
        ),
        Cell(row.note, row.note or "-", mark="doubtful" if row.note else ""),
    )


def values_table(measured: Measurements, href: str, part: Part) -> DataTable:
    """Return a row for each single value, in the order of measuring."""
    rows = [
        (
            row.name,
            row.metric,
            Cell(row.unit, row.unit or "not told"),
            at + 1,
            _amount(row.values[at], row.unit),
        )
        for row, at in _some_values(measured.rows, part)
    ]
    empty = "The file tells statistics only, and no single value."
    table = DataTable("values", "Single values", _VALUES, rows, f"{href}/values", empty=empty)
    return part.told(table, sum(len(row.values) for row in measured.rows))


def _some_values(rows: Sequence[Measurement], part: Part) -> Iterator[tuple[Measurement, int]]:
    """Yield measurement and position of each value that is asked for, of perhaps millions."""
    offset, left = part.offset, part.limit
    for row in rows:
        for at in range(offset, min(len(row.values), offset + left)):
            yield row, at
            left -= 1
        offset = max(0, offset - len(row.values))


def _amount(value: float | None, unit: str) -> Cell:
    return Cell(value, amount(value, unit))


def _pairs(told: Mapping[str, Json]) -> str:
    return ", ".join(f"{name}={plain(value)}" for name, value in told.items()) or "-"


def results_table(document: Document, href: str, part: Part) -> DataTable:
    """Return a row for each entry of a TestResults document."""
    table = DataTable(
        "results",
        "Entries",
        _RESULTS,
        [_result(one.name, one.wall_time, one.body) for one in part.among(document.entries)],
        f"{href}/results",
        empty="The document has no entry.",
        notes=("Wall and CPU time as the document has them; by its schema they are seconds.",),
    )
    return part.told(table, len(document.entries))


def _result(name: str, wall_time: float, body: Mapping[str, Any]) -> Row:
    suspect = suspect_in(dict(body))
    extras, metrics = _extras(body.get("extras")), _metrics(body.get("metrics"))
    return (
        name,
        _amount(number(wall_time), "s"),
        _amount(_told(body, "cpuTime", "cpu_time"), "s"),
        _amount(_told(body, "iters"), "1"),
        _amount(_told(body, "throughput"), "1"),
        Cell(suspect, suspect or "-", mark="doubtful" if suspect else ""),
        Cell(extras, _pairs(extras)),
        Cell(metrics, _pairs(metrics)),
    )


def _told(body: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        value = body.get(name)
        try:
            # int64 are texts in proto3's JSON.
            return number(float(value) if isinstance(value, str) else value) if value else None
        except ValueError:
            return None
    return None


def _extras(told: Any) -> dict[str, Json]:
    kinds = ("doubleValue", "stringValue", "double_value", "string_value")
    listed = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    values = {name: _object(value) for name, value in listed.items()}
    return {name: one[kind] for name, one in values.items() for kind in kinds if kind in one}


def _metrics(told: Any) -> dict[str, Json]:
    listed = cast("list[Any]", told) if isinstance(told, list) else []
    return {str(one.get("name")): one.get("value") for one in map(_object, listed)}


def _object(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}
