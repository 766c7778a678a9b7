"""What files of other programs hold, as tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from benchyard.catalogue.formats.measurements import Measurement, Measurements, facts, number
from benchyard.catalogue.mindspore.summaries import Scalar, Training
from benchyard.core.model import Json, JsonObject, plain
from benchyard.core.quantity import duration, plural
from benchyard.core.table import (
    COUNT,
    LONG,
    MOMENT,
    NUMBER,
    SECONDS,
    TEXT,
    Cell,
    Column,
    Field,
    Kind,
)
from benchyard.publish.testresults.document import Document, suspect_in
from benchyard.traces.scanner.profile import Profile
from benchyard.web.explain_documents import decimal
from benchyard.web.tables import DataTable, Part, table_of


def _unit(row: Measurement) -> Cell:
    return Cell(row.unit, row.unit or "not told")


def _pairs(told: Mapping[str, Json]) -> Cell:
    text = ", ".join(f"{name}={plain(value)}" for name, value in told.items())
    return Cell({**told}, text or "-")


def _doubt(text: str | None) -> Cell:
    return Cell(text, text or "-", mark="doubtful" if text else "")


def _statistic(name: str, head: str) -> Field:
    return name, head, NUMBER, lambda row: Cell.measured(row.statistic(name), row.unit)


_MEASUREMENTS: Sequence[Field] = (
    ("benchmark", "Benchmark", LONG, lambda row: row.name),
    ("parameters", "Parameters", TEXT, lambda row: _pairs(row.parameters)),
    ("metric", "Metric", TEXT, lambda row: row.metric),
    ("unit", "Unit", TEXT, _unit),
    ("n", "N", Kind("{:,.0f}".format, right=True), lambda row: row.statistic("n")),
    _statistic("median", "Median"),
    _statistic("mean", "Mean"),
    _statistic("stdev", "Std. dev."),
    _statistic("min", "Min"),
    _statistic("max", "Max"),
    ("note", "Note", LONG, lambda row: _doubt(row.note)),
)
_SINGLES: Sequence[Field] = (
    ("benchmark", "Benchmark", LONG, lambda one: one[0].name),
    ("metric", "Metric", TEXT, lambda one: one[0].metric),
    ("unit", "Unit", TEXT, lambda one: _unit(one[0])),
    ("position", "Position", NUMBER, lambda one: one[1] + 1),
    ("value", "Value", NUMBER, lambda one: Cell.measured(one[0].values[one[1]], one[0].unit)),
)


def measurements_table(measured: Measurements, href: str, part: Part) -> DataTable:
    """Return a row for each metric of each benchmark."""
    title = f"Measurements of {plural(len({row.name for row in measured.rows}), 'benchmark')}"
    shown, empty = part.of(measured.rows), "The file holds no measurement."
    at = f"{href}/measurements"
    table = table_of("measurements", title, _MEASUREMENTS, shown, at, empty=empty)
    return part.told(table, len(measured.rows))


def values_table(measured: Measurements, href: str, part: Part) -> DataTable:
    """Return a row for each single value, in the order of measuring."""
    every = ((row, place) for row in measured.rows for place in range(len(row.values)))
    at, empty = f"{href}/values", "The file tells statistics only, and no single value."
    table = table_of("values", "Single values", _SINGLES, part.of(every), at, empty=empty)
    return part.told(table, sum(len(row.values) for row in measured.rows))


def _told(body: Mapping[str, Any], *names: str) -> float | None:
    value = next((body[name] for name in names if name in body), None)
    try:
        # int64 are texts in proto3's JSON.
        return number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def _extras(told: Any) -> dict[str, Json]:
    kinds = ("doubleValue", "stringValue", "double_value", "string_value")
    values = {name: _object(value) for name, value in _object(told).items()}
    return {name: one[kind] for name, one in values.items() for kind in kinds if kind in one}


def _metrics(told: Any) -> dict[str, Json]:
    listed = cast("list[Any]", told) if isinstance(told, list) else []
    return {str(one.get("name")): one.get("value") for one in map(_object, listed)}


def _object(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _figure(key: str, head: str, unit: str, *names: str) -> Field:
    return key, head, NUMBER, lambda one: Cell.measured(_told(one.body, *names), unit)


_RESULTS: Sequence[Field] = (
    ("entry", "Entry", LONG, lambda one: one.name),
    ("wall_time_s", "Wall time", NUMBER, lambda one: Cell.measured(number(one.wall_time), "s")),
    _figure("cpu_time_s", "CPU time", "s", "cpuTime", "cpu_time"),
    _figure("iterations", "Iterations", "1", "iters"),
    _figure("throughput_mb_s", "Throughput (MB/s)", "1", "throughput"),
    ("suspect", "Suspect", TEXT, lambda one: _doubt(suspect_in(dict(one.body)))),
    ("extras", "Extras", LONG, lambda one: _pairs(_extras(one.body.get("extras")))),
    ("metrics", "Metrics", LONG, lambda one: _pairs(_metrics(one.body.get("metrics")))),
)


def results_table(document: Document, href: str, part: Part) -> DataTable:
    """Return a row for each entry of a TestResults document."""
    table = table_of(
        *("results", "Entries", _RESULTS, part.of(document.entries), f"{href}/results"),
        empty="The document has no entry.",
        notes=("Wall and CPU time as the document has them; by its schema they are seconds.",),
    )
    return part.told(table, len(document.entries))


_SCALARS: Sequence[Field] = (
    ("tag", "Tag", LONG, lambda one: one[0]),
    ("values", "Values", COUNT, lambda one: len(one[1])),
    ("first_step", "From step", NUMBER, lambda one: one[1][0].step),
    ("last_step", "To step", NUMBER, lambda one: one[1][-1].step),
    ("first", "First", NUMBER, lambda one: _scalar(one[1][0].value)),
    ("last", "Last", NUMBER, lambda one: _scalar(one[1][-1].value)),
    ("min", "Min", NUMBER, lambda one: _scalar(min(_numbers(one[1])))),
    ("max", "Max", NUMBER, lambda one: _scalar(max(_numbers(one[1])))),
)
_VALUES: Sequence[Field] = (
    ("tag", "Tag", LONG, lambda one: one[0]),
    ("step", "Step", NUMBER, lambda one: one[1].step),
    ("time_s", "Time (UTC)", MOMENT, lambda one: one[1].time_s),
    ("value", "Value", NUMBER, lambda one: _scalar(one[1].value)),
)


def scalars_table(training: Training, href: str, part: Part) -> DataTable:
    """Return a row for each tag."""
    shown, empty = part.of(training.scalars.items()), "The summary holds no scalars."
    table = table_of("scalars", "Scalars", _SCALARS, shown, f"{href}/scalars", empty=empty)
    return part.told(table, len(training.scalars))


def _numbers(values: Sequence[Scalar]) -> Sequence[float]:
    """Return the values that are numbers; all, if none is."""
    numbers = [one.value for one in values]
    return [number for number in numbers if not math.isnan(number)] or numbers


def _scalar(value: float) -> Cell:
    return Cell(decimal(value), f"{value:.6g}")


def scalar_values_table(training: Training, href: str, part: Part) -> DataTable:
    """Return a row for each value, tag by tag in the order of the file."""
    all_values = ((tag, one) for tag, values in training.scalars.items() for one in values)
    shown, at = part.of(all_values), f"{href}/scalar-values"
    table = table_of("scalar-values", "Values", _VALUES, shown, at)
    return part.told(table, sum(map(len, training.scalars.values())))


def training_facts(training: Training) -> dict[str, str]:
    """Return what else there is, and what could not be read."""
    others = ", ".join(f"{count:,} {what}" for what, count in training.others.items())
    return facts(
        summary=training.file,
        others=others,
        state="being written: the last record breaks off" if training.unfinished else "",
        problems="; ".join(training.problems),
        values=f"{sum(map(len, training.scalars.values())):,}",
    )


_INTERVALS = (
    Column("worker", "Worker"),
    Column("interval", "Interval"),
    Column("total_s", "Total", SECONDS),
)
_COUNTERS = (
    Column("worker", "Worker"),
    Column("counter", "Counter"),
    Column("sum", "Sum over workers", COUNT),
)


def job_facts(job: Profile) -> Mapping[str, str]:
    """Return what its descriptor tells."""
    known: dict[str, object] = {"total_time": duration(job.statistics().total_time)}
    if told := job.descriptor:
        known = {
            "job": told.id,
            "name": told.name,
            "rows_read_at_once": told.io_packet_size,
            "rows_computed_at_once": told.work_packet_size,
            "nodes_alive_at_its_end": told.num_nodes,
            **known,
        }
    return facts(**known)


def job_tables(job: Profile) -> list[DataTable]:
    """Return its intervals and counters, summed over the workers of each kind."""
    found = job.statistics()
    intervals = [
        (kind, name, seconds)
        for kind, times in found.seconds.items()
        for name, seconds in sorted(times.items(), key=lambda one: -one[1])
    ]
    counters = [
        (kind, name, value)
        for kind, counts in found.counters.items()
        for name, value in sorted(counts.items())
    ]
    made = (
        DataTable("intervals", "Intervals by kind of worker", _INTERVALS, intervals),
        DataTable("job-counters", "Counters by kind of worker", _COUNTERS, counters),
    )
    return [table for table in made if table.rows]
