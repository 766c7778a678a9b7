"""The order of an answer, and cursors: where in it a page ends, whatever is added elsewhere."""

import base64
import binascii
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchyard.catalogue.conditions import Clause
from benchyard.catalogue.query import SORT_NAMES, SORTS
from benchyard.catalogue.texts import text
from benchyard.core.errors import InputError
from benchyard.core.wording import hint

_COLUMNS = {name: f"e.{name}" for name in SORTS} | {"started_s": "e.began"}
_PARAMETER = "parameter:"
#: Numbers before texts, and entries without the parameter before both.
_OF_PARAMETER = ("CASE WHEN p.name IS NULL THEN -9e999 ELSE ifnull(p.number, 9e999) END",)


@dataclass(frozen=True, slots=True)
class EntryOrder:
    """An order of entries; ties are broken by id.

    Args:
        name: As a query says it, without ``-``.
        descending: Whether the greatest comes first.
        keys: Expressions of SQL, the id last.
        join: What must be joined for them, and the value bound to it.
    """

    name: str
    descending: bool
    keys: tuple[str, ...]
    join: tuple[str, tuple[str, ...]] = ("", ())

    def by(self, *, backwards: bool = False) -> str:
        """Return the clause ORDER BY."""
        way = "DESC" if self.descending != backwards else "ASC"
        return "ORDER BY " + ", ".join(f"{key} {way}" for key in self.keys)

    def beyond(self, *, backwards: bool = False) -> str:
        """Return the condition on what comes after given keys."""
        sign = "<" if self.descending != backwards else ">"
        return f"({', '.join(self.keys)}) {sign} ({', '.join('?' * len(self.keys))})"


def order_of(sort: str) -> EntryOrder:
    """Return the order that a query asks for.

    Raises:
        InputError: If there is none of this name.
    """
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name.startswith(_PARAMETER):
        join = "LEFT JOIN parameters p ON p.parameter_set = e.parameter_set AND p.name = ?"
        keys = (*_OF_PARAMETER, "ifnull(p.text, '')", "e.id")
        bound = text(name.removeprefix(_PARAMETER))
        return EntryOrder(name, descending, keys, (join, (bound,)))
    name = SORT_NAMES.get(name, name)
    if name not in _COLUMNS:
        raise InputError(f"entries cannot be sorted by {name!r}{hint(name, SORTS)}")
    return EntryOrder(name, descending, (_COLUMNS[name], "e.id"))


_SETS = f"""
SELECT s.id, {_OF_PARAMETER[0]}, ifnull(p.text, '')
FROM parameter_sets s LEFT JOIN parameters p ON p.parameter_set = s.id AND p.name = ?
"""  # noqa: S608


def in_reach(
    connection: sqlite3.Connection,
    order: EntryOrder,
    asked: Clause,
    keys: Sequence[Any],
    most: int,
    *,
    back: bool,
) -> Clause:
    """Return a condition that leaves the entries from which the first ones in an order come.

    Whole sets of parameters are left out, of which there are far fewer than entries.

    Args:
        order: By a parameter.
        keys: Where the cursor is; empty at the beginning.
        most: How many entries are wanted.
    """
    clause, values = asked
    counted = "SELECT e.parameter_set, count(*) FROM entries e WHERE {} GROUP BY e.parameter_set"
    counts = dict(connection.execute(counted.format(clause), values).fetchall())
    falling = order.descending != back
    sets = [
        (row[1:], row[0]) for row in connection.execute(_SETS, order.join[1]) if row[0] in counts
    ]
    sets.sort(reverse=falling)
    start, chosen, last = tuple(keys[:2]), list[int](), None
    for at, number in sets:
        if start and (at > start if falling else at < start):
            continue  # before the cursor
        if most <= 0 and at != last:
            break
        chosen.append(number)
        # Some of those at the cursor may lie before it.
        most, last = most - counts[number] * (at != start), at
    reach = "e.parameter_set IN (SELECT value FROM json_each(?))"
    return f"({clause}) AND {reach}", (*values, json.dumps(chosen))


#: Of the integers that SQLite has.
_LARGEST = 2**63 - 1


class _Cursor(msgspec.Struct, array_like=True):
    sort: str
    backwards: bool
    keys: list[Any]


def cursor(order: EntryOrder, keys: Sequence[Any], *, backwards: bool = False) -> str:
    """Return the cursor of what lies beyond an entry with these keys."""
    document = msgspec.msgpack.encode(_Cursor(_named(order), backwards, list(keys)))
    return base64.urlsafe_b64encode(document).rstrip(b"=").decode()


def keys_of(order: EntryOrder, given: str) -> tuple[tuple[Any, ...], bool]:
    """Return the keys that a cursor holds, and whether what lies before them is asked for.

    Raises:
        InputError: If it is no cursor, or one of another order.
    """
    try:
        packed = base64.b64decode(given + "=" * (-len(given) % 4), b"-_", validate=True)
        found = msgspec.msgpack.decode(packed, type=_Cursor)
    except (ValueError, binascii.Error, msgspec.MsgspecError) as error:
        raise InputError("the cursor of the page is damaged: begin at the first page") from error
    # By a parameter, keys are compared here, and not by SQLite, which compares anything.
    kinds = (int | float, str, str) if order.join[0] else (int | float | str | bytes, str)
    fits = len(found.keys) == len(kinds) and all(map(isinstance, found.keys, kinds))
    fits = fits and not (isinstance(found.keys[0], int) and found.keys[0] > _LARGEST)
    if found.sort != _named(order) or not fits:
        raise InputError("the cursor is of a list in another order: begin at the first page")
    return tuple(found.keys), found.backwards


def _named(order: EntryOrder) -> str:
    return "-" * order.descending + order.name
