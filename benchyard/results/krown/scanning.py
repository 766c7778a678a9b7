"""One streaming pass over a part of a ``metrics.csv``: what each step's rows come to.

Also a program of its own, so that several cores read side by side: a line of JSON with path, first
and last byte and largest step goes in, a line with what was found comes out. It is started by file
path, isolated, and therefore imports nothing of Benchyard.

Only the first and the last row of a step are read whole, since KROWN's counters are cumulative; of
the rows between them the levels of memory are read, for their extremes, and the number of cells.
"""

import csv
import gc
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, repeat
from operator import itemgetter
from typing import BinaryIO, TypeAlias, TypedDict

#: Columns that are levels, not cumulative counters.
LEVELS = ("memory_ram", "memory_swap", "memory_ram_swap")
#: Bytes read at once; larger ones gain no time and cost memory.
BLOCK = 1 << 18
#: Largest number of a step where nothing declares how many there are.
MOST_STEPS = 1_000
#: Most parts, in one step each, that a file may fall into; all are kept in memory.
_MOST_PARTS = 5_000
#: No row is longer (B); what is, is no table.
LONGEST_LINE = 1 << 20
_LONGEST_HEADER = 1 << 16
#: No run lasts longer (s, 300 years).
_LATEST = 1e10
#: No counter is larger: sums and squares would leave the floats.
_LARGEST = 1e100

Number: TypeAlias = int | float | None
Cells: TypeAlias = dict[str, Number]
Levels: TypeAlias = dict[str, tuple[float, float]]


class StepRows(TypedDict):
    """The rows of one step, next to each other, in one part of a file.

    ``readings`` counts them, ``samples`` too, but without the row that KROWN writes itself before
    it samples: that is a true reading of the clock and the counters, with zeros for the levels.
    ``first`` and ``last`` are the cells of the outermost rows, ``levels`` least and most.
    ``cut_before`` and ``cut_after``: whether the row next to it is damaged, and may have been its
    own. ``backwards``: whether the clock ever ran so.
    """

    step: int
    readings: int
    samples: int
    first: Cells
    last: Cells
    levels: Levels
    cut_before: bool
    cut_after: bool
    backwards: bool


class Scan(TypedDict):
    """What a part of a file holds; ``damaged`` counts rows, ``starts_cut`` if one comes first."""

    parts: list[StepRows]
    damaged: int
    starts_cut: bool


class NotMetricsError(ValueError):
    """A file is no table of KROWN's."""


def scan(path: str, start: int = 0, end: int = sys.maxsize, most: int = MOST_STEPS) -> Scan:
    """Read the rows between two bytes of a file, in one pass.

    Args:
        start: Where a row begins; 0 is before the header.
        end: Where a row ends, or anything behind the file's end.
        most: The largest step that there can be.

    Raises:
        NotMetricsError: If the file has no header with ``step`` and ``timestamp``, or is no table.
        OSError: If it cannot be read.
    """
    # Unbuffered: a buffered reader would copy each block once more.
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - pathlib costs start-up time
        found = stream.read(_LONGEST_HEADER)
        if not found:
            return nothing()
        line, newline, _ = found.partition(b"\n")
        first_row = len(line) + len(newline)
        at = max(start, first_row)
        scanner = _Scanner(_header(line), most, opens=at == first_row)
        stream.seek(at)
        for block, ended in _blocks(stream, end - at):
            if ended:
                scanner.take(block)
            elif block.strip():
                scanner.leave_out()
    return scanner.found


def _ascend(times: Sequence[bytes]) -> bool:
    """Tell whether all are plain numbers, none less than the one before; if not sure, it is not."""
    text = b"".join(times)
    if not text.replace(b".", b"").isdigit():
        return False
    if text.count(b".") == len(times) and len(set(map(bytes.find, times, repeat(b".")))) == 1:
        # With the point in one place texts stand in the order of their numbers, and are not read.
        return times == sorted(times)
    values = list(map(float, times))
    return values == sorted(values)


def nothing() -> Scan:
    """Return what a part without rows holds."""
    return {"parts": [], "damaged": 0, "starts_cut": False}


def _header(line: bytes) -> list[str]:
    try:
        names = next(csv.reader([line.decode("utf-8-sig", "replace")]), list[str]())
    except csv.Error:
        names = list[str]()
    if not {"step", "timestamp"} <= set(names):
        raise NotMetricsError("it has no header with KROWN's columns step and timestamp")
    return names


