"""Questions put to the index."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchyard.catalogue.conditions import CASE, Clause, asks_formats_alone, condition
from benchyard.catalogue.entry import CaseEntry, Entry, StepEntry, StepOfRun
from benchyard.catalogue.query import EntryQuery, Page
from benchyard.catalogue.sorting import EntryOrder, cursor, in_reach, keys_of, order_of
from benchyard.core.json_text import decoded

_COLUMNS = """
e.id, e.format, e.root, e.path, e.created_s, e.updated_s, e.title, e.broken, e.under_way,
e.case_name, e.run, e.outcome, e.started_s, e.duration_s, e.host, e.commit_id, e.counts,
l.document, s.document, e.host_quality, c.id
"""
_SETS = """
LEFT JOIN cases c ON c.results = e.results
JOIN label_sets l ON l.id = e.label_set JOIN parameter_sets s ON s.id = e.parameter_set
"""


def total(connection: sqlite3.Connection, query: EntryQuery) -> int:
    """Return how many entries are asked for."""
    if asks_formats_alone(query):
        tallies = _tallies(connection)
        return sum(n for name, n in tallies.items() if not query.formats or name in query.formats)
    clause, values = condition_of(connection, query)
    [count] = connection.execute(
        f"SELECT count(*) FROM entries e WHERE {clause}",  # noqa: S608
        values,
    ).fetchone()
    return count


def condition_of(connection: sqlite3.Connection, query: EntryQuery) -> Clause:
    """Return the condition that a query puts on entries; ``1`` if it asks for all."""
    return condition(query, _tallies(connection))


def _tallies(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many entries there are of each format."""
    return dict(connection.execute("SELECT format, entries FROM tallies WHERE entries > 0"))


def page(
    connection: sqlite3.Connection, roots: Sequence[Path], query: EntryQuery, count: int
) -> Page:
    """Return a page.

    Args:
        count: How many entries there are in all.

    Raises:
        InputError: If the order or the cursor is none.
    """
    order = order_of(query.sort)
    if query.after is None:
        rows, is_next, is_previous = _rows_at(connection, query, order, count)
    else:
        rows, is_next, is_previous = _rows_beyond(connection, query, order)
    entries = [entry_of(row[len(order.keys) :], roots) for row in rows]
    ends = [row[: len(order.keys)] for row in (rows[-1:] + rows[:1])]
    following = cursor(order, ends[0]) if ends and is_next else None
    before = cursor(order, ends[1], backwards=True) if ends and is_previous else None
    return Page(entries, count, following, before)


#: Rows, whether any follow, and whether any come before.
_Rows = tuple[list[tuple[Any, ...]], bool, bool]


def _rows_at(
    connection: sqlite3.Connection, query: EntryQuery, order: EntryOrder, count: int
) -> _Rows:
    """Return the rows from an offset on, counted from the nearer end."""
    offset = min(max(query.offset, 0), count)
    left = count - offset
    limit = left if query.limit is None else min(max(query.limit, 0), left)
    behind = left - limit
    if not limit:
        rows: list[tuple[Any, ...]] = []
    elif behind < offset:
        rows = _whole(connection, query, order, (), (limit, behind), back=True)[::-1]
    else:
        rows = _whole(connection, query, order, (), (limit, offset))
    return rows, behind > 0, offset > 0


def _rows_beyond(connection: sqlite3.Connection, query: EntryQuery, order: EntryOrder) -> _Rows:
    """Return the rows beyond a cursor."""
    keys, back = keys_of(order, query.after or "")
    limit = -1 if query.limit is None else max(query.limit, 0)
    rows = _whole(connection, query, order, keys, (limit + (limit >= 0), 0), back=back)
    is_more = 0 <= limit < len(rows)
    rows = rows[:limit] if is_more else rows
    first = rows[0][: len(order.keys)] if rows else keys
    others = _selected(connection, "1", query, order, first, (1, 0), back=not back)
    return (rows[::-1], bool(others), is_more) if back else (rows, is_more, bool(others))


