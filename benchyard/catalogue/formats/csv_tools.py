"""Tables as CSV: those of Apache Otava, and any whose columns somebody names."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from benchyard.catalogue.formats.contract import text_of
from benchyard.catalogue.formats.measurements import (
    BenchmarkFile,
    Measurement,
    Measurements,
    facts,
    known,
    moment,
    seconds_of,
)
from benchyard.catalogue.formats.units import gathered, measured, newest, quantity
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.wording import hint, near_miss, quote
from benchyard.traces.recognising import Head

_DELIMITERS = ",\t;"
#: ISO 8601, or what Otava's example and its documentation have instead.
_LOOSE = re.compile(r"(\d{4})[.-](\d\d)[.-](\d\d)[ T](\d\d?)(:[\d:.]+) ?([+-][\d:]+|Z)?")

_Row = tuple[int, dict[str, str]]


def _table(content: bytes) -> tuple[list[str], list[_Row]]:
    """Return the heads of the columns, and each line's number and cells by their heads."""
    text = text_of(content)
    first = text.partition("\n")[0]
    reader = csv.reader(StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=first.count))
    try:
        heads = [head.strip() for head in next(reader, list[str]())]
        return heads, [
            (reader.line_num, _cells(heads, cells, reader.line_num)) for cells in reader if cells
        ]
    except csv.Error as error:
        raise InputError(f"line {reader.line_num:,} is no CSV: {error}") from error


def _cells(heads: Sequence[str], cells: Sequence[str], at: int) -> dict[str, str]:
    if len(cells) != len(heads):
        raise InputError(f"line {at:,} has {len(cells)} values; the first line {len(heads)} heads")
    return dict(zip(heads, map(str.strip, cells), strict=True))


def _moment(at: int, text: str) -> float | None:
    """Return a moment in seconds since the epoch; None if the cell is empty."""
    if not text:
        return None
    try:
        found = moment(float(text))
    except ValueError:
        found = _written(text)
    if found is None:
        raise InputError(
            f"line {at:,}: '{quote(text)}' is no time: write ISO 8601, or seconds since 1970"
        )
    return found


def _written(text: str) -> float | None:
    loose = _LOOSE.fullmatch(text)
    if loose is None:
        return seconds_of(text, utc=True)
    year, month, day, hour, rest, zone = loose.groups(default="")
    return seconds_of(f"{year}-{month}-{day}T{hour:0>2}{rest}{zone}", utc=True)


def _refuse_doubled(heads: Sequence[str], used: Collection[str]) -> None:
    for head in used:
        if heads.count(head) > 1:
            raise InputError(f"two columns are called '{quote(head)}'")


# -- Otava, formerly Hunter: a row a point of time; a configuration tells which columns are metrics.
# Source: apache/otava, docs/CSV.md, examples/csv/data/local_sample.csv, otava/importer.py.

_TIME = "time"
#: Columns that are never metrics, even if all their cells are numbers.
_ATTRIBUTES = {
    *(_TIME, "commit", "branch", "version", "run", "run_id"),
    *("build", "source", "annotation", "unit"),
}


def _read_otava(content: bytes, _place: Path) -> Measurements:
    heads, rows = _table(content)
    metrics = [head for head in heads if head not in _ATTRIBUTES and _has_numbers(head, rows)]
    if _TIME not in heads or not metrics:
        raise InputError("no column has times, or none has numbers")
    _refuse_doubled(heads, (_TIME, "commit", *metrics))
    others = [head for head in heads if head not in {_TIME, "commit", *metrics}]
    points = [
        Measurements(
            [measured(head, "", "", quantity(cells[head], head)) for head in metrics],
            commit=cells.get("commit", ""),
            started_s=_moment(at, cells[_TIME]),
            about=facts(**{head: cells[head] for head in others}),
        )
        for at, cells in rows
    ]
    return newest(points)


def _has_numbers(head: str, rows: Sequence[_Row]) -> bool:
    try:
        return bool(known([quantity(cells[head], head) for _, cells in rows]))
    except InputError:
        return False


def _is_otava(head: Head) -> bool:
    first = head.text.partition(b"\n")[0].decode(errors="replace").strip()
    heads = first.split(max(_DELIMITERS, key=first.count))
    return _TIME in [one.strip(" \"'") for one in heads] and len(heads) > 1


