"""Sets of runs as people write them: ``1-5,8``."""

import re

from benchyard.core.errors import InputError
from benchyard.core.wording import in_short

__all__ = ["MAX_RUN", "in_short", "parse_runs"]

#: The largest number of a run that a set may name.
MAX_RUN = 100_000
_SET = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")


def parse_runs(text: str) -> tuple[int, ...]:
    """Read a set of runs such as ``1-5,8``.

    Returns:
        The numbers, ascending, each once.

    Raises:
        InputError: If it is not written so, or a number is out of range.
    """
    if not (text.isascii() and _SET.fullmatch(text)):
        raise InputError(f"{text!r} is no set of runs; write numbers and ranges such as 1-5,8")
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(_range(text, first, last or first))
    return tuple(sorted(found))


def _range(text: str, first: str, last: str) -> range:
    longest = len(str(MAX_RUN))
    # Python refuses to convert numbers of thousands of digits, with another exception.
    low, high = (int(end) if len(end) <= longest else MAX_RUN + 1 for end in (first, last))
    if not 1 <= low <= high <= MAX_RUN:
        raise InputError(f"{text!r}: runs are numbered from 1 to {MAX_RUN:,}, and a range goes up")
    return range(low, high + 1)
