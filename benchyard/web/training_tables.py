"""What a summary of a training holds, as tables."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from benchyard.catalogue.formats.measurements import facts
from benchyard.catalogue.mindspore.summaries import Scalar, Training
from benchyard.core.table import COUNT, LONG, MOMENT, NUMBER, Cell, Column, Value
from benchyard.web.explain_documents import decimal
from benchyard.web.paging import Part
from benchyard.web.tables import DataTable

_SCALARS = (
    Column("tag", "Tag", LONG),
    Column("values", "Values", COUNT),
    Column("first_step", "From step", NUMBER),
    Column("last_step", "To step", NUMBER),
    Column("first", "First", NUMBER),
    Column("last", "Last", NUMBER),
    Column("min", "Min", NUMBER),
    Column("max", "Max", NUMBER),
)
_VALUES = (
    Column("tag", "Tag", LONG),
    Column("step", "Step", NUMBER),
    Column("time_s", "Time (UTC)", MOMENT),
    Column("value", "Value", NUMBER),
)


def scalars_table(training: Training, href: str, part: Part) -> DataTable:
    """Return a row for each tag."""
    rows = [list(_tag(*one)) for one in part.among([*training.scalars.items()])]
    empty = "The summary holds no scalars."
    table = DataTable("scalars", "Scalars", _SCALARS, rows, f"{href}/scalars", empty=empty)
    return part.told(table, len(training.scalars))


def _tag(tag: str, values: Sequence[Scalar]) -> Iterator[Value]:
    numbers = [one.value for one in values]
    known = [number for number in numbers if not math.isnan(number)] or numbers
    yield tag
    yield len(values)
    yield from (values[0].step, values[-1].step)
    for number in (numbers[0], numbers[-1], min(known), max(known)):
        yield Cell(decimal(number), f"{number:.6g}")


def scalar_values_table(training: Training, href: str, part: Part) -> DataTable:
    """Return a row for each value, tag by tag in the order of the file."""
    all_values = ((tag, one) for tag, values in training.scalars.items() for one in values)
    rows = [
        [
            tag,
            one.step,
            one.time_s,
            Cell(decimal(one.value), f"{one.value:.6g}"),
        ]
        for tag, one in islice(all_values, part.offset, part.offset + part.limit)
    ]
    table = DataTable("scalar-values", "Values", _VALUES, rows, f"{href}/scalar-values")
    return part.told(table, sum(map(len, training.scalars.values())))


def training_tables(training: Training, href: str) -> list[DataTable]:
    """Return the tables of a page."""
    values = scalar_values_table(training, href, Part(0, 20))
    return [scalars_table(training, href, Part()), *([values] if values.rows else [])]


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
