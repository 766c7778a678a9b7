"""What is asked of the catalogue: conditions, orders and cursors, and a page of the answer.

In SQL a condition is one on ``entries e``; values are bound, never written into it.
"""

import base64
import binascii
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import msgspec

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.index import SORTED, number_of, text, text_of
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.wording import hint


class Operator(StrEnum):
    """How a parameter is compared."""

    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "~"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a parameter, such as ``threads >= 4``."""

    parameter: str
    operator: Operator
    value: Json


#: What entries may be sorted by, beside ``parameter:NAME``; a ``-`` before it means descending.
#: ``started_s`` is when it began, or else changed. What is not known comes first, ascending.
SORTS = tuple(SORTED)
#: Shorter names of them, which addresses may have.
SORT_NAMES = {name.removesuffix("_s"): name for name in SORTS if name.endswith("_s")}


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """Which entries, in what order, from where.

    Conditions hold together; values of one field are alternatives; an empty field asks nothing.

    Args:
        text: Words to be found in case, point, tags, host, commit, versions, outcome, path; a word
            matches its beginnings.
        results: Ids of cases (``CaseEntry.id``).
        commits: Whole, or their beginnings.
        versions: ``RESOURCE=VERSION``, or a version alone.
        broken: None asks for both.
        since_s: Began, or else changed, at or after it; seconds since the epoch.
        until_s: The same before it.
        sort: One of ``SORTS`` or ``parameter:NAME``, with ``-`` before it for descending.
        offset: Entries to skip.
        limit: At most so many; None is all.
        after: Cursor of another page (``Page.next`` or ``Page.previous``); replaces the offset,
            and costs the same at any depth.
    """

    text: str = ""
    formats: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    host_qualities: tuple[str, ...] = ()
    parameters: tuple[Condition, ...] = ()
    broken: bool | None = None
    under_way: bool | None = None
    since_s: float | None = None
    until_s: float | None = None
    sort: str = "-started_s"
    offset: int = 0
    limit: int | None = 10
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of an answer.

    Args:
        total: How many entries the whole answer has.
        next: Cursor of what follows; None at the end.
        previous: Cursor of what comes before; None at the beginning.
    """

    entries: Sequence[Entry]
    total: int
    next: str | None = None
    previous: str | None = None


# -- conditions

#: A condition and the values that are bound to it.
Clause = tuple[str, tuple[Any, ...]]
#: The results folder of a case, by its id or by that of its place, which older links have.
CASE = "SELECT results FROM cases WHERE id = ? OR results = ?"
#: Of formats that have a greater share of all entries, SQLite is not to take the index.
_COMMON = 0.1
_COLUMN_OF = {
    "cases": "e.case_name",
    "hosts": "e.host",
    "outcomes": "e.outcome",
    "host_qualities": "e.host_quality",
}
_LABELS = "e.label_set IN (SELECT label_set FROM {} WHERE {})"
_PARAMETERS = "e.parameter_set IN (SELECT parameter_set FROM parameters WHERE name = ? AND {})"
#: What one value of a field asks for, and how often it is bound.
_EACH = {
    "results": (f"e.results IN ({CASE})", 2),
    "tags": (_LABELS.format("tags", "tag = ?"), 1),
    "commits": ("e.commit_id != '' AND substr(e.commit_id, 1, length(?)) = ?", 2),
    "versions": (_LABELS.format("versions", "? IN (version, resource || '=' || version)"), 1),
}


def condition(query: EntryQuery, tallies: Mapping[str, int]) -> Clause:
    """Return the condition that a query puts on entries; ``1`` if it asks for all.

    Args:
        tallies: How many entries there are of each format.
    """
    if tallies.keys() <= set(query.formats):
        query = replace(query, formats=())
    asked = sum(tallies.get(name, 0) for name in set(query.formats))
    # The sign hides the column from the planner, which would read all of a format, and sort.
    format_column = "+e.format" if asked > _COMMON * sum(tallies.values()) else "e.format"
    clauses = [*_clauses(query, format_column)]
    joined = " AND ".join(f"({clause})" for clause, _ in clauses)
    return joined or "1", tuple(value for _, values in clauses for value in values)


def asks_formats_alone(query: EntryQuery) -> bool:
    """Tell whether nothing is asked but the format."""
    return not any(_clauses(replace(query, formats=())))


