"""What is wrong with an output: its digest, its rows, what it must hold and equal.

Also the programs of the processes that look at what may take long; ``benchyard.run.checks``
starts them, with Python's own modules alone. They must not outlive their time, so their timers are
those whose signals end a process by themselves, even inside of a regular expression.
"""

import csv
import json
import re
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, NamedTuple

from benchyard.core.files import sha256
from benchyard.core.model import Check
from benchyard.run.likeness import difference, is_table, rows

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
