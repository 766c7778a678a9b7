"""Whether an output is what the case says: rows, digest, pattern, equality with a tolerance."""

import csv
import difflib
import math
import re
from pathlib import Path

from benchyard.errors import CheckFailedError
from benchyard.files import sha256
from benchyard.model import Check

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
#: Lines of a diff that an error quotes.
DIFF_LINES = 20
#: Python's csv refuses a field of more than 128 KiB; answers have such.
csv.field_size_limit(2**31 - 1)


def check_output(check: Check, output: Path, shared: Path) -> None:
    """Check one output.

    Args:
        shared: Where the expected file lies.

    Raises:
        CheckFailedError: If it is not what it must be; the text says the difference.
    """
    if not output.is_file():
        raise CheckFailedError(f"the output '{output.name}' was not made")
    for wrong in (
        _wrong_digest(check, output),
        _wrong_rows(check, output),
        _wrong_pattern(check, output),
        _wrong_content(check, output, shared),
    ):
        if wrong:
            raise CheckFailedError(f"wrong answer in '{output.name}': {wrong}")


def _wrong_digest(check: Check, output: Path) -> str | None:
    if check.sha256 is None:
        return None
    found = sha256(output)
    return None if found == check.sha256 else f"sha256 is {found}, must be {check.sha256}"


def _wrong_rows(check: Check, output: Path) -> str | None:
    if check.rows is None:
        return None
    found = count_rows(output)
    return None if found == check.rows else f"{found} rows, must be {check.rows}"


def count_rows(output: Path) -> int:
    """Count the records: of a .csv without its header, of anything else the lines."""
    if output.suffix == ".csv":
        with output.open(newline="", errors="replace", encoding="utf-8") as stream:
            return max(0, sum(1 for _ in csv.reader(stream)) - 1)
    with output.open("rb") as stream:
        return sum(1 for _ in stream)


def _wrong_pattern(check: Check, output: Path) -> str | None:
    if check.pattern is None:
        return None
    text = output.read_text(errors="replace", encoding="utf-8")
    found = re.search(check.pattern, text, re.MULTILINE)
    return None if found else f"nothing matches '{check.pattern}'"


#: A line of an answer: its cells in a table, its words elsewhere.
Cells = list[str]


def _wrong_content(check: Check, output: Path, shared: Path) -> str | None:
    if check.equal is None:
        return None
    tabular = Path(check.equal).suffix == ".csv"
    expected = _records(shared / check.equal, tabular=tabular)
    found = _records(output, tabular=tabular)
    if check.any_order:
        # The header of a table is no record and stays where it is.
        head = 1 if tabular else 0
        expected, found = (r[:head] + sorted(r[head:], key=_rank) for r in (expected, found))
    tolerance = check.tolerance if tabular or check.tolerance else None
    if len(expected) == len(found) and all(
        _same(e, f, tolerance) for e, f in zip(expected, found, strict=True)
    ):
        return None
    return f"not equal to '{check.equal}'\n{_diff(expected, found, tolerance, tabular=tabular)}"


def _records(path: Path, *, tabular: bool) -> list[Cells]:
    if not tabular:
        return [[line] for line in path.read_text(errors="replace", encoding="utf-8").split("\n")]
    with path.open(newline="", errors="replace", encoding="utf-8") as stream:
        return list(csv.reader(stream))


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


def _diff(
    expected: list[Cells], found: list[Cells], tolerance: float | None, *, tabular: bool
) -> str:
    """Show only records that really differ: those within the tolerance are made alike first."""
    alike = [
        e if _same(e, f, tolerance) else f for e, f in zip(expected, found, strict=False)
    ] + found[len(expected) :]
    left, right = ([",".join(r) if tabular else r[0] for r in side] for side in (expected, alike))
    lines = list(difflib.unified_diff(left, right, "expected", "found", n=0, lineterm=""))
    more = len(lines) - DIFF_LINES
    rest = [f"… {more} lines more"] if more > 0 else []
    return "\n".join([*lines[:DIFF_LINES], *rest])
