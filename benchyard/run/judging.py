"""What is wrong with an output: its digest, its rows, what it must hold and equal.

Also the programs of the processes that look at what may take long; ``benchyard.run.checks``
starts them, with Python's own modules alone. They must not outlive their time, so their timers are
those whose signals end a process by themselves, even inside of a regular expression.

Two files that must be equal are read side by side, and no more than a window of them is in memory.
In any order, digests of the records tell whether they are the same ones; only where they are not,
which may still be within the tolerance, both are sorted in memory.
"""

import csv
import hashlib
import json
import math
import re
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, NamedTuple

from benchyard.core.files import sha256
from benchyard.core.model import Check

#: An output beyond is not searched for a pattern: all of it is in memory then.
SEARCHED_BYTES = 256 << 20
#: So many bytes prolong a search by a second.
_BYTES_A_SECOND = 5e6
_PIECE = 1 << 20
#: So much of a line without an end (bytes) is remembered for patterns that come in parts.
_REMEMBERED = 65_536
#: What comes before a piece of a stream: number of the stream, and bytes of the piece.
HEAD = struct.Struct("<BI")
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
#: Lines of a difference that an error quotes, and letters of each.
DIFF_LINES, _LETTERS = 20, 300
#: Records from the first difference on that are compared for showing it: that is quadratic.
_WINDOW = 200
#: Python's csv refuses a field of more than 128 KiB; answers have such.
csv.field_size_limit(2**31 - 1)

#: A line of an answer: its cells in a table, its words elsewhere.
Cells = list[str]
_ROOT = str(Path(__file__).resolve().parents[2])


class SearchLimits(NamedTuple):
    """What looking at an output may take.

    Args:
        search_seconds: CPU time in which a pattern must be found, longer for large outputs.
        memory_bytes: Address space.
    """

    search_seconds: float = 10.0
    memory_bytes: int = 4 << 30

    def search(self, size: int) -> float:
        """Return for how long (CPU time) a pattern may be looked for in so many bytes."""
        return self.search_seconds + size / _BYTES_A_SECOND


USUAL = SearchLimits()


def wrong(check: Check, output: Path, shared: Path, limits: SearchLimits = USUAL) -> str | None:
    """Say what is wrong with an output; None if nothing is.

    Args:
        check: What the output must be.
        output: The file.
        shared: Where the expected file lies.
        limits: When the time for a pattern is over, the process ends.
    """
    return (
        _wrong_digest(check, output)
        or _wrong_rows(check, output)
        or _wrong_pattern(check, output, limits)
        or _wrong_content(check, output, shared)
    )


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
    lines, last = 0, b"\n"
    with output.open("rb") as stream:
        while piece := stream.read(_PIECE):  # a line may be as long as the file
            lines, last = lines + piece.count(b"\n"), piece[-1:]
    return lines + (last != b"\n")


def _wrong_pattern(check: Check, output: Path, limits: SearchLimits) -> str | None:
    if check.pattern is None:
        return None
    size = output.stat().st_size
    if size > SEARCHED_BYTES:
        most = f"a pattern is looked for in {SEARCHED_BYTES >> 20} MiB at most"
        return f"it has {size:,} bytes, and {most}; check rows, sha256 or equal instead"
    text = output.read_text(errors="replace", encoding="utf-8")
    signal.setitimer(signal.ITIMER_PROF, limits.search(size))
    found = re.search(check.pattern, text, re.MULTILINE)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return None if found else f"nothing matches '{check.pattern}'"


def _wrong_content(check: Check, output: Path, shared: Path) -> str | None:
    if check.equal is None:
        return None
    tabular = Path(check.equal).suffix == ".csv"
    tolerance = check.tolerance if tabular or check.tolerance else None
    like = Likeness(tabular, tolerance, check.any_order)
    found = difference(shared / check.equal, output, like)
    return None if found is None else f"not equal to '{check.equal}'\n{found}"


# -- likeness


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


# -- the processes


def program(main: Callable[[], None], *arguments: str) -> list[str]:
    """Return what executes a function of this module with Python's own modules alone."""
    path, name = f"import sys; sys.path.insert(0, {_ROOT!r})", main.__name__
    code = f"{path}; from {__name__} import {name}; {name}()"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def ask(check: Check, output: Path, shared: Path, limits: SearchLimits) -> str:
    """Write down what the process is to look at, as ``wrong`` takes it."""
    return json.dumps([asdict(check), str(output), str(shared), limits])


def check_output() -> None:
    """Look at the output that the only argument tells of, and print what is wrong, as JSON."""
    check, output, shared, given = json.loads(sys.argv[1])
    limits = SearchLimits(*given)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    try:
        said = wrong(Check(**check), Path(output), Path(shared), limits)
    except MemoryError:
        most = f"the check takes more than {limits.memory_bytes / (1 << 30):g} GiB of memory"
        said = f"{most}; compare in order and without a tolerance, or check rows or sha256 instead"
    except (OSError, csv.Error) as error:
        said = f"it cannot be read: {error}"
    sys.stdout.write(json.dumps(said))


class Looking:
    """Looks at pieces of streams, one after the other."""

    def __init__(self, pattern: bytes) -> None:
        self._wanted = re.compile(pattern, re.MULTILINE)
        self._seen: dict[int, bytes] = {}

    def finds(self, number: int, piece: bytes) -> bool:
        """Tell whether the pattern is in the last line of a stream with this piece."""
        seen = self._seen.get(number, b"") + piece
        # Lines that are whole need not be looked at again.
        self._seen[number] = seen[-_REMEMBERED:].rpartition(b"\n")[2]
        return self._wanted.search(seen) is not None


def search_stdin() -> None:
    """Look at what comes on stdin, after the pattern, and print a plus where it is found."""
    pieces = _pieces(sys.stdin.buffer)
    _, pattern = next(pieces)
    looking = Looking(pattern)
    for number, piece in pieces:
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
        found = looking.finds(number, piece)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if found:
            sys.stdout.write("+")
            return


def _pieces(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        number, size = HEAD.unpack(head)
        yield number, stream.read(size)