def _clauses(query: EntryQuery, format_column: str = "e.format") -> Iterator[Clause]:
    yield from _words(query.text)
    for name, column in {"formats": format_column, **_COLUMN_OF}.items():
        if values := getattr(query, name):
            yield f"{column} IN ({', '.join('?' * len(values))})", tuple(map(text, values))
    for name, (clause, times) in _EACH.items():
        if values := getattr(query, name):
            bound = tuple(text(value) for value in values for _ in range(times))
            yield " OR ".join([clause] * len(values)), bound
    yield from map(_parameter, query.parameters)
    yield from _states(query)


def _states(query: EntryQuery) -> Iterator[Clause]:
    for clause, wanted in (("e.broken != ''", query.broken), ("e.under_way", query.under_way)):
        if wanted is not None:
            yield (clause if wanted else f"NOT ({clause})"), ()
    for sign, moment in ((">=", query.since_s), ("<", query.until_s)):
        if moment is not None:
            yield f"e.began {sign} ?", (moment,)


def _words(asked: str) -> Iterator[Clause]:
    """Yield the search for words: each is quoted, so nothing in it is an operator."""
    words = [word for word in text(asked).replace("\0", " ").split() if any(map(str.isalnum, word))]
    if words:
        quoted = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        yield "e.n IN (SELECT rowid FROM search WHERE search MATCH ?)", (quoted,)


def _parameter(asked: Condition) -> Clause:
    """Return the condition on a parameter: on its number where the value is one, else its text."""
    number, sign = number_of(asked.value), asked.operator.value
    if asked.operator is Operator.CONTAINS:
        clause, value = "instr(lower(text), lower(?))", text_of(asked.value)
    elif number is not None:
        clause, value = f"number {sign} ?", number
    else:
        clause, value = f"text {sign} ?", text_of(asked.value)
    return _PARAMETERS.format(clause), (text(asked.parameter), value)


# -- orders

_SORTED_BY = {name: f"e.{column}" for name, column in SORTED.items()}
_PARAMETER = "parameter:"
#: Numbers before texts, and entries without the parameter before both.
_OF_PARAMETER = (
    "CASE WHEN p.name IS NULL THEN -9e999 ELSE ifnull(p.number, 9e999) END",
    "ifnull(p.text, '')",
)


@dataclass(frozen=True, slots=True)
class EntryOrder:
    """An order of entries; ties are broken by id.

    Args:
        name: As a query says it, without ``-``.
        descending: Whether the greatest comes first.
        keys: Expressions of SQL, the id last.
        parameter: Its name, if entries are sorted by one; then ``p`` must be joined.
    """

    name: str
    descending: bool
    keys: tuple[str, ...]
    parameter: tuple[str, ...] = ()

    @property
    def join(self) -> str:
        """What must be joined for the keys; the name of the parameter is bound to it."""
        joined = "LEFT JOIN parameters p ON p.parameter_set = e.parameter_set AND p.name = ?"
        return joined if self.parameter else ""

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
        parameter = text(name.removeprefix(_PARAMETER))
        return EntryOrder(name, descending, (*_OF_PARAMETER, "e.id"), (parameter,))
    name = SORT_NAMES.get(name, name)
    if name not in _SORTED_BY:
        raise InputError(f"entries cannot be sorted by {name!r}{hint(name, SORTS)}")
    return EntryOrder(name, descending, (_SORTED_BY[name], "e.id"))


_SETS = f"""
SELECT {", ".join(_OF_PARAMETER)}, s.id
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
    start, chosen, last = tuple(keys[:2]), list[int](), None
    for *found, number in sorted(connection.execute(_SETS, order.parameter), reverse=falling):
        at = tuple(found)
        if number not in counts or (start and (at > start if falling else at < start)):
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
    kinds = (int | float, str, str) if order.parameter else (int | float | str | bytes, str)
    fits = len(found.keys) == len(kinds) and all(map(isinstance, found.keys, kinds))
    fits = fits and not (isinstance(found.keys[0], int) and found.keys[0] > _LARGEST)
    if found.sort != _named(order) or not fits:
        raise InputError("the cursor is of a list in another order: begin at the first page")
    return tuple(found.keys), found.backwards


def _named(order: EntryOrder) -> str:
    return "-" * order.descending + order.name
