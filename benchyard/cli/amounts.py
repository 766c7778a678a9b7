"""Numbers of runs and percentages as the command line takes them."""

import re

from benchyard.core.errors import InputError
from benchyard.core.wording import shorten
from benchyard.run.adaptive import MAX_RUNS, Adaptive

_RUNS = re.compile(r"([0-9]+)(?:\.\.([0-9]+))?")
_PERCENT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?%")


def parse_runs(text: str, until: str | None = None) -> tuple[int, Adaptive | None]:
    """Read ``--runs 5`` or ``--runs 5..30``, the latter with ``--until 1%``.

    Returns:
        The largest number of runs, and the rule; None for a fixed number.

    Raises:
        InputError: If they are not written so, do not go together or cannot decide anything.
    """
    match = _RUNS.fullmatch(text.strip()) if text.isascii() else None
    short = shorten(text, 40)
    if match is None:
        raise InputError(f"--runs {short!r}: write a number such as 5, or a range such as 5..30")
    first, last = _number(match[1]), _number(match[2] or match[1])
    if not 1 <= first <= last <= MAX_RUNS:
        raise InputError(
            f"--runs {short!r}: there can be 1 to {MAX_RUNS:,} runs, and a range goes up"
        )
    if match[2] is None:
        if until is not None:
            raise InputError(f"--until {until!r} needs a range of runs such as --runs 5..30")
        return last, None
    if until is None:
        raise InputError(f"--runs {short!r} needs the precision to stop at, such as --until 1%")
    return last, Adaptive(first, last, _parse_until(until))


def _number(digits: str) -> int:
    # Python refuses to convert numbers of thousands of digits, with another exception.
    return int(digits) if len(digits) <= 9 else MAX_RUNS + 1


def _parse_until(text: str) -> float:
    until = parse_percent(text)
    if not 0 < until < 1:
        raise InputError(f"--until {text!r}: the precision lies between 0% and 100%")
    return until


def parse_percent(text: str) -> float:
    """Read ``1%``, ``0.5 %`` as a relative number, 0.01 and 0.005.

    The sign is asked for: without it one reader takes 0.01 for 1 %, the other for a 10,000th.

    Raises:
        InputError: If it is not written so.
    """
    match = _PERCENT.fullmatch(text.strip()) if text.isascii() else None
    if match is None:
        raise InputError(f"{text!r} is no percentage; write it with its sign, such as 1%")
    return float(match[1]) / 100
