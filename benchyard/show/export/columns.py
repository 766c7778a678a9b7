"""Rows below named columns of one type each: what every format is written from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from benchyard.core.errors import InputError
from benchyard.core.model import Json, plain
from benchyard.core.wording import hint, printable, quote

#: A moment is a text in ISO 8601, UTC; None is unknown.
Cell: TypeAlias = str | int | float | bool | None
Cells: TypeAlias = tuple[Cell, ...]
_LARGEST_WHOLE = 2**63 - 1
#: What the summarized form tells of a metric.
STATISTICS = (
    *("median", "low", "high", "level", "coverage"),
    *("mean", "stdev", "cv", "min", "max"),
)
#: Where the numbers of a row come from, in both forms.
ORIGIN = ("versions", "commit", "dirty", "subject", "host", "benchyard")


class CellType(StrEnum):
    """What the cells of a column are; the value is the type's name in DuckDB."""

    TEXT = "VARCHAR"
    WHOLE = "BIGINT"
    NUMBER = "DOUBLE"
    FLAG = "BOOLEAN"
    MOMENT = "TIMESTAMPTZ"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of rows."""

    name: str
    kind: CellType = CellType.TEXT


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that are read each time that they are written somewhere.

    Args:
        read: Yields the rows, each with as many cells as there are columns.
    """

    columns: Sequence[ExportColumn]
    read: Callable[[], Iterator[Cells]]

    def only(self, names: Sequence[str]) -> "Rows":
        """Return the rows with these columns alone, in this order.

        Raises:
            InputError: If one is not there, or given twice.
        """
        known = {column.name: place for place, column in enumerate(self.columns)}
        refuse_unknown(names, known)
        places = [known[name] for name in names]
        columns = [self.columns[place] for place in places]
        return Rows(columns, lambda: (tuple(cells[at] for at in places) for cells in self.read()))


def refuse_unknown(names: Sequence[str], known: Mapping[str, object]) -> None:
    """Refuse names of columns that are not there, and those that are given twice.

    Raises:
        InputError: With all of them.
    """
    wrong = [f"no column is '{quote(n)}'{hint(n, known)}" for n in names if n not in known]
    wrong += [f"column '{quote(n)}' is given twice" for n in set(names) if names.count(n) > 1]
    if wrong or not names:
        raise InputError("\n".join(wrong) or "no column is named; leave --columns out to have all")


def text(value: object) -> str | None:
    """Return a text from outside for a cell: on one line, None if it is empty."""
    return printable(str(value)) or None if value is not None else None


#: Columns of our own that hold no texts.
_KINDS = {
    CellType.WHOLE: ("run", "step", "attempt", "repetition", "n", "repetitions", "suspect_counted"),
    CellType.NUMBER: ("value", *STATISTICS),
    CellType.FLAG: ("suspect", "dirty"),
    CellType.MOMENT: ("began",),
}


def own_column(name: str) -> ExportColumn:
    """Return a column of our own by its name: what it holds is the same in every form."""
    kinds = (kind for kind, names in _KINDS.items() if name in names)
    return ExportColumn(name, next(kinds, CellType.TEXT))


def point_columns(
    points: Sequence[Mapping[str, Json]], taken: Sequence[str]
) -> dict[str, ExportColumn]:
    """Return a column for each parameter of the matrices, by the parameter's name.

    Args:
        points: Of all cases.
        taken: Names that are taken: a parameter that is called so becomes ``matrix_<name>``. No two
            names differ in upper and lower case alone: to DuckDB they would be one.
    """
    used = {name.lower() for name in taken}
    made: dict[str, ExportColumn] = {}
    for name in dict.fromkeys(name for point in points for name in point):
        free = name
        while free.lower() in used:
            free = f"matrix_{free}"
        used.add(free.lower())
        made[name] = ExportColumn(free, _kind([point[name] for point in points if name in point]))
    return made


def _kind(values: Sequence[Json]) -> CellType:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return CellType.FLAG
    large = any(isinstance(v, int) and abs(v) > _LARGEST_WHOLE for v in values)
    if not kinds <= {int, float} or large:
        return CellType.TEXT
    return CellType.WHOLE if kinds == {int} else CellType.NUMBER


def point_cell(value: Json, kind: CellType) -> Cell:
    """Return a value of a matrix as a cell of its column."""
    if value is None or kind is CellType.TEXT:
        return None if value is None else text(plain(value))
    return value if isinstance(value, int | float) else None


def in_utc(moment: str | None) -> str | None:
    """Return a moment in UTC, to the microsecond: ``2026-11-25T03:38:16.071534Z``."""
    if not moment:
        return None
    try:
        utc = datetime.fromisoformat(moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc.isoformat(timespec="microseconds").replace("+00:00", "Z")


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts as ``7 completed, 1 timed out``."""
    return ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in counts.items() if n)


class Metrics:
    """Which metrics are wanted, and which there were.

    Args:
        patterns: Globs over names; without any all are wanted.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._wanted: dict[str, bool] = {}

    def take(self, name: str) -> bool:
        """Tell whether a metric is wanted."""
        if name not in self._wanted:
            matched = any(fnmatchcase(name, pattern) for pattern in self._patterns)
            self._wanted[name] = matched or not self._patterns
        return self._wanted[name]

    def of(self, metrics: Mapping[str, Any]) -> dict[str, Any]:
        """Return the wanted metrics of a step of ``summary.json``."""
        return {name: document for name, document in metrics.items() if self.take(name)}

    def refuse_unmatched(self) -> None:
        """Refuse patterns that took nothing of all that there was.

        Raises:
            InputError: With all of them.
        """
        wrong = [
            f"no metric is '{quote(pattern)}'{hint(pattern, self._wanted)}"
            for pattern in self._patterns
            if not any(fnmatchcase(name, pattern) for name in self._wanted)
        ]
        if wrong and self._wanted:
            raise InputError("\n".join(wrong))
