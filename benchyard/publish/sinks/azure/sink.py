"""Publishing performance events to Azure Tables."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from benchyard.core.errors import InputError
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.documents import events_in, publishing_rows, rejected
from benchyard.publish.sinks.azure.rows import rows_of
from benchyard.publish.sinks.azure.shipyard import Exporter
from benchyard.publish.sinks.azure.writer import RowWriter
from benchyard.publish.sinks.contract import Kind, Spooled
from benchyard.results.events import Event

#: Chosen on the command line as ``azure-tables:shipyard``.
SHIPYARD = "shipyard"


class AzureTablesSink:
    """Rows of the table ``<prefix>perf``, a partition for each pool of hosts.

    Args:
        found: Where, and the way in; None looks for it in ``check``, or when first needed.
        form: Empty, or ``shipyard`` for the rows that Batch Shipyard itself writes.
        writer: Sends the rows; tests hand in their own.
    """

    def __init__(
        self, found: Access | None = None, *, form: str = "", writer: RowWriter | None = None
    ) -> None:
        self._found = found
        self._form = form
        self._writer = writer
        self._opening = threading.Lock()

    @classmethod
    def from_environment(cls, form: str = "") -> "AzureTablesSink":
        """Return the sink that the environment's credentials lead to; nothing is looked up yet.

        Raises:
            InputError: If there is no such form of rows.
        """
        if form not in ("", SHIPYARD):
            raise InputError(
                f"there is no form of rows '{form}'; write azure-tables, or azure-tables:{SHIPYARD}"
            )
        return cls(form=form)

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return "azure-tables"

    @property
    def kind(self) -> Kind:
        """A finished run hands it its events."""
        return Kind.EVENTS

    @property
    def parallel(self) -> int:
        """A partition takes 2,000 rows a second, and a transaction has at most 100.

        Source: Azure Tables, "Scalability and performance targets for Table storage".
        """
        return 4

    def check(self) -> None:
        """Look for the credentials and for the names of table and partition; nothing is sent.

        Raises:
            InputError: If something is missing or wrong.
        """
        self._opened()

    def store(self, spooled: Spooled) -> None:
        """Write a row for each event, and when that was; twice makes no row more.

        Raises:
            DocumentRejectedError: If it is no document of events, or Azure will never take it.
            InputError: If Azure takes nothing with these credentials, this table or address.
            SinkUnavailableError: If Azure does not answer.
        """
        found, writer = self._opened()
        events = events_in(spooled)
        began = datetime.now(UTC)
        if self._form == SHIPYARD:
            Exporter(found, writer).export(events)
            return
        try:
            rows = rows_of(events, found.partition)
        except ValueError as error:
            raise rejected(error) from error
        writer.upsert(rows)
        self._tell(events, spooled, "upload", began)

    def note_archived(self, spooled: Spooled, began: datetime, ended: datetime) -> None:
        """Write when a document that ``store`` confirmed was archived.

        Raises:
            SinkUnavailableError: If Azure does not answer now.
        """
        if self._form != SHIPYARD:
            self._tell(events_in(spooled), spooled, "archive", began, ended)

    def _tell(
        self,
        events: Sequence[Event],
        spooled: Spooled,
        what: str,
        began: datetime,
        ended: datetime | None = None,
    ) -> None:
        found, writer = self._opened()
        times = (began, ended or datetime.now(UTC))
        writer.upsert(publishing_rows(events, found.partition, spooled, what, times))

    def _opened(self) -> tuple[Access, RowWriter]:
        with self._opening:
            self._found = self._found or access()
            self._writer = self._writer or RowWriter(self._found)
            return self._found, self._writer

    def close(self) -> None:
        """Give connections back."""
        if self._writer is not None:
            self._writer.close()
