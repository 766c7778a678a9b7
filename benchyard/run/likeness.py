"""Whether two answers are equal: to the letter, or with a tolerance, or in any order.

Two files that must be equal are read side by side, and no more than a window of them is in memory.
In any order, digests of the records tell whether they are the same ones; only where they are not,
which may still be within the tolerance, both are sorted in memory.
"""

import csv
import hashlib
import math
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path

from benchyard.core.model import Check

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
#: Lines of a difference that an error quotes, and letters of each.
DIFF_LINES, _LETTERS = 20, 300
#: Records from the first difference on that are compared for showing it: that is quadratic.
_WINDOW = 200
#: Python's csv refuses a field of more than 128 KiB; answers have such.
csv.field_size_limit(2**31 - 1)

#: A record of an answer: the cells of a table's row, or a line alone.
Record = list[str]


def is_table(path: Path) -> bool:
    """Return whether a file is compared cell by cell."""
    return path.suffix == ".csv"


def difference(expected: Path, found: Path, check: Check, *, tabular: bool) -> str | None:
    """Return the first differences of two files, None if they are equal.

    Args:
        expected: The file with the expected answer.
        found: The file with the answer.
        check: Says which tolerance numbers have, and whether records may come in any order.
        tabular: Whether the files are tables, compared cell by cell.
    """
    # Most answers are equal to the letter: sums of digests show that, and take no memory.
    if check.any_order:
        one, other = (_digests(path, tabular=tabular) for path in (expected, found))
        if one == other:
            return None
    # Without a tolerance the lines of a text are compared by their letters.
    tolerance = check.tolerance if tabular or check.tolerance else None
    left, right = (
        _records(path, tabular=tabular, any_order=check.any_order) for path in (expected, found)
    )
    for at, (one, other) in enumerate(zip_longest(left, right)):
        if one is None or other is None or not _same(one, other, tolerance):
            return _shown(at, _window(one, left), _window(other, right), tolerance)
    return None


def _digests(path: Path, *, tabular: bool) -> tuple[Record | None, int, int]:
    """Return the header of a table, the number of records, and the sum of their digests."""
    records = rows(path) if tabular else _lines(path)
    header = next(records, None) if tabular else None
    count = total = 0
    for record in records:
        digest = hashlib.blake2b(repr(record).encode(errors="replace"), digest_size=16).digest()
        count, total = count + 1, total + int.from_bytes(digest, "big")
    return header, count, total


def _records(path: Path, *, tabular: bool, any_order: bool) -> Iterator[Record]:
    records = rows(path) if tabular else _lines(path)
    if not any_order:
        return records
    header = islice(records, 1 if tabular else 0)
    return iter([*header, *sorted(records, key=_rank)])


def rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a table, its header first."""
    with path.open(newline="", errors="replace", encoding="utf-8") as stream:
        yield from csv.reader(stream)


def _lines(path: Path) -> Iterator[Record]:
    line = "\n"
    with path.open(errors="replace", encoding="utf-8") as stream:
        for line in stream:
            yield [line.removesuffix("\n")]
    if line.endswith("\n"):
        yield [""]  # a last line that does not end is another one than one that does


def _window(first: Record | None, rest: Iterator[Record]) -> list[Record]:
    return [*([] if first is None else [first]), *islice(rest, _WINDOW)]


def _words(record: Record) -> Record:
    """Split a line into words, in which numbers may differ; the cells of a row are its words."""
    return record[0].split() if len(record) == 1 else record


def _rank(record: Record) -> tuple[list[str], list[float], Record]:
    """Rank by words first and numbers last: within a tolerance, 9.99 and 10.0 come together."""
    values = [(word, _number(word)) for word in _words(record)]
    words = [word if number is None else "" for word, number in values]
    return words, [number for _, number in values if number is not None], record


def _same(expected: Record, found: Record, tolerance: float | None) -> bool:
    """Compare two records; without a tolerance to the letter."""
    if expected == found or tolerance is None:
        return expected == found
    left, right = _words(expected), _words(found)
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


def _shown(at: int, expected: list[Record], found: list[Record], tolerance: float | None) -> str:
    """Show only records that really differ: those within the tolerance are made alike first."""
    alike = [
        e if _same(e, f, tolerance) else f for e, f in zip(expected, found, strict=False)
    ] + found[len(expected) :]
    left, right = ([",".join(record) for record in side] for side in (expected, alike))
    goes_on = max(len(expected), len(found)) > _WINDOW
    lines = ["--- expected", "+++ found", *_unlike(at, left, right, goes_on=goes_on)]
    more = len(lines) - DIFF_LINES
    least = "at least " if goes_on else ""
    rest = [f"… {least}{more} lines more"] if more > 0 else []
    return "\n".join([*lines[:DIFF_LINES], *rest])


def _unlike(at: int, expected: list[str], found: list[str], *, goes_on: bool) -> Iterator[str]:
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
