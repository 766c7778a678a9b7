"""What an address asks of the catalogue, and the addresses that ask for something near it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field

from benchyard.catalogue import query as catalogue
from benchyard.catalogue.entry import RUNS
from benchyard.core.amounts import parse_since
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.table import Column
from benchyard.core.wording import hint, quote
from benchyard.web.tables import DataTable

#: Most rows of one page.
MOST_ROWS = 1_000
_CONDITION = re.compile(r"(.+?)(!=|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d{1,18}|\d{0,18}\.\d{1,18}|\d{1,18}\.)(e[+-]?\d{1,3})?", re.ASCII)
#: What leads to a place in the answer; any other change begins at its first page.
_PLACE = frozenset({"offset", "after"})

ReadT = TypeVar("ReadT")
Text = Annotated[str, Field(max_length=500)]
Texts = Annotated[list[Text], Field(max_length=50)]


class Filters(BaseModel):
    """Which entries: conditions hold together; several values of one are alternatives."""

    q: Text = Field("", description="Words of case, point, tags, host, commit, version, path")
    case: Texts = Field([], description="Name of a case, without the point of its matrix")
    results: Texts = Field([], description="Id of a case, as /cases.json has it")
    tag: Texts = []
    host: Texts = []
    commit: Texts = []
    version: Texts = Field([], description="RESOURCE=VERSION, or a version alone")
    outcome: Texts = []
    host_quality: Texts = Field([], description="quiet, noisy, suspect or unknown")
    format: Texts = Field([], description="Of results; runs alone if left out")
    param: Texts = Field([], description="Condition on a parameter, such as threads>=4")
    state: Literal["", "broken", "under-way"] = ""
    since: Text = Field("", description="2026-11-01, or 30d, 12h, 2w ago")
    until: Text = ""
    limit: int = Field(50, ge=1, le=MOST_ROWS)
    offset: int = Field(0, ge=0, le=2**53)

    def query(self, sort: str = "-started_s", after: str | None = None) -> catalogue.EntryQuery:
        """Return the query.

        Args:
            sort: As the catalogue takes it, as is ``after``.

        Raises:
            InputError: With every value that cannot be meant.
        """
        problems: list[str] = []
        order = _read(problems, _sort, sort)
        since, until = (_read(problems, moment, text) for text in (self.since, self.until))
        conditions = [_read(problems, condition, text) for text in _some(self.param)]
        if problems:
            raise InputError("; ".join(problems))
        return catalogue.EntryQuery(
            text=self.q,
            formats=_some(self.format),
            results=_some(self.results),
            cases=_some(self.case),
            tags=_some(self.tag),
            hosts=_some(self.host),
            commits=_some(self.commit),
            versions=_some(self.version),
            outcomes=_some(self.outcome),
            host_qualities=_some(self.host_quality),
            parameters=tuple(one for one in conditions if one),
            broken=True if self.state == "broken" else None,
            under_way=True if self.state == "under-way" else None,
            since_s=since,
            until_s=until,
            sort=order or sort,
            offset=self.offset,
            limit=self.limit,
            after=after or None,
        )


class RunFilters(Filters):
    """Which runs, and in what order."""

    sort: Text = Field("-started_s", description="A column, or parameter:NAME; - is descending")
    after: Annotated[str, Field(max_length=2_000)] = Field("", description="As next was before")


def _read(problems: list[str], read: Callable[[str], ReadT], text: str) -> ReadT | None:
    """Read a value; what is wrong with it is added to the problems, so that all are told."""
    try:
        return read(text)
    except InputError as error:
        problems.append(str(error))
        return None


def moment(text: str) -> float | None:
    """Read a time as seconds since the epoch; None if there is none.

    Lengths are counted back from the minute: what is asked again then is the same question.

    Raises:
        InputError: If it is not written so.
    """
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    return parse_since(text, now).timestamp() if text else None


def condition(text: str) -> catalogue.Condition:
    """Read a condition on a parameter, such as ``threads>=4`` or ``engine=SQLite``.

    Raises:
        InputError: If it is not written so.
    """
    found = _CONDITION.fullmatch(text)
    if found is None or not found[1].strip():
        raise InputError(
            f"param: {quote(text)!r} is no condition; write NAME=VALUE, or another of "
            "!= < <= > >= ~ (contains) between them"
        )
    operator = catalogue.Operator(found[2])
    return catalogue.Condition(found[1].strip(), operator, _value(found[3].strip()))


def _value(text: str) -> Json:
    if _NUMBER.fullmatch(text.lower()):
        return float(text) if re.search(r"[.eE]", text) else int(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _sort(text: str) -> str:
    name = text.removeprefix("-")
    if name not in {*catalogue.SORTS, *catalogue.SORT_NAMES} and not re.match("parameter:.", name):
        raise InputError(
            f"sort: there is no order by {quote(name)!r}{hint(name, catalogue.SORTS)}; "
            "parameter:NAME is one too, and - before it is descending"
        )
    return "-" * text.startswith("-") + catalogue.SORT_NAMES.get(name, name)


def _some(values: Sequence[str]) -> tuple[str, ...]:
    # A form sends its empty fields too.
    return tuple(value for value in values if value)


@dataclass(frozen=True, slots=True)
class Search:
    """What an address asks.

    Args:
        query: For the catalogue.
        given: Names and values of the address.
    """

    query: catalogue.EntryQuery
    given: tuple[tuple[str, str], ...]

    @property
    def is_page(self) -> bool:
        """Whether a page is asked for; tables for programs are whole otherwise."""
        return any(name in ("limit", *_PLACE) for name, _ in self.given)

    def address(self, **changes: Sequence[str]) -> str:
        """Return a query, with ``?``, that asks for the same, but for some fields.

        Args:
            changes: Fields with all their values; none takes the field out.
        """
        kept = [(n, v) for n, v in self.given if n not in changes and n not in _PLACE]
        added = [(name, value) for name, values in changes.items() for value in values]
        return f"?{urlencode([*kept, *added])}"

    def toggled(self, name: str, value: str) -> str:
        """Return a query that asks for a value of a field too, or no more."""
        now = self.values(name)
        left = [one for one in now if one != value]
        return self.address(**{name: left if value in now else [*now, value]})

    def values(self, name: str) -> list[str]:
        """Return the values of a field in the address."""
        return [v for n, v in self.given if n == name]

    def value(self, name: str) -> str:
        """Return the value of a field that has one, as a form shows it."""
        return next(iter(self.values(name)), "")

    def sortable(self, table: DataTable, orders: Mapping[str, str]) -> DataTable:
        """Return what was found with its address, and heads that lead to their orders, and back.

        Args:
            orders: By keys of columns.
        """
        columns = [self._sortable(column, orders.get(column.key)) for column in table.columns]
        return replace(table, columns=columns, query=f"?{urlencode(self.given)}")

    def _sortable(self, column: Column, key: str | None) -> Column:
        if not key:
            return column
        name, now = key.removeprefix("-"), self.query.sort
        if now.removeprefix("-") != name:
            return replace(column, href=self.address(sort=[key]))
        falls = now.startswith("-")
        href = self.address(sort=[name if falls else f"-{name}"])
        return replace(column, href=href, order="descending" if falls else "ascending")


def search_of(request: Request, filters: Filters, query: catalogue.EntryQuery) -> Search:
    """Return what an address asks, to make others like it."""
    known = type(filters).model_fields
    items = request.query_params.multi_items()
    return Search(query, tuple((name, value) for name, value in items if name in known and value))


async def _search(request: Request, filters: Annotated[RunFilters, Query()]) -> Search:
    query = filters.query(filters.sort, filters.after)
    return search_of(request, filters, replace(query, formats=query.formats or RUNS))


#: As an argument of an endpoint: what its address asks of the runs.
Asked = Annotated[Search, Depends(_search)]
