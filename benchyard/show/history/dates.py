"""How far to look back: a date, or a length of time before now."""

import re
from datetime import UTC, datetime, timedelta

from benchyard.core.errors import InputError
from benchyard.core.wording import shorten

_LENGTH = re.compile(r"([0-9]{1,5}) ?(h|d|w)")
#: Python itself takes any character for the T, and any number of digits behind a second.
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]{2,15}(Z|[+-][0-9:]{2,5})?)?")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_since(text: str, now: datetime) -> datetime:
    """Read ``2026-11-01``, ``2026-11-01T12:00``, ``30d``, ``12h`` or ``2w``.

    Args:
        now: What a length is counted back from.

    Returns:
        A moment in UTC; what is written without an offset is taken as UTC.

    Raises:
        InputError: If it is not written so.
    """
    short = text.strip() if text.isascii() else ""
    length = _LENGTH.fullmatch(short)
    try:
        if length:
            return now.astimezone(UTC) - int(length[1]) * _UNITS[length[2]]
        moment = datetime.fromisoformat(short if _DATE.fullmatch(short) else "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{shorten(text, 40)!r} is no date; write one such as 2026-11-01, or a length of time such as "
            "30d, 12h or 2w"
        ) from error


def iso(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC, ending in Z; a fraction of a second only if it has one."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