# -- any CSV: the user names its columns

_NEEDED = ("name", "value")
_OURS = (*_NEEDED, "unit", "metric", "time", "commit", "host", "run")
_PARAMETER = "parameter."


def parse_columns(text: str) -> dict[str, str]:
    """Read which columns a CSV has: ``name=Benchmark,value=Time,unit=ms``.

    A head that has a comma is written as ``"value=Time, wall"``.

    Raises:
        InputError: If a part is no ``OURS=THEIRS``, one of ours is unknown, twice, or missing.
    """
    found: dict[str, str] = {}
    try:
        parts = next(csv.reader([text], skipinitialspace=True), list[str]())
    except csv.Error as error:
        raise InputError(f"'{quote(text)}' names no columns: {error}") from error
    for part in parts:
        ours, equals, theirs = (one.strip() for one in part.partition("="))
        if not (equals and ours and theirs):
            raise InputError(f"'{quote(part)}' names no column: write name=HEAD,value=HEAD")
        if ours not in _OURS and not ours.startswith(_PARAMETER):
            raise InputError(
                f"'{quote(ours)}' is nothing that a column can be{hint(ours, _OURS)}; "
                f"parameters are written as {_PARAMETER}{ours}={theirs}"
            )
        if ours in found:
            raise InputError(f"'{quote(ours)}' is named twice, as {found[ours]} and as {theirs}")
        found[ours] = theirs
    for one in _NEEDED:
        if one not in found:
            raise InputError(f"no column is named for '{one}': write name=HEAD,value=HEAD")
    return found


def read_csv(content: bytes, columns: Mapping[str, str]) -> Measurements:
    """Read a CSV whose columns somebody names.

    Rows of one commit, time and host are measured together; rows of one ``run`` are one value.

    Args:
        content: With the heads in its first line; separated by commas, semicolons or tabs.
        columns: Heads by what they are, as ``parse_columns`` returns them. What is no head is said
            of all rows.

    Raises:
        InputError: If it cannot be read so, with the line.
    """
    heads, rows = _table(content)
    _refuse_doubled(heads, columns.values())
    for ours, theirs in columns.items():
        if theirs not in heads and (ours == "value" or near_miss(theirs, heads)):
            raise InputError(f"there is no column '{quote(theirs)}'{hint(theirs, heads)}")
    groups: dict[tuple[str, str, str], list[_Row]] = {}
    for at, cells in rows:
        told = {ours: cells.get(theirs, theirs) for ours, theirs in columns.items()}
        if columns.get("unit") == columns["value"]:  # a column is often called as its unit
            told["unit"] = columns["unit"]
        key = (told.get("time", ""), told.get("commit", ""), told.get("host", ""))
        groups.setdefault(key, []).append((at, told))
    return newest([_together(*key, found) for key, found in groups.items()])


def _together(time: str, commit: str, host: str, rows: Sequence[_Row]) -> Measurements:
    return Measurements(
        gathered(_told_rows(rows)),
        host=host,
        commit=commit,
        started_s=_moment(rows[0][0], time),
        # Without a column of runs, all values may be of one process.
        one_process="run" not in rows[0][1],
    )


def _told_rows(rows: Sequence[_Row]) -> Iterator[tuple[str, Measurement]]:
    for at, told in rows:
        if not told["name"]:
            raise InputError(f"line {at:,} names no benchmark")
        value = quantity(told["value"], f"line {at:,}: '{quote(told['value'])}' in value")
        parameters: dict[str, Json] = {
            ours.removeprefix(_PARAMETER): told[ours]
            for ours in told
            if ours.startswith(_PARAMETER)
        }
        metric, unit = told.get("metric", ""), told.get("unit", "")
        row = measured(told["name"], metric, unit, value, parameters=parameters)
        yield told.get("run", ""), row


#: For the registry; a CSV of which somebody must tell the columns is not among them.
CSV_TOOLS = (
    BenchmarkFile(
        *("otava-csv", "Apache Otava", _is_otava, _read_otava),
        "`.csv` with a column `time`; every column of numbers is a metric",
        (".csv", ".tsv"),
        listed=False,
    ),
)
