"""Whether an output is what the case says: rows, digest, pattern, equality with a tolerance."""

import csv
import difflib
import math
import re
from collections.abc import Sequence
from pathlib import Path

from benchyard.errors import CheckFailedError
from benchyard.files import sha256
from benchyard.model import Check

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
        with output.open(newline="", errors="replace") as stream:
            return max(0, sum(1 for _ in csv.reader(stream)) - 1)
    with output.open("rb") as stream:
        return sum(1 for _ in stream)


def _wrong_pattern(check: Check, output: Path) -> str | None:
    if check.pattern is None:
        return None
    text = output.read_text(errors="replace")
    found = re.search(check.pattern, text, re.MULTILINE)
    return None if found else f"nothing matches '{check.pattern}'"


def _wrong_content(check: Check, output: Path, shared: Path) -> str | None:
    if check.equal is None:
        return None
    expected = _lines(shared / check.equal)
    found = _lines(output)
    tabular = Path(check.equal).suffix == ".csv"
    if check.any_order:
        expected, found = (_sorted(lines, tabular=tabular) for lines in (expected, found))
    if len(expected) == len(found) and all(
        _same(e, f, check.tolerance, tabular=tabular) for e, f in zip(expected, found, strict=True)
    ):
        return None
    return f"not equal to '{check.equal}'\n{_diff(expected, found, check, tabular=tabular)}"


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines()


def _sorted(lines: list[str], *, tabular: bool) -> list[str]:
    """Sort by text first and numbers last: within a tolerance, 9.99 and 10.0 must come together."""

    def key(line: str) -> tuple[list[str], list[float], str]:
        cells = [(cell, _number(cell)) for cell in _cells(line, tabular=tabular)]
        words = [cell if number is None else "" for cell, number in cells]
        return words, [number for _, number in cells if number is not None], line

    return sorted(lines, key=key)


def _same(expected: str, found: str, tolerance: float, *, tabular: bool) -> bool:
    if expected == found:
        return True
    if tolerance == 0 and not tabular:
        return False
    left, right = _cells(expected, tabular=tabular), _cells(found, tabular=tabular)
    return len(left) == len(right) and all(
        _same_cell(e, f, tolerance) for e, f in zip(left, right, strict=True)
    )


def _cells(line: str, *, tabular: bool) -> Sequence[str]:
    return next(csv.reader([line]), list[str]()) if tabular else line.split()


def _same_cell(expected: str, found: str, tolerance: float) -> bool:
    if expected == found:
        return True
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


def _diff(expected: list[str], found: list[str], check: Check, *, tabular: bool) -> str:
    """Show only lines that really differ: those within the tolerance are made alike first."""
    alike = [
        e if _same(e, f, check.tolerance, tabular=tabular) else f
        for e, f in zip(expected, found, strict=False)
    ] + found[len(expected) :]
    lines = list(difflib.unified_diff(expected, alike, "expected", "found", n=0, lineterm=""))
    more = len(lines) - DIFF_LINES
    rest = [f"… {more} lines more"] if more > 0 else []
    return "\n".join([*lines[:DIFF_LINES], *rest])
