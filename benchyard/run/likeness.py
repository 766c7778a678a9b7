"""Whether two answers are equal: to the letter, or with a tolerance, or in any order.

Two files that must be equal are read side by side, and no more than a window of them is in memory.
In any order, digests of the records tell whether they are the same ones; only where they are not,
which may still be within the tolerance, both are sorted in memory.
"""

import csv
import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from benchyard.core.model import Check

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
#: Lines of a difference that an error quotes, and letters of each.
DIFF_LINES, _LETTERS = 20, 300
#: Records from the first difference on that are compared for showing it: that is quadratic.
_WINDOW = 200
#: Python's csv refuses a field of more than 128 KiB; answers have such.
csv.field_size_limit(2**31 - 1)

#: A line of an answer: its cells in a table, its words elsewhere.
Cells = list[str]


class Likeness(NamedTuple):
    """What makes two files equal.

    Args:
        tabular: Whether they are tables, compared cell by cell.
        tolerance: Relative difference that numbers may have; None compares letters.
        any_order: Whether the records may come in another order.
    """

    tabular: bool
    tolerance: float | None
    any_order: bool


def likeness(check: Check, expected: Path) -> Likeness:
    """Return what a check takes for equal to a file."""
    tabular = expected.suffix == ".csv"
    tolerance = check.tolerance if tabular or check.tolerance else None
    return Likeness(tabular, tolerance, check.any_order)


def difference(expected: Path, found: Path, like: Likeness) -> str | None:
    """Return the first differences of two files, None where there are none."""
    if like.any_order and _digests(expected, like) == _digests(found, like):
        return None
    left, right = (_records(path, tabular=like.tabular) for path in (expected, found))
    if like.any_order:
        left, right = _sorted(left, like), _sorted(right, like)
    at = 0
    for at, (one, other) in enumerate(zip_longest(left, right)):  # noqa: B007 - used below
        if one is None or other is None or not _same(one, other, like.tolerance):
            break
    else:
        return None
    sides = ([] if first is None else [first] for first in (one, other))
    window = [
        [*side, *islice(rest, _WINDOW)] for side, rest in zip(sides, (left, right), strict=True)
    ]
    return _shown(at, window[0], window[1], like)


def _records(path: Path, *, tabular: bool) -> Iterator[Cells]:
    if tabular:
        with path.open(newline="", errors="replace", encoding="utf-8") as stream:
            yield from csv.reader(stream)
        return
    line = "\n"
    with path.open(errors="replace", encoding="utf-8") as stream:
        for line in stream:
            yield [line.removesuffix("\n")]
    if line.endswith("\n"):
        yield [""]  # a last line that does not end is another one than one that does


def _digests(path: Path, like: Likeness) -> tuple[Cells | None, int, int]:
    """Return the header of a table, the number of records, and the sum of their digests."""
    records = _records(path, tabular=like.tabular)
    header = next(records, None) if like.tabular else None
    count = total = 0
    for record in records:
        count += 1
        total += int.from_bytes(
            hashlib.blake2b(repr(record).encode(errors="replace"), digest_size=16).digest(), "big"
        )
    return header, count, total


def _sorted(records: Iterator[Cells], like: Likeness) -> Iterator[Cells]:
    """Sort them; the header of a table is no record and stays where it is."""
    header = islice(records, 1 if like.tabular else 0)
    return iter([*header, *sorted(records, key=_rank)])


def _words(record: Cells, tolerance: float | None) -> Cells:
    """Split a line of a text into words, where numbers in it may differ."""
    return record[0].split() if tolerance is not None and len(record) == 1 else record


def _rank(record: Cells) -> tuple[list[str], list[float], Cells]:
    """Rank by words first and numbers last: within a tolerance, 9.99 and 10.0 come together."""
    cells = [cell for part in record for cell in part.split()] if len(record) == 1 else record
    values = [_number(cell) for cell in cells]
    words = [cell if value is None else "" for cell, value in zip(cells, values, strict=True)]
    return words, [value for value in values if value is not None], record


def _same(expected: Cells, found: Cells, tolerance: float | None) -> bool:
    """Compare two records; without a tolerance to the letter."""
    if expected == found or tolerance is None:
        return expected == found
    left, right = _words(expected, tolerance), _words(found, tolerance)
    return len(left) == len(right) and all(
        _same_cell(e, f, tolerance) for e, f in zip(left, right, strict=True)
    )


def _same_cell(expected: str, found: str, tolerance: float) -> bool:
    if expected == found:
        return True
    if _INTEGER.fullmatch(expected) and _INTEGER.fullmatch(found):
        return int(expected) == int(found)  # a key that is off by one is another key
    left, right = _number(expected), _number(found)
    if left is None or right is None:
        return False
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=0.0)


def _number(cell: str) -> float | None:
    """Return what a cell holds if that is a number; NaN is none, it has no order."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _shown(at: int, expected: list[Cells], found: list[Cells], like: Likeness) -> str:
    """Show only records that really differ: those within the tolerance are made alike first."""
    alike = [
        e if _same(e, f, like.tolerance) else f for e, f in zip(expected, found, strict=False)
    ] + found[len(expected) :]
    left, right = ([_line(r, like) for r in side] for side in (expected, alike))
    goes_on = max(len(expected), len(found)) > _WINDOW
    lines = ["--- expected", "+++ found", *_unlike(at, left, right, goes_on=goes_on)]
    more = len(lines) - DIFF_LINES
    least = "at least " if goes_on else ""
    rest = [f"… {least}{more} lines more"] if more > 0 else []
    return "\n".join([*lines[:DIFF_LINES], *rest])


def _line(record: Cells, like: Likeness) -> str:
    return ",".join(record) if like.tabular else record[0]


def _unlike(at: int, expected: list[str], found: list[str], *, goes_on: bool) -> Iterable[str]:
    changes = SequenceMatcher(None, expected, found, autojunk=False).get_opcodes()
    if goes_on and len(changes) > 1 and changes[-1][0] in ("delete", "insert"):
        changes.pop()  # where the window ends, one side has what the other one has behind it
    for kind, first, last, low, high in changes:
        if kind != "equal":
            yield f"@@ record {at + first + 1} @@"
            yield from (f"-{_cut(line)}" for line in expected[first:last])
            yield from (f"+{_cut(line)}" for line in found[low:high])


def _cut(line: str) -> str:
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS]}… ({len(line):,} letters)"
