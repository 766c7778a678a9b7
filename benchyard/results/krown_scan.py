"""One pass over a ``metrics.csv`` of KROWN's: what the rows of each step come to.

Only the first and the last row of a step are read whole, since KROWN's counters are cumulative; of
the rows between them the time is read, and the levels of memory for their extremes.
"""

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from benchyard.core.files import opened
from benchyard.results.metrics_csv import LEVELS

#: Largest number of a step where nothing declares how many there are.
MOST_STEPS = 1_000
#: Most parts, in one step each, that a file may fall into; all are kept in memory.
_MOST_PARTS = 5_000
#: No row is longer (B); what is, is no table.
LONGEST_LINE = 1 << 20
#: Bytes that are looked at together.
BLOCK = 1 << 18
#: No run lasts longer (s, 300 years).
_LATEST = 1e10
#: No counter is larger: sums and squares would leave the floats.
_LARGEST = 1e100

Number: TypeAlias = int | float | None
Cells: TypeAlias = dict[str, Number]


@dataclass(slots=True)
class StepRows:
    """The rows of one step that lie together.

    Args:
        first: The cells of the first row.
        last: The cells of the last row.
        readings: Number of rows.
        samples: The same without the row that KROWN writes itself before it samples: a true
            reading of the clock and the counters, with zeros for the levels.
        levels: Name of a level to the least and the most of the samples.
        cut_before: Whether the row before it is damaged, and may have been its own.
        cut_after: Whether the row after it is.
        backwards: Whether the clock ever ran so.
    """

    step: int
    first: Cells
    last: Cells
    readings: int = 0
    samples: int = 0
    levels: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    cut_before: bool = False
    cut_after: bool = False
    backwards: bool = False

    @property
    def start(self) -> float:
        """The time of its first row (s)."""
        return float(self.first["timestamp"] or 0)

    @property
    def end(self) -> float:
        """The time of its last row (s)."""
        return float(self.last["timestamp"] or 0)


@dataclass(slots=True)
class Scan:
    """What a file holds; ``damaged`` counts rows."""

    parts: list[StepRows] = field(default_factory=list[StepRows])
    damaged: int = 0


class NotMetricsError(ValueError):
    """A file is no table of KROWN's."""


def scan(path: Path, most: int = MOST_STEPS) -> Scan:
    """Read a file in one pass.

    Args:
        most: The largest step that there can be.

    Raises:
        NotMetricsError: If the file has no header with ``step`` and ``timestamp``, or is no table.
        OSError: If it cannot be read.
    """
    with opened(path) as stream:
        header = stream.readline(LONGEST_LINE)
        if not header:
            return Scan()
        scanner = _Scanner(_header(header), most)
        while block := stream.read(BLOCK):
            scanner.take(block + stream.readline(LONGEST_LINE + 1))
        return scanner.found


def _header(line: bytes) -> list[str]:
    try:
        names = next(csv.reader([line.decode("utf-8-sig", "replace").rstrip("\r\n")]), list[str]())
    except csv.Error:
        names = list[str]()
    if not {"step", "timestamp"} <= set(names):
        raise NotMetricsError("it has no header with KROWN's columns step and timestamp")
    return names


