"""A query as a condition of SQL on ``entries e``; values are bound, never written into it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchyard.catalogue.query import Condition, EntryQuery, Operator
from benchyard.catalogue.texts import number_of, text, text_of

#: A condition and the values that are bound to it.
Clause = tuple[str, tuple[Any, ...]]

_LABELS = "e.label_set IN (SELECT label_set FROM {} WHERE {})"
_PARAMETERS = "e.parameter_set IN (SELECT parameter_set FROM parameters WHERE name = ? AND {})"


#: The results folder of a case, by its id or by that of its place, which older links have.
CASE = "SELECT results FROM cases WHERE id = ? OR results = ?"

#: Of formats that have a greater share of all entries, SQLite is not to take the index.
_COMMON = 0.1


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
    for column, values in (
        (format_column, query.formats),
        *(("e.case_name", query.cases), ("e.host", query.hosts), ("e.outcome", query.outcomes)),
        ("e.host_quality", query.host_qualities),
    ):
        if values:
            yield f"{column} IN ({', '.join('?' * len(values))})", tuple(map(text, values))
    yield from _any_of(query.results, _results)
    yield from _any_of(query.tags, _tag)
    yield from _any_of(query.commits, _commit)
    yield from _any_of(query.versions, _version)
    yield from (_parameter(one) for one in query.parameters)
    if query.broken is not None:
        yield ("e.broken != ''" if query.broken else "e.broken = ''"), ()
    if query.under_way is not None:
        yield ("e.under_way" if query.under_way else "NOT e.under_way"), ()
    if query.since_s is not None:
        yield "e.began >= ?", (query.since_s,)
    if query.until_s is not None:
        yield "e.began < ?", (query.until_s,)


def _words(asked: str) -> Iterator[Clause]:
    """Yield the search for words: each is quoted, so nothing in it is an operator."""
    words = [word for word in text(asked).replace("\0", " ").split() if any(map(str.isalnum, word))]
    if words:
        quoted = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        yield "e.n IN (SELECT rowid FROM search WHERE search MATCH ?)", (quoted,)


def _any_of(values: Sequence[str], clause: Callable[[str], Clause]) -> Iterator[Clause]:
    if values:
        clauses = [clause(text(value)) for value in values]
        bound = tuple(value for _, several in clauses for value in several)
        yield " OR ".join(one for one, _ in clauses), bound


def _results(case: str) -> Clause:
    return f"e.results IN ({CASE})", (case, case)


def _tag(tag: str) -> Clause:
    return _LABELS.format("tags", "tag = ?"), (tag,)


def _commit(beginning: str) -> Clause:
    return "e.commit_id != '' AND substr(e.commit_id, 1, length(?)) = ?", (beginning, beginning)


def _version(asked: str) -> Clause:
    resource, equals, version = asked.partition("=")
    either = "version = ?" + " OR (resource = ? AND version = ?)" * bool(equals)
    return _LABELS.format("versions", either), (asked, *([resource, version] if equals else []))


def _parameter(asked: Condition) -> Clause:
    """Return the condition on a parameter: on its number where the value is one, else its text."""
    number, told = number_of(asked.value), text_of(asked.value)
    if asked.operator is Operator.CONTAINS:
        clause: Clause = ("instr(lower(text), lower(?))", (told,))
    elif number is not None:
        clause = (f"number {asked.operator.value} ?", (number,))
    else:
        clause = (f"text {asked.operator.value} ?", (told,))
    return _PARAMETERS.format(clause[0]), (text(asked.parameter), *clause[1])