def _whole(
    connection: sqlite3.Connection,
    query: EntryQuery,
    order: EntryOrder,
    keys: Sequence[Any],
    limits: tuple[int, int],
    *,
    back: bool = False,
) -> list[tuple[Any, ...]]:
    """Return rows with the keys of the order before the columns of the entry."""
    names = ", ".join(f"{key} AS k{number}" for number, key in enumerate(order.keys))
    chosen = _selected(connection, f"e.n, {names}", query, order, keys, limits, back=back)
    asked = f"SELECT {_COLUMNS} FROM entries e {_SETS} WHERE e.n = ?"  # noqa: S608
    return [(*row, *connection.execute(asked, (number,)).fetchone()) for number, *row in chosen]


def _selected(
    connection: sqlite3.Connection,
    columns: str,
    query: EntryQuery,
    order: EntryOrder,
    keys: Sequence[Any],
    limits: tuple[int, int],
    *,
    back: bool = False,
) -> list[Any]:
    """Select entries in order.

    Args:
        keys: Beyond those of an entry; empty from the beginning on.
        limits: How many, and how many are skipped before.
        back: Whether from the end on, backwards.
    """
    clause, values = condition_of(connection, query)
    if order.join[0] and limits[0] >= 0:
        clause, values = in_reach(connection, order, (clause, values), keys, sum(limits), back=back)
    join, joined = order.join
    beyond = f"AND {order.beyond(backwards=back)}" if keys else ""
    return connection.execute(
        f"SELECT {columns} FROM entries e {join} WHERE ({clause}) {beyond} "  # noqa: S608
        f"{order.by(backwards=back)} LIMIT ? OFFSET ?",
        (*joined, *values, *keys, *limits),
    ).fetchall()


def entry_of(row: tuple[Any, ...], roots: Sequence[Path]) -> Entry:
    """Return the entry that a row with ``_COLUMNS`` tells of."""
    labels = _document(row[17])
    return Entry(
        id=row[0],
        format=row[1],
        root=roots[int(row[2])],
        path=os.fsdecode(row[3]),
        created_s=row[4],
        updated_s=row[5],
        title=row[6],
        broken=row[7],
        under_way=bool(row[8]),
        case=row[9],
        point=labels["point"],
        run=_known(row[10]),
        outcome=row[11] or None,
        started_s=_known(row[12]),
        duration_s=_known(row[13]),
        host=row[14],
        host_quality=row[19],
        commit=row[15],
        versions=labels["versions"],
        tags=tuple(labels["tags"]),
        counts=_document(row[16]),
        parameters=_document(row[18]),
        results=row[20] or "",
    )


def _known(number: Any) -> Any:
    return None if number == -1 else number


def _document(content: bytes) -> Any:
    return decoded(content)


def entry(connection: sqlite3.Connection, roots: Sequence[Path], entry_id: str) -> Entry | None:
    """Return one entry; None if there is none with this id."""
    asked = f"SELECT {_COLUMNS} FROM entries e {_SETS} WHERE e.id = ? OR e.place = ?"  # noqa: S608
    row = connection.execute(asked, (entry_id, entry_id)).fetchone()
    return entry_of(row, roots) if row else None


# -- cases

_CASE_COLUMNS = """
c.id, e.root, e.path, e.title, e.case_name, l.document, c.runs, c.failed, c.newest_s, c.hosts
"""
_ALL_CASES = f"""
SELECT {_CASE_COLUMNS} FROM cases c JOIN entries e ON e.n = c.newest
JOIN label_sets l ON l.id = e.label_set
"""  # noqa: S608
_SOME_CASES = """
WITH c AS (
  SELECT (SELECT k.id FROM cases k WHERE k.results = e.results) AS id, n AS newest,
         max(began) AS newest_s, count(*) AS runs,
         sum(outcome != 'completed' AND NOT under_way) AS failed,
         json_group_array(DISTINCT host) FILTER (WHERE host != '') AS hosts
  FROM entries e WHERE e.results != '' AND ({}) GROUP BY results
)
"""
_NEWEST_FIRST = "ORDER BY c.newest_s DESC, c.id DESC LIMIT ? OFFSET ?"


