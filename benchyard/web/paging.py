"""A part of a long table, and the addresses of the parts before and after it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query

from benchyard.web.tables import DataTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """Which rows.

    Args:
        offset: Rows to skip.
        limit: At most so many.
    """

    offset: int = 0
    limit: int = 100

    def among(self, things: Sequence[T]) -> Sequence[T]:
        """Return this part of what rows are made of."""
        return things[self.offset : self.offset + self.limit]

    def told(
        self, table: DataTable, total: int, query: Mapping[str, Any] | None = None
    ) -> DataTable:
        """Return a table that has this part of its rows already, with links to the other parts.

        Args:
            total: How many rows there are.
            query: What else chooses the rows.
        """
        last = self.offset + len(table.rows)
        pages = pages_around(
            self.offset, self.limit, total, lambda at: table.href + self._asked(at, query)
        )
        said = f"Rows {self.offset + 1:,} to {last:,} of {total:,}."
        return replace(
            table,
            pages=pages,
            notes=[*table.notes, said] if pages and table.rows else table.notes,
            query=self._asked(self.offset, query) if pages or query else "",
        )

    def _asked(self, offset: int, query: Mapping[str, Any] | None) -> str:
        told = {**(query or {}), "offset": offset, "limit": self.limit}
        return f"?{urlencode(told, doseq=True)}"


def pages_around(
    offset: int, limit: int, total: int, at: Callable[[int], str]
) -> list[tuple[str, str]]:
    """Return text and address of the pages before and after one, as far as there are any.

    Args:
        at: Returns the address of the page from an offset on.
    """
    before = [("Previous", at(max(0, offset - limit)))] if offset else []
    return before + ([("Next", at(offset + limit))] if offset + limit < total else [])


async def _part(
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> Part:
    return Part(offset, limit)


#: As an argument of an endpoint: which rows are asked for.
AskedPart = Annotated[Part, Depends(_part)]
