"""Questions put to the index."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchyard.catalogue.entry import CaseEntry, Entry, StepEntry, StepOfRun
from benchyard.catalogue.index import text
from benchyard.catalogue.query import (
    CASE,
    Clause,
    EntryOrder,
    EntryQuery,
    Page,
    asks_formats_alone,
    condition,
    cursor,
    in_reach,
    keys_of,
    order_of,
)
from benchyard.core.errors import InputError
from benchyard.core.json_text import decoded
from benchyard.core.wording import hint

#: Rows, whether any follow, and whether any come before.
_Rows = tuple[list[tuple[Any, ...]], bool, bool]
_NAMED = (
    *("id", "format", "created_s", "updated_s", "title", "broken", "case", "run", "outcome"),
    *("started_s", "duration_s", "host", "host_quality", "commit"),
)
_ENTRIES = """
SELECT e.id, e.format, e.created_s, e.updated_s, e.title, e.broken, e.case_name,
  nullif(e.run, -1), nullif(e.outcome, ''), nullif(e.started_s, -1), nullif(e.duration_s, -1),
  e.host, e.host_quality, e.commit_id,
  e.root, e.path, e.under_way, coalesce(c.id, ''), l.document, s.document, e.counts
FROM entries e LEFT JOIN cases c ON c.results = e.results
JOIN label_sets l ON l.id = e.label_set JOIN parameter_sets s ON s.id = e.parameter_set
"""
_CASE_COLUMNS = """
c.id, e.root, e.path, e.title, e.case_name, l.document, c.runs, c.failed, c.newest_s, c.hosts
"""
_CASES = """
JOIN entries e ON e.n = c.newest JOIN label_sets l ON l.id = e.label_set
"""
_SOME_CASES = """
WITH c AS (
  SELECT (SELECT k.id FROM cases k WHERE k.results = e.results) AS id, n AS newest,
         max(began) AS newest_s, count(*) AS runs,
         sum(outcome != 'completed' AND NOT under_way) AS failed,
         json_group_array(DISTINCT host) FILTER (WHERE host != '') AS hosts
  FROM entries e WHERE e.results != '' AND ({}) GROUP BY results
)
"""
_STEPS = f"""
SELECT e.id, nullif(e.run, -1), nullif(e.started_s, -1), e.host, e.commit_id, l.document,
  s.position, s.step, s.name, s.measure, s.outcome, s.median_s, s.attempts, s.suspect
