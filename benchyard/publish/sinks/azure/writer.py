"""Sending rows in transactions, each once; writing a row twice leaves one."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from benchyard.core.errors import BenchyardError, InputError, SinkError, SinkUnavailableError
from benchyard.publish.sinks.azure.client import (
    FAILURES,
    AzureTable,
    ExistsError,
    NoTableError,
    Tables,
    explained,
    refuse_silent,
    service,
)
from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.rows import Row, transactions

T = TypeVar("T")


class RowWriter:
    """Writes rows into the table, which it makes if it is not there; several threads may share it.

    What its methods raise is said in ``contract.Sink``.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._opening = threading.Lock()
        self._service: Tables | None = None

    def upsert(self, rows: Iterable[Row]) -> None:
        """Write rows; one that is there already is replaced. After an error some may be there."""
        for batch in transactions(rows):
            operations = [("upsert", one, {"mode": "replace"}) for one in batch]
            self._asked(lambda table, made=operations: table.submit_transaction(made))

    def create(self, rows: Iterable[Row]) -> bool:
        """Add rows; tell whether all keys were free. If not, some rows may be there."""
        try:
            for batch in transactions(rows):
                operations = [("create", one, dict[str, Any]()) for one in batch]
                self._asked(lambda table, made=operations: table.submit_transaction(made))
        except ExistsError:
            return False
        return True

    def read(
        self, query: str, parameters: Mapping[str, str], select: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """Return the rows of a filter."""

        def all_of(table: AzureTable) -> list[Mapping[str, Any]]:
            pages = table.query_entities(query, parameters=parameters, select=select).by_page()
            return [row for page in pages for row in page]

        return self._asked(all_of)

    def _asked(self, call: Callable[[AzureTable], T]) -> T:
        """Make a call; if it is refused, find out whether anything else is accepted."""
        try:
            return self._with_table(call)
        except SinkError as error:
            # A plain one: it is not known whether the document or the settings are wrong.
            if type(error) is SinkError and not self._are_settings_right():
                raise InputError(str(error)) from None
            raise

    def _are_settings_right(self) -> bool:
        """Tell whether a row can be read, or could be later."""
        try:
            self._tried(self._read_a_row)
        except BenchyardError as error:
            return type(error) is SinkUnavailableError
        return True

    def _read_a_row(self, table: AzureTable) -> object:
        found = table.query_entities(
            "PartitionKey eq @partition",
            parameters={"partition": self._access.partition},
            select=["RowKey"],
            results_per_page=1,
        )
        return next(found.by_page(), None)

    def _with_table(self, call: Callable[[AzureTable], T]) -> T:
        try:
            return self._tried(call)
        except NoTableError:
            table = self._access.table
            self._explaining(lambda: self._open().create_table_if_not_exists(table))
            return self._tried(call)

    def _tried(self, call: Callable[[AzureTable], T]) -> T:
        return self._explaining(lambda: call(self._open().get_table_client(self._access.table)))

    def _explaining(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except FAILURES as error:
            raise explained(error, self._access) from None

    def _open(self) -> Tables:
        with self._opening:
            if self._service is None:
                refuse_silent(self._access)
                self._service = service(self._access)
            return self._service

    def close(self) -> None:
        """Give connections back; what is written afterwards opens new ones."""
        with self._opening:
            opened, self._service = self._service, None
        if opened is not None:
            opened.close()
