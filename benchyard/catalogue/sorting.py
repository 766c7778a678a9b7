"""The order of an answer, and cursors: where in it a page ends, whatever is added elsewhere."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchyard.catalogue.query import SORTS
from benchyard.catalogue.writing import text
from benchyard.core.errors import InputError
from benchyard.core.wording import hint

_COLUMNS = {
    "started": "e.began",
    "updated": "e.updated_s",
    "created": "e.created_s",
    "title": "e.title",
    "run": "e.run",
    "outcome": "e.outcome",
    "duration": "e.duration_s",
    "host": "e.host",
    "path": "e.path",
}
_PARAMETER = "parameter:"
#: Numbers before texts, and entries without the parameter before both.
_OF_PARAMETER = ("CASE WHEN p.name IS NULL THEN -9e999 ELSE ifnull(p.number, 9e999) END",)


@dataclass(frozen=True, slots=True)
class Order:
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


def order_of(sort: str) -> Order:
    """Return the order that a query asks for.

    Raises:
        InputError: If there is none of this name.
    """
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name.startswith(_PARAMETER):
        join = "LEFT JOIN parameters p ON p.parameter_set = e.parameter_set AND p.name = ?"
        keys = (*_OF_PARAMETER, "ifnull(p.text, '')", "e.id")
        bound = text(name.removeprefix(_PARAMETER))
        return Order(name, descending, keys, (join, (bound,)))
    if name not in _COLUMNS:
        raise InputError(f"entries cannot be sorted by {name!r}{hint(name, SORTS)}")
    return Order(name, descending, (_COLUMNS[name], "e.id"))


class _Cursor(msgspec.Struct, array_like=True):
    sort: str
    backwards: bool
    keys: list[Any]


def cursor(order: Order, keys: Sequence[Any], *, backwards: bool = False) -> str:
    """Return the cursor of what lies beyond an entry with these keys."""
    document = msgspec.msgpack.encode(_Cursor(_named(order), backwards, list(keys)))
    return base64.urlsafe_b64encode(document).rstrip(b"=").decode()


def keys_of(order: Order, given: str) -> tuple[tuple[Any, ...], bool]:
    """Return the keys that a cursor holds, and whether what lies before them is asked for.

    Raises:
        InputError: If it is no cursor, or one of another order.
    """
    try:
        packed = base64.b64decode(given + "=" * (-len(given) % 4), b"-_", validate=True)
        found = msgspec.msgpack.decode(packed, type=_Cursor)
    except (ValueError, binascii.Error, msgspec.MsgspecError) as error:
        raise InputError("the cursor of the page is damaged: begin at the first page") from error
    fits = all(isinstance(key, str | bytes | int | float) for key in found.keys)
    if found.sort != _named(order) or len(found.keys) != len(order.keys) or not fits:
        raise InputError("the cursor is of a list in another order: begin at the first page")
    return tuple(found.keys), found.backwards


def _named(order: Order) -> str:
    return "-" * order.descending + order.name
