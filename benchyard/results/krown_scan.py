"""One pass over a ``metrics.csv`` of KROWN's, versions 2 and 3: what the rows of each step come to.

KROWN's counters are cumulative, so of each step the first and the last row are kept; of all rows
the time is read, and the levels of memory for their extremes.
"""

import csv
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.results.metrics_csv import LEVELS

#: Versions of metrics.csv that are known.
_VERSIONS = frozenset({2, 3})
#: Largest number of a step where nothing declares how many there are.
MOST_STEPS = 1_000
#: Most parts, in one step each, that a file may fall into; all are kept in memory.
_MOST_PARTS = 5_000
#: No row is longer (B); what is, is no table.
_LONGEST_LINE = 1 << 20
#: No run lasts longer (s, 300 years).
_LATEST = 1e10
#: No counter is larger: sums and squares would leave the floats.
_LARGEST = 1e100
#: Decimals of KROWN's figures: a difference of two has no more, but for the noise of binary ones.
_DECIMALS = 4

Number: TypeAlias = int | float | None
Row: TypeAlias = Mapping[str, str]


@dataclass(slots=True)
class StepRows:
    """The rows of one step that lie together.

    Args:
        first: The cells of the first row, by their columns.
        last: Those of the last row.
        start: The time of the first row (s).
        end: That of the last row (s).
        readings: Number of rows.
        samples: The same without the row that KROWN writes itself before it samples: a true
            reading of the clock and the counters, with zeros for the levels.
        levels: Name of a level to the least and the most of the samples.
        cut_before: Whether the row before it is damaged, and may have been its own.
        cut_after: Whether the row after it is.
        backwards: Whether the clock ever ran so.
    """

    step: int
    first: Row
    last: Row
    start: float
    end: float
    readings: int = 0
    samples: int = 0
    levels: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    cut_before: bool = False
    cut_after: bool = False
    backwards: bool = False

    def difference(self, column: str) -> Number:
        """Return by how much a counter grew from first to last row; None if either lacks it."""
        start, end = (number(row.get(column, "")) for row in (self.first, self.last))
        return None if start is None or end is None else round(end - start, _DECIMALS)


@dataclass(slots=True)
class Scan:
    """What a file holds; ``damaged`` counts rows."""

    parts: list[StepRows] = field(default_factory=list[StepRows])
    damaged: int = 0


def scan(path: Path, most: int = MOST_STEPS) -> Scan:
    """Read a file in one pass.

    Args:
        most: The largest step that there can be.

    Raises:
        RecordError: If it cannot be read, or is no metrics.csv of KROWN's.
    """
    found = Scan()
    try:
        with opened(path) as stream:
            if header := stream.readline(_LONGEST_LINE):
                names = _header(header)
                for line in iter(partial(stream.readline, _LONGEST_LINE + 1), b""):
                    _take(found, names, line, most)
        _check_version(found)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RecordError(
            f"{path}: not readable as KROWN's metrics.csv: {why}; move its run away"
        ) from error
    return found


def _header(line: bytes) -> list[str]:
    names = _cells(line.removeprefix(BOM_UTF8))
    if not {"step", "timestamp"} <= set(names):
        raise ValueError("it has no header with KROWN's columns step and timestamp")
    return names


def _cells(line: bytes) -> list[str]:
    """Return the cells of a line; none if it is no line of a table."""
    try:
        return next(csv.reader([line.decode("utf-8", "replace").rstrip("\r\n")]), list[str]())
    except csv.Error:
        return []


def _check_version(found: Scan) -> None:
    rows = [row for part in found.parts for row in (part.first, part.last)]
    versions = {version for row in rows if (version := number(row.get("version", ""))) is not None}
    if rows and not (versions and versions <= _VERSIONS):
        odd = ", ".join(f"{version}" for version in sorted(versions - _VERSIONS)) or "not told"
        raise ValueError(f"its version is {odd}, and only 2 and 3 are known")


def _take(found: Scan, names: Sequence[str], line: bytes, most: int) -> None:
    """Add a line that may be anything to what was found before it."""
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"it has a line of more than {_LONGEST_LINE:,} bytes")
    try:
        row = dict(zip(names, _cells(line), strict=True))
        step, at = int(row["step"]), float(row["timestamp"])
        # KROWN ends every row with a line end: without it the file was cut.
        whole = line.endswith(b"\n") and 1 <= step <= most and 0 <= at <= _LATEST
    except ValueError:
        whole, row, step, at = False, dict[str, str](), 0, 0.0
    if whole:
        opens = not (found.parts or found.damaged)
        _add(_part_of(found, step, at, row), row, may_be_made_up=opens and at == 0)
    elif line.strip():
        found.damaged += 1
        if found.parts:
            found.parts[-1].cut_after = True


def _part_of(found: Scan, step: int, at: float, row: Row) -> StepRows:
    """Return the part that a row belongs to, with the row as its last one."""
    if found.parts and found.parts[-1].step == step:
        part = found.parts[-1]
        part.backwards |= at < part.end
        part.last, part.end, part.cut_after = row, at, False
        return part
    cut = found.parts[-1].cut_after if found.parts else found.damaged > 0
    part = StepRows(step, row, row, at, at, cut_before=cut)
    found.parts.append(part)
    if len(found.parts) > _MOST_PARTS:
        raise ValueError(f"its step changes more than {_MOST_PARTS:,} times")
    return part


def _add(part: StepRows, row: Row, *, may_be_made_up: bool) -> None:
    part.readings += 1
    cells = ((name, number(row.get(name, ""))) for name in LEVELS)
    levels = {name: value for name, value in cells if value is not None and value >= 0}
    # KROWN writes this row itself: its clock and counters are true, its levels not.
    if may_be_made_up and not any(levels.values()):
        return
    part.samples += 1
    for name, value in levels.items():
        least, most = part.levels.get(name, (value, value))
        part.levels[name] = min(least, value), max(most, value)


def number(text: str) -> Number:
    """Read a cell: an integer, another number that can be one, or None where it is neither."""
    try:
        value: int | float = int(text)
    except ValueError:
        try:
            value = float(text)
        except ValueError:
            return None
    # Also false for what is not a number at all.
    return value if abs(value) <= _LARGEST else None
