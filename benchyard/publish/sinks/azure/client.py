"""What is used of Azure's library, with types; its own leave the keyword arguments unknown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol


class Found(Protocol):
    """``azure.core.paging.ItemPaged``."""

    def by_page(self) -> Iterator[Iterable[Mapping[str, Any]]]:
        """Return the pages; one that could not be read is read again by the next ``next``."""
        ...


class Table(Protocol):
    """``azure.data.tables.TableClient``."""

    def submit_transaction(
        self, operations: Iterable[tuple[str, Mapping[str, Any], Mapping[str, Any]]]
    ) -> Sequence[Mapping[str, Any]]:
        """Do all of the operations or none; at most 100, of one partition."""
        ...

    def query_entities(
        self,
        query_filter: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        select: Sequence[str] | None = None,
        results_per_page: int | None = None,
    ) -> Found:
        """Return the rows of a filter, by partition and row key."""
        ...


class Tables(Protocol):
    """``azure.data.tables.TableServiceClient``."""

    def get_table_client(self, table_name: str) -> Table:
        """Return a table, there or not."""
        ...

    def create_table_if_not_exists(self, table_name: str) -> Table:
        """Make a table unless it is there."""
        ...

    def close(self) -> None:
        """Give connections back."""
        ...