FROM entries e JOIN label_sets l ON l.id = e.label_set JOIN steps s ON s.entry = e.n
WHERE e.results IN ({CASE}) ORDER BY e.began, e.id, s.position
"""  # noqa: S608
_COLUMN_OF = {
    "host": "host",
    "case": "case_name",
    "host_quality": "host_quality",
    "outcome": "outcome",
    "commit": "commit_id",
    "format": "format",
}
#: What many entries share: the value, its table, and the set that it is of.
_SHARED = {
    "tag": ("t.tag", "tags", "label_set"),
    "version": ("t.resource || '=' || t.version", "versions", "label_set"),
    "parameter": ("t.name", "parameters", "parameter_set"),
}
_NAMED_PARAMETER = "parameter:"
_FIELDS = (*_COLUMN_OF, *_SHARED)


@dataclass(frozen=True, slots=True)
class IndexState:
    """One state of the index.

    Args:
        roots: The folders that are searched.
    """

    connection: sqlite3.Connection
    roots: Sequence[Path]

    def _tallies(self) -> dict[str, int]:
        """Return how many entries there are of each format."""
        return dict(
            self.connection.execute("SELECT format, entries FROM tallies WHERE entries > 0")
        )

    def _condition(self, query: EntryQuery) -> Clause:
        return condition(query, self._tallies())

    def total(self, query: EntryQuery) -> int:
        """Return how many entries are asked for."""
        if asks_formats_alone(query):
            formats = query.formats or self._tallies().keys()
            return sum(count for name, count in self._tallies().items() if name in formats)
        clause, values = self._condition(query)
        asked = f"SELECT count(*) FROM entries e WHERE {clause}"  # noqa: S608
        return self.connection.execute(asked, values).fetchone()[0]

    def page(self, query: EntryQuery, count: int) -> Page:
        """Return a page.

        Args:
            count: How many entries there are in all.

        Raises:
            InputError: If the order or the cursor is none.
        """
        order = order_of(query.sort)
        read = self._rows_at(query, order, count) if query.after is None else None
        rows, is_next, is_previous = read or self._rows_beyond(query, order)
        width = len(order.keys)
        following = cursor(order, rows[-1][:width]) if rows and is_next else None
        before = cursor(order, rows[0][:width], backwards=True) if rows and is_previous else None
        return Page([self._entry(row[width:]) for row in rows], count, following, before)

    def _rows_at(self, query: EntryQuery, order: EntryOrder, count: int) -> _Rows:
        """Return the rows from an offset on, counted from the nearer end."""
        offset = min(max(query.offset, 0), count)
        left = count - offset
        limit = left if query.limit is None else min(max(query.limit, 0), left)
        behind = left - limit
        if not limit:
            rows: list[tuple[Any, ...]] = []
        elif behind < offset:
            rows = self._whole(query, order, (), (limit, behind), back=True)[::-1]
        else:
            rows = self._whole(query, order, (), (limit, offset))
        return rows, behind > 0, offset > 0

    def _rows_beyond(self, query: EntryQuery, order: EntryOrder) -> _Rows:
        """Return the rows beyond a cursor."""
        keys, back = keys_of(order, query.after or "")
        limit = -1 if query.limit is None else max(query.limit, 0)
        rows = self._whole(query, order, keys, (limit + (limit >= 0), 0), back=back)
        is_more = 0 <= limit < len(rows)
        rows = rows[:limit] if is_more else rows
        first = rows[0][: len(order.keys)] if rows else keys
        others = self._selected("1", query, order, first, (1, 0), back=not back)
        return (rows[::-1], bool(others), is_more) if back else (rows, is_more, bool(others))

    def _whole(
        self,
        query: EntryQuery,
        order: EntryOrder,
        keys: Sequence[Any],
        limits: tuple[int, int],
        *,
        back: bool = False,
    ) -> list[tuple[Any, ...]]:
        """Return rows with the keys of the order before the columns of the entry."""
        names = ", ".join(f"{key} AS k{number}" for number, key in enumerate(order.keys))
        chosen = self._selected(f"e.n, {names}", query, order, keys, limits, back=back)
        asked = f"{_ENTRIES} WHERE e.n = ?"
        return [
            (*row, *self.connection.execute(asked, (number,)).fetchone()) for number, *row in chosen
        ]

    def _selected(
        self,
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
        asked = self._condition(query)
        if order.parameter and limits[0] >= 0:
            asked = in_reach(self.connection, order, asked, keys, sum(limits), back=back)
        clause, values = asked
        beyond = f"AND {order.beyond(backwards=back)}" if keys else ""
        return self.connection.execute(
            f"SELECT {columns} FROM entries e {order.join} WHERE ({clause}) {beyond} "  # noqa: S608
            f"{order.by(backwards=back)} LIMIT ? OFFSET ?",
            (*order.parameter, *values, *keys, *limits),
        ).fetchall()

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        root, path, under_way, results, *documents = row[len(_NAMED) :]
        labels, parameters, counts = map(decoded, documents)
        return Entry(
            **dict(zip(_NAMED, row, strict=False)),
            root=self.roots[int(root)],
            path=os.fsdecode(path),
            under_way=bool(under_way),
            point=labels["point"],
            versions=labels["versions"],
            tags=tuple(labels["tags"]),
            counts=counts,
            parameters=parameters,
            results=results,
        )

    def entry(self, entry_id: str) -> Entry | None:
        """Return one entry; None if there is none with this id."""
        asked = f"{_ENTRIES} WHERE e.id = ? OR e.place = ?"
        row = self.connection.execute(asked, (entry_id, entry_id)).fetchone()
        return self._entry(row) if row else None

    # -- cases

    def cases(self, query: EntryQuery, limits: tuple[int, int]) -> list[CaseEntry]:
        """Return the cases of the runs that are asked for, the one with the newest run first.

        Args:
            limits: How many, -1 for all, and how many are skipped before.
        """
        clause, values = self._condition(query)
        some = ("", "cases c") if clause == "1" else (_SOME_CASES.format(clause), "c")
        return self._cases(*some, "1", (*values, *limits))

    def changed_since(self, since_s: float, limits: tuple[int, int]) -> list[CaseEntry]:
        """Return the cases whose newest run began then or later, that with the newest first."""
        return self._cases("", "cases c", "c.newest_s >= ?", (since_s, *limits))

    def case(self, case_id: str) -> CaseEntry | None:
        """Return one case; None if there is none with this id."""
        bound = (case_id, case_id, 1, 0)
        return next(iter(self._cases("", "cases c", f"c.results IN ({CASE})", bound)), None)

    def _cases(self, before: str, table: str, clause: str, bound: Sequence[Any]) -> list[CaseEntry]:
        asked = (
            f"{before} SELECT {_CASE_COLUMNS} FROM {table} {_CASES} WHERE {clause} "  # noqa: S608
            "ORDER BY c.newest_s DESC, c.id DESC LIMIT ? OFFSET ?"
        )
        return [self._case(row) for row in self.connection.execute(asked, bound)]

    def _case(self, row: tuple[Any, ...]) -> CaseEntry:
        case_id, root, path, title, name, document, runs, failed, newest_s, hosts = row
        labels = decoded(document)
        return CaseEntry(
            *(case_id, self.roots[int(root)], Path(os.fsdecode(path)).parent.as_posix()),
            *(title, name, labels["point"], tuple(labels["tags"]), runs, failed, newest_s),
            hosts=tuple(sorted(decoded(hosts.encode()))),
        )

    def count_cases(self, query: EntryQuery) -> int:
        """Return how many cases have runs that are asked for."""
        clause, values = self._condition(query)
        asked = "SELECT count(*) FROM cases"
        if clause != "1":
            asked = (
                "SELECT count(DISTINCT e.results) FROM entries e "  # noqa: S608
                f"WHERE e.results != '' AND ({clause})"
            )
        return self.connection.execute(asked, values).fetchone()[0]

    def steps_of(self, case_id: str) -> list[StepOfRun]:
        """Return the steps of all runs of a case, in the order of their beginnings."""
        versions: dict[bytes, Any] = {}
        found: list[StepOfRun] = []
        for row in self.connection.execute(_STEPS, (case_id, case_id)):
            entry, run, started_s, host, commit, labels, *step, outcome, median_s, tries, odd = row
            if labels not in versions:
                versions[labels] = decoded(labels)["versions"]
            number, step_id, name, measure = step
            made = StepEntry(
                *(number, step_id, name, bool(measure), outcome, median_s, tries, bool(odd))
            )
            found.append(StepOfRun(entry, run, started_s, host, commit, versions[labels], made))
        return found

    # -- values of fields

    def values(self, fields: Sequence[str], query: EntryQuery) -> dict[str, dict[str, int]]:
        """Return the values of each field with their number, most frequent first.

        Raises:
            InputError: If there is no such field.
        """
        clause, bound = self._condition(query)
        counted = [_counted(field) for field in fields]
        columns = ", ".join(f"e.{column}" for column in sorted({column for column, _ in counted}))
        # Entries are searched once for all fields; all of them need no search, but have indices.
        kept = "NOT MATERIALIZED" if clause == "1" else "MATERIALIZED"
        found = f"WITH found AS {kept} (SELECT {columns} FROM entries e WHERE {clause})"  # noqa: S608
        selects = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {place} AS place, {select} GROUP BY value)"  # noqa: S608
            for place, (_, select) in enumerate(counted)
        )
        names = [text(one.removeprefix(_NAMED_PARAMETER)) for one in fields if ":" in one]
        asked = f"{found} {selects} ORDER BY place, n DESC, value"
        answer = [dict[str, int]() for _ in fields]
        for place, value, n in self.connection.execute(asked, (*bound, *names)):
            if value != "":
                answer[place][value] = n
        return dict(zip(fields, answer, strict=True))


def _counted(field: str) -> tuple[str, str]:
    """Return the column of the entries that tells a field, and what counts its values."""
    is_parameter = field.startswith(_NAMED_PARAMETER)
    name = "parameter" if is_parameter else field
    if name in _COLUMN_OF:
        column = _COLUMN_OF[name]
        return column, f"{column} AS value, count(*) AS n FROM found"
    if name not in _SHARED:
        raise InputError(f"there is no field {field!r} to list values of{hint(field, _FIELDS)}")
    value, table, one = _SHARED[name]
    sets = f"(SELECT {one} AS id, count(*) AS entries FROM found GROUP BY {one})"  # noqa: S608
    select = f"sum(entries) AS n FROM {table} t JOIN {sets} s ON s.id = t.{one}"
    if is_parameter:
        return one, f"t.text AS value, {select} WHERE t.name = ?"
    return one, f"{value} AS value, {select}"
