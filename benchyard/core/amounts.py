"""Amounts as people write them: sizes, percentages, lengths of time, dates."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from benchyard.core.errors import InputError
from benchyard.core.quantity import shorten
from benchyard.core.wording import quote

_SIZE = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,19})?)\s*([kmgtp]?)i?b?", re.IGNORECASE)
_POWERS = {letter: power for power, letter in enumerate(("", "k", "m", "g", "t", "p"))}
#: No host has more: 2^57 bytes is all that five levels of page tables reach.
#: Source: Linux, Documentation/arch/x86/x86_64/5level-paging.rst.
_MOST_BYTES = 2**57
_PERCENT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?%")
_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?([mhdw])")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_SMALL = {"p": -12, "n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "": 0}
_LARGE = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
#: Units that programs print, to their size in base units: s, B, bit, Hz, J, W, 1. A KB is 1,000 B.
_PRINTED = {
    f"{prefix}{unit}": Decimal(10) ** power
    for units, powers in (
        (("s", "sec"), _SMALL),
        (("B", "bit", "Hz", "elem"), _LARGE),
        (("J", "W"), _SMALL | _LARGE),
    )
    for unit in units
    for prefix, power in powers.items()
} | {
    **{
        f"{prefix}i{unit}": Decimal(2) ** (power * 10 // 3)
        for unit in ("B", "bit")
        for prefix, power in _LARGE.items()
        if prefix
    },
    **{prefix: Decimal(10) ** power for prefix, power in _LARGE.items() if prefix},
    **dict.fromkeys(("secs", "second", "seconds", "byte", "bytes"), Decimal(1)),
    "min": Decimal(60),
    "h": Decimal(3600),
    "%": Decimal("0.01"),
}
_ON_PAPER = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) ?(mm|cm|in|pt)")
#: To an inch; points as TeX has them.
_TO_INCH = {"mm": 25.4, "cm": 2.54, "in": 1.0, "pt": 72.27}
#: Python itself takes any character for the T, and any number of digits behind a second.
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]{2,15}(Z|[+-][0-9:]{2,5})?)?")


def parse_size(text: str) -> int:
    """Read a size such as ``512MB``, ``512m`` or ``1.5 GiB`` as bytes.

    Letters count in powers of 1,024, as they do on Docker's command line.

    Raises:
        InputError: If it is not written so.
    """
    found = _match(_SIZE, text)
    if found is None:
        raise InputError(f"'{quote(text)}' is no size; write it like 512MB or 16GiB")
    return round(float(found[1]) * 1024 ** _POWERS[found[2].lower()])


def parse_memory(given: str | float) -> int:
    """Read what a host must have, a number of bytes or a size, as bytes.

    Raises:
        InputError: If it is no size, or no host can have it.
    """
    made = parse_size(given) if isinstance(given, str) else int(given)
    if not 1 <= made <= _MOST_BYTES:
        what = "nothing" if made < 1 else "more than any host has"
        raise InputError(f"{quote(given)} is {what}; write what the case needs, such as 16GiB")
    return made


def parse_percent(text: str) -> float:
    """Read ``1%``, ``0.5 %`` as a relative number, 0.01 and 0.005.

    The sign is asked for: without it one reader takes 0.01 for 1 %, the other for a 10,000th.

    Raises:
        InputError: If it is not written so.
    """
    found = _match(_PERCENT, text)
    if found is None:
        raise InputError(
            f"{shorten(text, 40)!r} is no percentage; write it with its sign, such as 1%"
        )
    return float(found[1]) / 100


def parse_length(text: str) -> timedelta:
    """Read a length of time: ``90m``, ``8h``, ``7d`` or ``2w``.

    Raises:
        InputError: If it is not written so.
    """
    found = _match(_LENGTH, text)
    if found is None:
        raise InputError(f"{shorten(text, 40)!r}: write a length of time such as 90m, 8h, 7d or 2w")
    return float(found[1]) * _UNITS[found[2]]


def unit_size(unit: str) -> Decimal:
    """Return the size of a printed unit such as ``ms`` or ``MiB/s`` in base units.

    What follows a slash is not converted: a second, an operation.

    Raises:
        InputError: If the unit is unknown.
    """
    amount, _, per = unit.partition("/")
    if amount in _PRINTED and per in ("", "s", "sec", "op", "iter", "req"):
        return _PRINTED[amount]
    raise InputError(f"'{quote(unit)}' is no known unit; known: {', '.join(_PRINTED)}")


def parse_inches(text: str) -> float:
    """Read a width or height on paper, ``85mm``, ``8.5cm``, ``3.3in`` or ``241pt``, as inches.

    Raises:
        InputError: If it is not written so, or no picture is so small or large.
    """
    found = _match(_ON_PAPER, text)
    if found is None:
        raise InputError(f"{shorten(text, 40)!r} is no length; write it like 85mm, 8.5cm or 3.3in")
    inches = float(found[1]) / _TO_INCH[found[2]]
    if not 1 <= inches <= 50:
        raise InputError(f"{text}: a picture is 1in to 50in wide and high")
    return inches


def parse_since(text: str, now: datetime) -> datetime:
    """Read ``2026-11-01``, ``2026-11-01T12:00``, ``30d``, ``12h`` or ``2w``.

    Args:
        now: What a length is counted back from.

    Returns:
        A moment in UTC; what is written without an offset is taken as UTC.

    Raises:
        InputError: If it is not written so.
    """
    short = text.strip()
    try:
        # A month is as likely meant by an m as a minute.
        if short[-1:] in ("h", "d", "w"):
            return now.astimezone(UTC) - parse_length(short)
        moment = datetime.fromisoformat(short if _match(_DATE, short) else "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (InputError, ValueError, OverflowError) as error:
        raise InputError(
            f"{shorten(text, 40)!r} is no date; write one such as 2026-11-01, or a length of time "
            "such as 30d, 12h or 2w"
        ) from error


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    # Digits of other scripts, which Python takes for digits, are none here.
    return pattern.fullmatch(text.strip()) if text.isascii() else None
