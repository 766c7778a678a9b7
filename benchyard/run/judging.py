"""What is wrong with an output: its digest, its rows, what it must hold and equal.

Two files that must be equal are read side by side, and no more than a window of them is in memory.
In any order, digests of the records tell whether they are the same ones; only where they are not,
which may still be within the tolerance, both are sorted in memory.

Also the programs of the processes that look at what may take long; ``benchyard.run.checks``
starts them, with Python's own modules alone. They must not outlive their time, so their timers are
those whose signals end a process by themselves, even inside of a regular expression.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, NamedTuple

from benchyard.core.files import sha256
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


#: An output beyond is not searched for a pattern: all of it is in memory then.
SEARCHED_BYTES = 256 << 20
#: So many bytes prolong a search by a second.
_BYTES_A_SECOND = 5e6
_PIECE = 1 << 20
#: So much of a line without an end (bytes) is remembered for patterns that come in parts.
_REMEMBERED = 65_536
#: What comes before a piece of a stream: number of the stream, and bytes of the piece.
HEAD = struct.Struct("<BI")

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


def wrong(
    check: Check,
    output: Path,
    shared: Path,
    limits: SearchLimits = USUAL,
    answer: Path | None = None,
) -> str | None:
    """Say what is wrong with an output; None if nothing is.

    Args:
        check: What the output must be.
        output: The file.
        shared: Where the expected file lies.
        limits: When the time for a pattern is over, the process ends.
        answer: The file with the answer of the step that this one must equal.
    """
    return next(_problems(check, output, expected_files(check, shared, answer), limits), None)


def _problems(
    check: Check, output: Path, expected: Mapping[str, Path], limits: SearchLimits
) -> Iterator[str]:
    if check.sha256 is not None and (digest := sha256(output)) != check.sha256:
        yield f"sha256 is {digest}, must be {check.sha256}"
    if check.rows is not None and (count := count_rows(output)) != check.rows:
        yield f"{count} rows, must be {check.rows}"
    if check.pattern is not None:
        yield from _unmatched(check.pattern, output, limits)
    for name, file in expected.items():
        unlike = difference(file, output, check, tabular=is_table(file))
        if unlike is not None:
            yield f"not equal to {name}\n{unlike}"


def count_rows(output: Path) -> int:
    """Count the records: of a .csv without its header, of anything else the lines."""
    if is_table(output):
        return max(0, sum(1 for _ in rows(output)) - 1)
    lines, last = 0, b"\n"
    with output.open("rb") as stream:
        while piece := stream.read(_PIECE):  # a line may be as long as the file
            lines, last = lines + piece.count(b"\n"), piece[-1:]
    return lines + (last != b"\n")


def _unmatched(pattern: str, output: Path, limits: SearchLimits) -> Iterator[str]:
    """Yield why an output does not match; the process ends if that takes too long."""
    size = output.stat().st_size
    if size > SEARCHED_BYTES:
        most = f"a pattern is looked for in {SEARCHED_BYTES >> 20} MiB at most"
        yield f"it has {size:,} bytes, and {most}; check rows, sha256 or equal instead"
        return
    text = output.read_text(errors="replace", encoding="utf-8")
    signal.setitimer(signal.ITIMER_PROF, limits.search(size))
    found = re.search(pattern, text, re.MULTILINE)
    signal.setitimer(signal.ITIMER_PROF, 0)
    if not found:
        yield f"nothing matches '{pattern}'"


def expected_files(check: Check, shared: Path, answer: Path | None) -> dict[str, Path]:
    """Return the files that an output must equal, each by what it is called."""
    named = {} if check.equal is None else {f"'{check.equal}'": shared / check.equal}
    return named if answer is None else {**named, f"the answer of '{check.equal_to}'": answer}


# -- the processes


def program(main: Callable[[], None], *arguments: str) -> list[str]:
    """Return what executes a function of this module with Python's own modules alone."""
    path, name = f"import sys; sys.path.insert(0, {_ROOT!r})", main.__name__
    code = f"{path}; from {__name__} import {name}; {name}()"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def ask(check: Check, output: Path, shared: Path, limits: SearchLimits, answer: Path | None) -> str:
    """Write down what the process is to look at, as ``wrong`` takes it."""
    return json.dumps([asdict(check), str(output), str(shared), limits, answer and str(answer)])


def check_output() -> None:
    """Look at the output that the only argument tells of, and print what is wrong, as JSON."""
    check, output, shared, given, answer = json.loads(sys.argv[1])
    limits = SearchLimits(*given)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    try:
        files = (Path(output), Path(shared))
        said = wrong(Check(**check), *files, limits, Path(answer) if answer else None)
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
