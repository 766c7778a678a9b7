"""Sending rows in transactions, each once; writing a row twice leaves one."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from benchyard.core.errors import InputError
from benchyard.publish.sinks.azure.client import (
    FAILURES,
    AzureAnswer,
    Meaning,
    Table,
    Tables,
    refuse_silent,
    service,
    understood,
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
        for batch in transactions(rows):
            operations = [("create", one, dict[str, Any]()) for one in batch]
            answer = self._with_table(lambda table, made=operations: table.submit_transaction(made))
            if isinstance(answer, AzureAnswer):
                if answer.meaning is Meaning.EXISTS:
                    return False
                raise self._error(answer)
        return True

    def read(
        self, query: str, parameters: Mapping[str, str], select: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """Return the rows of a filter."""

        def all_of(table: Table) -> list[Mapping[str, Any]]:
            pages = table.query_entities(query, parameters=parameters, select=select).by_page()
            return [row for page in pages for row in page]

        return self._asked(all_of)

    def _asked(self, call: Callable[[Table], T]) -> T:
        answer = self._with_table(call)
        if isinstance(answer, AzureAnswer):
            raise self._error(answer)
        return answer

    def _error(self, answer: AzureAnswer) -> Exception:
        """Return what to raise; if in doubt, read a row to see whether the settings are right."""
        if answer.meaning is Meaning.DOUBT:
            probed = self._tried(self._probe)
            if isinstance(probed, AzureAnswer) and probed.meaning is not Meaning.AGAIN:
                return InputError(answer.sentence)
        return answer.to_error()

    def _probe(self, table: Table) -> object:
        found = table.query_entities(
            "PartitionKey eq @partition",
            parameters={"partition": self._access.partition},
            select=["RowKey"],
            results_per_page=1,
        )
        return next(found.by_page(), None)

    def _with_table(self, call: Callable[[Table], T]) -> T | AzureAnswer:
        answer = self._tried(call)
        if isinstance(answer, AzureAnswer) and answer.meaning is Meaning.NO_TABLE:
            return self._make_table() or self._tried(call)
        return answer

    def _tried(self, call: Callable[[Table], T]) -> T | AzureAnswer:
        try:
            return call(self._open().get_table_client(self._access.table))
        except FAILURES as error:
            return understood(error, self._access)

    def _make_table(self) -> AzureAnswer | None:
        try:
            self._open().create_table_if_not_exists(self._access.table)
        except FAILURES as error:
            return understood(error, self._access)
        return None

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
