"""Publishing performance events to Azure Tables: a run's, or those of a TestResults document."""

import hashlib
import socket
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from benchyard.core.errors import DocumentRejectedError, InputError
from benchyard.core.model import Json, object_in
from benchyard.publish.sinks.azure.client import EventTable
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.rows import TESTRESULTS, UNKNOWN, Row, fitting, row, rows_of
from benchyard.publish.sinks.azure.shipyard import export
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.testresults import Document, parse
from benchyard.publish.testresults.convert import known
from benchyard.publish.testresults.document import SUBJECT, subject_in, suspect_in
from benchyard.results.events import SOURCE, Event, load, stamp
from benchyard.results.subject import commit_of

#: Chosen on the command line as ``azure-tables:shipyard``.
SHIPYARD = "shipyard"


class AzureTablesSink:
    """Rows of the table ``<prefix>perf``, a partition for each pool of hosts.

    Args:
        found: The table and the credentials; None looks for them when they are needed.
        form: Empty, or ``shipyard`` for the rows that Batch Shipyard itself writes.

    Raises:
        InputError: If there is no such form of rows.
    """

    name = "azure-tables"
    kind = DocumentKind.EVENTS
    #: A partition takes 2,000 rows a second, and a transaction has at most 100.
    #: Source: Azure Tables, "Scalability and performance targets for Table storage".
    parallel = 4

    def __init__(self, found: Access | None = None, *, form: str = "") -> None:
        if form not in ("", SHIPYARD):
            raise InputError(
                f"there is no form of rows '{form}'; write azure-tables, or azure-tables:{SHIPYARD}"
            )
        self._found = found
        self._form = form
        self._table: EventTable | None = None
        self._opening = threading.Lock()

    def check(self) -> None:
        """Look for credentials and for the names of table and partition; nothing is sent.

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
        found, table = self._opened()
        events = events_in(spooled)
        began = datetime.now(UTC)
        if self._form == SHIPYARD:
            export(events, found, table)
            return
        try:
            rows = rows_of(events, found.partition)
        except ValueError as error:
            raise DocumentRejectedError(f"one of its events can be no row: {error}") from error
        table.upsert(rows)
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
        """Write when a document was uploaded or archived.

        The keys of these rows have the time of the document's last event, so that publishing again
        replaces them; ``at`` in the message is when it happened.

        Args:
            events: Of the document.
            spooled: The document.
            what: ``upload`` or ``archive``.
            began: When that began.
            ended: When that ended; now by default.
        """
        if not events:
            return
        found, table = self._opened()
        ended = ended or datetime.now(UTC)
        last = max(events, key=lambda event: event.at)
        whose = {key: last.message[key] for key in ("case", "run", "test") if key in last.message}
        told: dict[str, Json] = {**whose, "document": spooled.name, "from": socket.gethostname()}
        length: dict[str, Json] = {"diff": (ended - began).total_seconds()}
        if what == "archive":
            length["archived_as"] = spooled.archived_as
        sequence = hashlib.sha256(spooled.name.encode(errors="surrogatepass")).hexdigest()[:16]
        rows: list[Row] = []
        for edge, at, more in (("start", began, {}), ("end", ended, length)):
            message = fitting({"at": stamp(at), **told, **more})
            name = f"{SOURCE}:{what}-{edge}"
            rows.append(row(last.at, last.node, name, message, found.partition, sequence))
        table.upsert(rows)

    def _opened(self) -> tuple[Access, EventTable]:
        with self._opening:
            self._found = self._found or access()
            self._table = self._table or EventTable(self._found)
            return self._found, self._table

    def close(self) -> None:
        """Give connections back."""
        if self._table is not None:
            self._table.close()


def events_in(spooled: Spooled) -> list[Event]:
    """Return the events of a file.

    Raises:
        DocumentRejectedError: If it holds neither events nor a TestResults document.
    """
    if spooled.kind is DocumentKind.EVENTS:
        return load(spooled.content)
    return list(_events_of(parse(spooled.content)))


def _events_of(document: Document) -> Iterator[Event]:
    """Yield an event for a test's start, for each entry, and for its end if its length is known.

    Entries have no times of their own: all of them stand at the test's start.
    """
    node = str(object_in(document.body, "machineConfiguration").get("hostname") or UNKNOWN)
    # Two tests of one name can start in the same second.
    whose: dict[str, Json] = {"test": document.test, "document": document.identity[:12]}
    began = document.started_at
    ours, subject = SUBJECT in document.arguments, subject_in(document)
    digest = subject.get("digest")
    # Of other documents nothing is told that was not before: their rows keep their keys.
    more: dict[str, Json] = {"subject": digest, "commit": commit_of(subject)} if ours else {}
    yield Event(began, node, TESTRESULTS, "test-start", {**whose, **known(more)})
    for entry in document.entries:
        told: dict[str, Json] = {"entry": entry.name, "wall": entry.wall_time}
        marked = known({"subject": digest, "suspect": suspect_in(entry.body)}) if ours else {}
        yield Event(began, node, TESTRESULTS, "entry", {**whose, **told, **marked})
    if (end := _end(began, document.body.get("runTime"))) is not None:
        yield Event(end[0], node, TESTRESULTS, "test-end", {**whose, "diff": end[1]})


def _end(began: datetime, length: Json) -> tuple[datetime, float] | None:
    """Return the end of a test and its seconds; None if its length is not known."""
    try:
        length_s = float(length) if isinstance(length, int | float | str) else 0.0
        return (began + timedelta(seconds=length_s), length_s) if length_s > 0 else None
    except (ValueError, OverflowError):
        return None
