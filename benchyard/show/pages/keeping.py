"""A board as what a table artifact holds, and back.

The table's rows are for people. What they do not tell, how often each step was executed and how
much failed each day, is kept in the artifact's metadata: texts, of which none may be longer than
500 characters. What cannot be read back is left out: somebody else may have written it.
"""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any, cast

from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.show.pages.retries import HEAD, Board, Counts, Row

#: Longest cell that is taken over from what is kept.
_LONGEST = 2000


def table_of(board: Board) -> list[Json]:
    """Return the rows of the table artifact."""
    return [dict[str, Json](row) for row in board.rows]


def metadata_of(board: Board) -> dict[str, str]:
    """Return the metadata of the table artifact."""
    steps = {encoded(["step", *key]): _text(counts) for key, counts in board.steps.items()}
    days = {encoded(["day", *key]): _text(counts) for key, counts in board.days.items()}
    return steps | days


def _text(counts: Counts) -> str:
    numbers = (counts.executions, counts.troubled, counts.attempts, counts.failed)
    return " ".join(map(str, numbers))


def board_from(rows: object, metadata: Mapping[str, str] | None, since: date) -> Board:
    """Return the board that an artifact holds.

    Args:
        rows: Its data: a list of rows, or the same as JSON.
        since: What is of days before it is left out.
    """
    steps: dict[tuple[str, str, str], Counts] = {}
    days: dict[tuple[str, str], Counts] = {}
    for name, value in (metadata or {}).items():
        try:
            kind, *key = map(str, json.loads(name))
            counts = Counts(*(max(0, int(number)) for number in value.split()))
        except (ValueError, TypeError):
            continue
        if kind == "step" and len(key) == 3:
            steps[key[0], key[1], key[2]] = counts
        elif kind == "day" and len(key) == 2 and key[1] >= since.isoformat():
            days[key[0], key[1]] = counts
    kept = tuple(row for row in _rows(rows) if row["Started (UTC)"] >= since.isoformat())
    return Board(kept, steps, days)


def _rows(data: object) -> list[Row]:
    try:
        found = json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return []
    listed = cast("list[Any]", found) if isinstance(found, list) else []
    return [
        {name: str(row.get(name, ""))[:_LONGEST] for name in HEAD}
        for row in (cast("dict[str, Any]", one) for one in listed if isinstance(one, dict))
    ]
