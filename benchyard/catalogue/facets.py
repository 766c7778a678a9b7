"""The values of fields among the entries that are asked for, with their numbers."""

import sqlite3
from collections.abc import Sequence

from benchyard.catalogue.query import EntryQuery
from benchyard.catalogue.reading import condition_of
from benchyard.catalogue.texts import text
from benchyard.core.errors import InputError
from benchyard.core.wording import hint

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
_OF_PARAMETER = "parameter:"
_FIELDS = (*_COLUMN_OF, *_SHARED)


def values(
    connection: sqlite3.Connection, fields: Sequence[str], query: EntryQuery
) -> dict[str, dict[str, int]]:
    """Return the values of each field with their number, most frequent first.

    Raises:
        InputError: If there is no such field.
    """
    clause, bound = condition_of(connection, query)
    counted = [_counted(field) for field in fields]
    columns = ", ".join(f"e.{column}" for column in sorted({column for column, _ in counted}))
    # Entries are searched once for all fields; all of them need no search, but have indices.
    kept = "NOT MATERIALIZED" if clause == "1" else "MATERIALIZED"
    found = f"WITH found AS {kept} (SELECT {columns} FROM entries e WHERE {clause})"  # noqa: S608
    selects = " UNION ALL ".join(
        f"SELECT * FROM (SELECT {place} AS place, {select} GROUP BY value)"  # noqa: S608
        for place, (_, select) in enumerate(counted)
    )
    names = [text(one.removeprefix(_OF_PARAMETER)) for one in fields if _OF_PARAMETER in one]
    rows = connection.execute(f"{found} {selects} ORDER BY place, n DESC, value", (*bound, *names))
    answer = [dict[str, int]() for _ in fields]
    for place, value, n in rows:
        if value != "":
            answer[place][value] = n
    return dict(zip(fields, answer, strict=True))


def _counted(field: str) -> tuple[str, str]:
    """Return the column of the entries that tells a field, and what counts its values."""
    is_parameter = field.startswith(_OF_PARAMETER)
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
