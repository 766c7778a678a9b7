"""What is wrong with an output: its digest, its rows, what it must hold and equal.

Also the program of the process that looks at what may take long; ``benchyard.run.checks``
starts it, with Python's own modules alone. It must not outlive its time, so its timers are those
whose signals end a process by themselves, even inside of a regular expression.
"""

import csv
import json
import re
import resource
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from benchyard.core.files import sha256
from benchyard.core.model import Check
from benchyard.run.likeness import Likeness, difference

#: An output beyond is not searched for a pattern: all of it is in memory then.
SEARCHED_BYTES = 256 << 20
#: So many bytes prolong a search by a second.
_BYTES_A_SECOND = 5e6
_PIECE = 1 << 20
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


# -- the process


def program(module: str, *arguments: str) -> list[str]:
    """Return what executes ``main`` of a module with Python's own modules alone."""
    code = f"import sys; sys.path.insert(0, {_ROOT!r}); from {module} import main; main()"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def ask(check: Check, output: Path, shared: Path, limits: SearchLimits) -> str:
    """Write down what the process is to look at, as ``wrong`` takes it."""
    return json.dumps([asdict(check), str(output), str(shared), limits])


def main() -> None:
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