class _Scanner:
    """What is known so far."""

    def __init__(self, header: Sequence[str], most: int) -> None:
        self.found = Scan()
        self._header = header
        self._most = most
        self._levels = {name: header.index(name) for name in LEVELS if name in header}
        #: Whether the row before the next one is damaged.
        self._cut = False

    def take(self, block: bytes) -> None:
        """Add lines that follow each other; the last one of a file may lack its end."""
        *lines, torn = block.split(b"\n")
        # Then commas are nothing but separators, and each line has as many as cells need.
        regular = (
            set(map(bytes.count, lines, repeat(b","))) == {len(self._header) - 1}
            and b'"' not in block
            and block.count(b"\r") == block.count(b"\r\n")
        )
        if not (regular and self._take_together(lines)):
            for line in lines:
                self._take_one(line)
        if len(torn) > LONGEST_LINE:
            raise NotMetricsError(f"it has a line of more than {LONGEST_LINE:,} bytes")
        if torn.strip():
            # KROWN ends every row with a line end: without it the file was cut.
            self._leave_out()

    def _take_together(self, lines: Sequence[bytes]) -> bool:
        """Add rows by their steps, and look at the first one of each; False if times are odd."""
        step, time = self._header.index("step"), self._header.index("timestamp")
        # Cells behind so many commas are of no interest in most rows.
        near = max(step, time, *self._levels.values()) + 1
        rows = [line.split(b",", near) for line in lines]
        try:
            times = list(map(float, map(itemgetter(time), rows)))
            by_step = [list(several) for _, several in groupby(rows, itemgetter(step))]
        except (ValueError, IndexError):
            return False
        if times != sorted(times) or isnan(sum(times)) or times[-1] > _LATEST:
            return False
        at = 0
        for several in by_step:
            end = at + len(several)
            if self._take_one(lines[at]):
                self._go_on(several[1:], lines[end - 1])
            else:
                for line in lines[at + 1 : end]:
                    self._take_one(line)
            at = end
        return True

    def _go_on(self, rows: Sequence[Sequence[bytes]], last: bytes) -> None:
        """Add rows to the step of the row before them.

        Args:
            last: The whole line of the last one.
        """
        if not rows:
            return
        part = self.found.parts[-1]
        part.last = self._row(last) or part.last
        part.readings += len(rows)
        part.samples += len(rows)
        for name, place in self._levels.items():
            # Swap hardly ever moves: then there is one text to read, and not one for each row.
            texts = list(map(itemgetter(place), rows))
            _widen(part, name, set(texts) if texts[0] == texts[-1] else texts)

    def _take_one(self, line: bytes) -> bool:
        """Add a line that may be anything; tell whether it is a whole row."""
        row = self._row(line)
        if row is None:
            if line.strip():
                self._leave_out()
            return False
        levels = {name: v for name in self._levels if (v := row[name]) is not None and v >= 0}
        opens = not (self.found.parts or self.found.damaged)
        part = self._part(row)
        part.readings += 1
        # KROWN writes this row itself: its clock and counters are true, its levels not.
        if not (opens and row["timestamp"] == 0 and not any(levels.values())):
            part.samples += 1
            for name, value in levels.items():
                every = [*part.levels.get(name, ()), value]
                part.levels[name] = min(every), max(every)
        return True

    def _leave_out(self) -> None:
        self.found.damaged += 1
        self._cut = True
        if self.found.parts:
            self.found.parts[-1].cut_after = True

    def _part(self, row: Cells) -> StepRows:
        """Return the part that a row belongs to, with the row as its last one."""
        parts, step = self.found.parts, int(row["step"] or 0)
        if parts and parts[-1].step == step:
            part = parts[-1]
            before, part.last = part.end, row
            part.backwards |= part.end < before
            part.cut_after = False
        else:
            part = StepRows(step, row, row, cut_before=self._cut)
            parts.append(part)
            if len(parts) > _MOST_PARTS:
                raise NotMetricsError(f"its step changes more than {_MOST_PARTS:,} times")
        self._cut = False
        return part

    def _row(self, line: bytes) -> Cells | None:
        """Read all cells of a line, None for what is no number; None if it is no whole row."""
        try:
            [texts] = csv.reader([line.decode("utf-8", "replace").rstrip("\r")])
            row = {name: number(text) for name, text in zip(self._header, texts, strict=True)}
        except (ValueError, csv.Error):
            return None
        step, at = row["step"], row["timestamp"]
        if not isinstance(step, int) or not 1 <= step <= self._most or at is None:
            return None
        return row if 0 <= at <= _LATEST else None


def _widen(part: StepRows, name: str, texts: Collection[bytes]) -> None:
    """Widen a level's extremes by cells; empty and negative ones are ignored."""
    try:
        values: Sequence[int | float] = list(map(int, texts))
    except ValueError:
        found = [number(text.decode("utf-8", "replace")) for text in texts]
        values = [value for value in found if value is not None]
    if values and (min(values) < 0 or max(values) > _LARGEST):
        values = [value for value in values if 0 <= value <= _LARGEST]
    if values:
        every = [*part.levels.get(name, ()), min(values), max(values)]
        part.levels[name] = min(every), max(every)


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
