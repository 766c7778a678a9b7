"""What the log of a run tells where there is no record."""

import re
from datetime import datetime
from io import TextIOWrapper
from itertools import islice
from pathlib import Path

from benchyard.core.files import opened
from benchyard.core.quantity import shorten
from benchyard.traces.building import TraceBuilder

#: More lines than this are no log of a case; they would only fill the picture.
_MOST_LINES = 10_000
#: Longest name of an instant; its details have the whole line.
_LONGEST_NAME = 80
_LONGEST_LINE = 10_000
_LINE = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2},\d{3}) ([A-Z]+) (.*)")
_SECONDS = 1e9


def tell_log(log: Path, began: datetime | None, builder: TraceBuilder, track: int) -> int:
    """Add the lines of a log as instants; return when the last one was written.

    Args:
        log: Its lines have the local time of the testbed.
        began: The run's start, with the testbed's offset; the first line's time if not known.
        builder: It is added to.
        track: Where the instants go.

    Returns:
        Nanoseconds since the run's start; 0 if there is no line.
    """
    local = began.replace(tzinfo=None) if began else None
    last = 0
    try:
        with TextIOWrapper(opened(log), encoding="utf-8", errors="replace") as stream:
            for line in islice(stream, _MOST_LINES):
                found = _LINE.match(line[:_LONGEST_LINE].rstrip())
                at = _moment(found[1]) if found else None
                if found is None or at is None:
                    continue
                local = local or at
                last = round((at - local).total_seconds() * _SECONDS)
                details = {"level": found[2], "text": found[3]}
                builder.instant(track, shorten(found[3], _LONGEST_NAME), last, details)
            if next(stream, None) is not None:
                builder.lose("lines of the log that are too many", f"line {_MOST_LINES + 1:,}")
    except OSError as error:
        builder.lose(f"there is no log: {error.strerror or error}", log.name)
    return max(last, 0)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007 - local, as logged
    except ValueError:
        return None