def cases(
    connection: sqlite3.Connection,
    roots: Sequence[Path],
    query: EntryQuery,
    limits: tuple[int, int],
) -> list[CaseEntry]:
    """Return the cases of the runs that are asked for, the one with the newest run first.

    Args:
        limits: How many, -1 for all, and how many are skipped before.
    """
    clause, values = condition_of(connection, query)
    if clause == "1":
        asked = f"{_ALL_CASES} {_NEWEST_FIRST}"
    else:
        some = f"SELECT {_CASE_COLUMNS} FROM c JOIN entries e ON e.n = c.newest "  # noqa: S608
        labels = "JOIN label_sets l ON l.id = e.label_set "
        asked = _SOME_CASES.format(clause) + some + labels + _NEWEST_FIRST
    rows = connection.execute(asked, (*values, *limits)).fetchall()
    return [_case_of(row, roots) for row in rows]


def count_cases(connection: sqlite3.Connection, query: EntryQuery) -> int:
    """Return how many cases have runs that are asked for."""
    clause, values = condition_of(connection, query)
    asked = "SELECT count(*) FROM cases"
    if clause != "1":
        asked = (
            "SELECT count(DISTINCT e.results) FROM entries e "  # noqa: S608
            f"WHERE e.results != '' AND ({clause})"
        )
    [count] = connection.execute(asked, values).fetchone()
    return count


def case(connection: sqlite3.Connection, roots: Sequence[Path], case_id: str) -> CaseEntry | None:
    """Return one case; None if there is none with this id."""
    asked = f"{_ALL_CASES} WHERE c.results IN ({CASE})"
    row = connection.execute(asked, (case_id, case_id)).fetchone()
    return _case_of(row, roots) if row else None


def changed_since(
    connection: sqlite3.Connection, roots: Sequence[Path], since_s: float, limits: tuple[int, int]
) -> list[CaseEntry]:
    """Return the cases whose newest run began then or later, that with the newest first."""
    asked = f"{_ALL_CASES} WHERE c.newest_s >= ? {_NEWEST_FIRST}"
    rows = connection.execute(asked, (since_s, *limits)).fetchall()
    return [_case_of(row, roots) for row in rows]


def _case_of(row: tuple[Any, ...], roots: Sequence[Path]) -> CaseEntry:
    labels = _document(row[5])
    path = Path(os.fsdecode(row[2]))
    return CaseEntry(
        id=row[0],
        root=roots[int(row[1])],
        path=path.parent.as_posix(),
        title=row[3],
        case=row[4],
        point=labels["point"],
        tags=tuple(labels["tags"]),
        runs=row[6],
        failed=row[7],
        newest_s=row[8],
        hosts=tuple(sorted(_document(row[9].encode()))),
    )


_STEPS = f"""
SELECT e.id, e.run, e.started_s, e.host, e.commit_id, l.document, s.position, s.step, s.name,
       s.measure, s.outcome, s.median_s, s.attempts, s.suspect
FROM entries e JOIN label_sets l ON l.id = e.label_set JOIN steps s ON s.entry = e.n
WHERE e.results IN ({CASE}) ORDER BY e.began, e.id, s.position
"""  # noqa: S608


def steps_of(connection: sqlite3.Connection, case_id: str) -> list[StepOfRun]:
    """Return the steps of all runs of a case, in the order of their beginnings."""
    labels: dict[bytes, Mapping[str, str]] = {}
    found: list[StepOfRun] = []
    for row in connection.execute(_STEPS, (case_id, case_id)):
        if row[5] not in labels:
            labels[row[5]] = _document(row[5])["versions"]
        position, step, name, measure, outcome, median_s, attempts, suspect = row[6:]
        made = StepEntry(
            position, step, name, bool(measure), outcome, median_s, attempts, bool(suspect)
        )
        run = (row[0], _known(row[1]), _known(row[2]), row[3], row[4], labels[row[5]])
        found.append(StepOfRun(*run, made))
    return found
