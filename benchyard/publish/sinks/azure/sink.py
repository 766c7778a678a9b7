"""Publishing performance events to Azure Tables: a run's, or those of a TestResults document."""

import hashlib
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from benchyard.core.errors import DocumentRejectedError, InputError
from benchyard.core.model import Json
from benchyard.publish.sinks.azure.client import EventTable
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.rows import TESTRESULTS, UNKNOWN, Row, fitting, row, rows_of
from benchyard.publish.sinks.azure.shipyard import export
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.testresults import Document, parse
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
    """

    name = "azure-tables"
    kind = DocumentKind.EVENTS
    #: A partition takes 2,000 rows a second, and a transaction has at most 100.
    #: Source: Azure Tables, "Scalability and performance targets for Table storage".
    parallel = 4

    def __init__(self, found: Access | None = None, *, form: str = "") -> None:
        self._found = found
        self._form = form
        self._table: EventTable | None = None
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
        found, table = self._opened()
        times = (began, ended or datetime.now(UTC))
        table.upsert(publishing_rows(events, found.partition, spooled, what, times))

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
    node = _host(document.body.get("machineConfiguration"))
    # Two tests of one name can start in the same second.
    whose: dict[str, Json] = {"test": document.test, "document": document.identity[:12]}
    began = document.started_at
    ours, subject = SUBJECT in document.arguments, subject_in(document)
    digest = subject.get("digest")
    # Of other documents nothing is told that was not before: their rows keep their keys.
    more: dict[str, Json] = {"subject": digest, "commit": commit_of(subject)} if ours else {}
    yield Event(began, node, TESTRESULTS, "test-start", {**whose, **_known(more)})
    for entry in document.entries:
        told: dict[str, Json] = {"entry": entry.name, "wall": entry.wall_time}
        suspect = suspect_in(entry.body) if ours else ""
        marked = _known({"subject": digest, "suspect": suspect or None}) if ours else {}
        yield Event(began, node, TESTRESULTS, "entry", {**whose, **told, **marked})
    length_s = _number(document.body.get("runTime"))
    ended = _after(began, length_s)
    if ended is not None:
        yield Event(ended, node, TESTRESULTS, "test-end", {**whose, "diff": length_s})


def _known(told: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in told.items() if value is not None}


def _host(machine: Json) -> str:
    named = machine.get("hostname") if isinstance(machine, dict) else None
    return str(named or UNKNOWN)


def _after(began: datetime, length_s: float) -> datetime | None:
    try:
        return began + timedelta(seconds=length_s) if length_s > 0 else None
    except (ValueError, OverflowError):
        return None


def _number(value: Json) -> float:
    try:
        return float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def publishing_rows(
    events: Sequence[Event],
    partition: str,
    spooled: Spooled,
    what: str,
    times: tuple[datetime, datetime],
) -> list[Row]:
    """Return the rows that tell when a document was uploaded or archived.

    Their keys have the time of the document's last event, so that publishing again replaces them;
    ``at`` in the message is when it happened.

    Args:
        events: Of the document.
        partition: Key of the partition.
        spooled: The document.
        what: ``upload`` or ``archive``.
        times: Its start and its end.
    """
    if not events:
        return []
    last = max(events, key=lambda event: event.at)
    whose = {name: last.message[name] for name in ("case", "run", "test") if name in last.message}
    told: dict[str, Json] = {**whose, "document": spooled.name, "from": socket.gethostname()}
    length_s = (times[1] - times[0]).total_seconds()
    ended: dict[str, Json] = {"diff": length_s}
    if what == "archive":
        ended["archived_as"] = spooled.archived_as
    sequence = hashlib.sha256(spooled.name.encode(errors="surrogatepass")).hexdigest()[:16]
    return [
        row(
            last.at,
            last.node,
            f"{SOURCE}:{what}-{edge}",
            fitting({"at": stamp(at), **told, **more}),
            partition,
            sequence,
        )
        for edge, at, more in (("start", times[0], {}), ("end", times[1], ended))
    ]