def _blocks(stream: BinaryIO, left: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the next ``left`` bytes, many lines at once; also whether the last of them had an end.

    That end is taken off. KROWN ends every row with one: without it the file was cut.
    """
    rest = b""
    while left > 0 and (block := stream.read(min(BLOCK, left))):
        left -= len(block)
        lines, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            yield lines, True
        if len(rest) > LONGEST_LINE:
            raise NotMetricsError(f"it has a line of more than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest, False


class _Scanner:
    """What is known so far.

    Args:
        most: The largest step that there can be.
        opens: Whether the file's first row comes first.
    """

    def __init__(self, header: Sequence[str], most: int, *, opens: bool) -> None:
        self.found = nothing()
        self._opens = opens
        self._most = most
        #: Whether the row before the next one is damaged.
        self._cut = False
        self._header = header
        self._step = itemgetter(header.index("step"))
        self._time = itemgetter(header.index("timestamp"))
        found = {name: header.index(name) for name in LEVELS if name in header}
        self._levels = {name: itemgetter(place) for name, place in found.items()}
        #: Cells behind this many commas are of no interest in most rows.
        self._commas = max(header.index("step"), header.index("timestamp"), *found.values()) + 1

    def leave_out(self) -> None:
        """Add a row that is damaged."""
        found = self.found
        found["damaged"] += 1
        self._cut = True
        if found["parts"]:
            found["parts"][-1]["cut_after"] = True
        else:
            found["starts_cut"] = True

    def take(self, block: bytes) -> None:
        """Add whole lines that follow each other."""
        lines = block.split(b"\n")
        plain = block.count(b",") == (len(self._header) - 1) * len(lines) and b'"' not in block
        if self._opens:
            self._opens = False
            self._take_singly(lines[:1], opens=True)
            del lines[0]
        try:
            found = list(self._plain(lines)) if plain else None
        except (ValueError, IndexError):
            found = None
        if found is None:
            self._take_singly(lines)
            return
        for part in found:
            self._add(*part)

    def _take_singly(self, lines: Sequence[bytes], *, opens: bool = False) -> None:
        """Add lines of which each may be anything."""
        for line in lines:
            row = self._row(line)
            if row is None:
                if line.strip():
                    self.leave_out()
                continue
            levels = {n: v for n in self._levels if (v := row[n]) is not None and v >= 0}
            if opens and row["timestamp"] == 0 and not any(levels.values()):
                # KROWN writes this row itself: its clock and counters are true, its levels not.
                self._add(row, row, {}, readings=1, samples=0)
            else:
                around = {name: (value, value) for name, value in levels.items()}
                self._add(row, row, around, readings=1, samples=1)

    def _plain(self, lines: Sequence[bytes]) -> Iterator[tuple[Cells, Cells, Levels, int, int]]:
        """Yield the rows of each step in a block where commas are nothing but separators.

        Raises:
            ValueError: If one of them has to be looked at more closely.
            IndexError: The same.
        """
        cells = [line.split(b",", self._commas) for line in lines]
        times = list(map(self._time, cells))
        if not all(times) or not _ascend(times):
            raise ValueError("there may be one without a time, or before the one above it")
        done = 0
        for rows in self._by_step(cells):
            first, last = self._row(lines[done]), self._row(lines[done + len(rows) - 1])
            if first is None or last is None:
                raise ValueError("the outermost ones are not whole")
            yield first, last, self._extremes(rows), len(rows), len(rows)
            done += len(rows)

    def _by_step(self, cells: list[list[bytes]]) -> Iterator[list[list[bytes]]]:
        if len(set(map(self._step, cells))) == 1:
            yield cells
            return
        for _, rows in groupby(cells, self._step):
            yield list(rows)

    def _extremes(self, rows: Sequence[Sequence[bytes]]) -> Levels:
        found: Levels = {}
        for name, cell in self._levels.items():
            # Swap hardly ever moves: then there is one text to read, and not one for each row.
            texts: Iterable[bytes] = map(cell, rows)
            values = list(map(int, set(texts) if cell(rows[0]) == cell(rows[-1]) else texts))
            least, most = min(values), max(values)
            if least < 0 or most > _LARGEST:
                raise ValueError("a level below zero is none")
            found[name] = least, most
        return found

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

    def _add(self, first: Cells, last: Cells, levels: Levels, readings: int, samples: int) -> None:
        part: StepRows = {
            "step": int(first["step"] or 0),
            "readings": readings,
            "samples": samples,
            "first": first,
            "last": last,
            "levels": levels,
            "cut_before": self._cut,
            "cut_after": False,
            "backwards": False,
        }
        self._cut = False
        parts = self.found["parts"]
        parts[-1:] = merged([*parts[-1:], part])
        check_number(parts)


def check_number(parts: Sequence[StepRows]) -> None:
    """Raise ``NotMetricsError`` if the steps change too often to be steps."""
    if len(parts) > _MOST_PARTS:
        raise NotMetricsError(f"its step changes more than {_MOST_PARTS:,} times")


def merged(parts: Iterable[StepRows]) -> list[StepRows]:
    """Join neighbours of one step."""
    made: list[StepRows] = []
    for part in parts:
        if made and made[-1]["step"] == part["step"]:
            made[-1] = _joined(made[-1], part)
        else:
            made.append(part)
    return made


def _joined(one: StepRows, next_one: StepRows) -> StepRows:
    """Return two parts of one step, given in their order, as one."""
    both = {**next_one["levels"], **one["levels"]}
    for name in one["levels"].keys() & next_one["levels"].keys():
        (low, high), (least, most) = one["levels"][name], next_one["levels"][name]
        both[name] = min(low, least), max(high, most)
    return {
        "step": one["step"],
        "readings": one["readings"] + next_one["readings"],
        "samples": one["samples"] + next_one["samples"],
        "first": one["first"],
        "last": next_one["last"],
        "levels": both,
        "cut_before": one["cut_before"],
        "cut_after": next_one["cut_after"],
        "backwards": one["backwards"] or next_one["backwards"] or backwards(one, next_one),
    }


def backwards(one: StepRows, next_one: StepRows) -> bool:
    """Tell whether the clock ran backwards from a part to the next one."""
    end, start = one["last"]["timestamp"], next_one["first"]["timestamp"]
    return end is not None and start is not None and start < end


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


def main() -> None:
    """Answer each line of the input by one of the output, until the input ends."""
    # Nothing here makes cycles, and looking for them among a block's cells takes time.
    gc.disable()
    for line in sys.stdin:
        try:
            answer: object = scan(*json.loads(line))
        except (OSError, ValueError) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)  # noqa: T201 - the answer to the parent


if __name__ == "__main__":
    main()
