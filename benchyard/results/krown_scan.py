"""One pass over a ``metrics.csv`` of KROWN's, versions 2 and 3: what the rows of each step come to.

KROWN's counters are cumulative, so of each step the first and the last row are kept; of all rows
the time is read, and the levels of memory for their extremes.
"""

import csv
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, repeat
from math import isnan
from operator import itemgetter
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
#: Bytes that are read at once.
_BLOCK = 1 << 18
#: No run lasts longer (s, 300 years).
_LATEST = 1e10
#: No counter is larger: sums and squares would leave the floats.
_LARGEST = 1e100
#: Decimals of KROWN's figures: a difference of two has no more, but for the noise of binary ones.
_DECIMALS = 4

Number: TypeAlias = int | float | None


@dataclass
class StepRows:
    """The rows of one step that lie together.

    Args:
        names: The columns.
        first: The line of the first row.
        last: That of the last row.
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
    names: Sequence[str]
    first: bytes
    last: bytes
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
        start, end = (number(row.get(column, "")) for row in self.edges)
        return None if start is None or end is None else round(end - start, _DECIMALS)

    def add(self, rows: int, levels: Mapping[str, Sequence[float]]) -> None:
        """Add samples: how many, and their levels."""
        self.readings += rows
        self.samples += rows
        for name, values in levels.items():
            every = [*self.levels.get(name, ()), min(values), max(values)]
            self.levels[name] = min(every), max(every)

    @cached_property
    def edges(self) -> Sequence[Mapping[str, str]]:
        """The cells of the first and of the last row, by their columns."""
        lines = (self.first, self.last)
        return [dict(zip(self.names, _cells(line), strict=True)) for line in lines]


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
                scanner = _Scanner(found, _header(header), most)
                while block := stream.read(_BLOCK):
                    scanner.take(block + stream.readline(_LONGEST_LINE + 1))
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
    rows = [row for part in found.parts for row in part.edges]
    versions = {version for row in rows if (version := number(row.get("version", ""))) is not None}
    if rows and not (versions and versions <= _VERSIONS):
        odd = ", ".join(f"{version}" for version in sorted(versions - _VERSIONS)) or "not told"
        raise ValueError(f"its version is {odd}, and only 2 and 3 are known")


class _Scanner:
    """Adds rows to what was found: those of a step together where they are in order.

    A file may have millions, and one by one they take five times as long.
    """

    def __init__(self, found: Scan, names: Sequence[str], most: int) -> None:
        self._found, self._names, self._most = found, names, most
        self._step, self._time = names.index("step"), names.index("timestamp")
        self._levels = [(name, names.index(name)) for name in LEVELS if name in names]

    def take(self, block: bytes) -> None:
        """Add lines that follow each other; the last one of a file may lack its end."""
        *lines, torn = block.split(b"\n")
        if len(torn) > _LONGEST_LINE:
            raise ValueError(f"it has a line of more than {_LONGEST_LINE:,} bytes")
        commas = set(map(bytes.count, lines, repeat(b",")))
        plain = b'"' not in block and block.count(b"\r") == block.count(b"\r\n")
        if not (plain and commas == {len(self._names) - 1} and self._take_together(lines)):
            for line in lines:
                self._take_one(line)
        if torn.strip():
            self._leave_out()  # KROWN ends every row with a line end: the file was cut

    def _take_together(self, lines: Sequence[bytes]) -> bool:
        """Add lines of ascending times, with levels in each; False if they are others."""
        near = max(self._step, self._time, *(place for _, place in self._levels)) + 1
        rows = [line.split(b",", near) for line in lines]
        try:
            times = list(map(float, map(itemgetter(self._time), rows)))
            levels = {n: list(map(int, map(itemgetter(i), rows))) for n, i in self._levels}
        except ValueError:
            return False
        in_order = times == sorted(times) and times[-1] <= _LATEST and not isnan(sum(times))
        if not in_order or any(min(v) < 0 or max(v) > _LARGEST for v in levels.values()):
            return False
        at = 0
        for _, several in groupby(map(itemgetter(self._step), rows)):
            end = at + len(list(several))
            if not self._take_one(lines[at]):
                self._found.damaged += end - at - 1
            elif at + 1 < end:
                part = self._found.parts[-1]
                part.last, part.end = lines[end - 1], times[end - 1]
                part.add(end - at - 1, {n: v[at + 1 : end] for n, v in levels.items()})
            at = end
        return True

    def _take_one(self, line: bytes) -> bool:
        """Add a line that may be anything; return whether it is a whole row."""
        try:
            row = dict(zip(self._names, _cells(line), strict=True))
            step, at = int(row["step"]), float(row["timestamp"])
        except ValueError:
            row, step, at = dict[str, str](), 0, 0.0
        if not (1 <= step <= self._most and 0 <= at <= _LATEST):
            if line.strip():
                self._leave_out()
            return False
        opens = at == 0 and not (self._found.parts or self._found.damaged)
        part = self._part_of(step, at, line)
        read = ((name, number(row[name])) for name, _ in self._levels)
        levels = {name: [value] for name, value in read if value is not None and value >= 0}
        # KROWN writes this row itself: its clock and counters are true, its levels not.
        if opens and not any(value for [value] in levels.values()):
            part.readings += 1
        else:
            part.add(1, levels)
        return True

    def _leave_out(self) -> None:
        self._found.damaged += 1
        if self._found.parts:
            self._found.parts[-1].cut_after = True

    def _part_of(self, step: int, at: float, line: bytes) -> StepRows:
        """Return the part that a row belongs to, with the row as its last one."""
        found = self._found
        if found.parts and found.parts[-1].step == step:
            part = found.parts[-1]
            part.backwards |= at < part.end
            part.last, part.end, part.cut_after = line, at, False
            return part
        cut = found.parts[-1].cut_after if found.parts else found.damaged > 0
        part = StepRows(step, self._names, line, line, at, at, cut_before=cut)
        found.parts.append(part)
        if len(found.parts) > _MOST_PARTS:
            raise ValueError(f"its step changes more than {_MOST_PARTS:,} times")
        return part


def number(text: str) -> Number:
    """Read a cell: an integer, another number that can be one, or None where it is neither."""
    for kind in (int, float):
        with suppress(ValueError):
            value = kind(text)
            # Also false for what is not a number at all.
            return value if abs(value) <= _LARGEST else None
    return None
