"""What waits in the spool, as events: a run's own, or those of a TestResults document."""

import hashlib
import socket
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from benchyard.core.errors import DocumentRejectedError
from benchyard.core.model import Json
from benchyard.publish.sinks.azure.rows import Row, fitting, row
from benchyard.publish.sinks.contract import Kind, Spooled
from benchyard.publish.testresults import Document, parse
from benchyard.publish.testresults.document import SUBJECT, subject_in, suspect_in
from benchyard.results.events import SOURCE, Event, load, stamp
from benchyard.results.subject import commit_of

#: Source of what is told of a document that is no run of ours.
TESTRESULTS = "tensorflow"
#: The node of a document that names no host.
UNKNOWN = "unknown"


def events_in(spooled: Spooled) -> list[Event]:
    """Return the events of a spooled file.

    Raises:
        DocumentRejectedError: If it holds neither events nor a TestResults document.
    """
    if spooled.kind is Kind.EVENTS:
        return load(spooled.content)
    return list(_events_of(parse(spooled.content)))


def _events_of(document: Document) -> Iterator[Event]:
    """Tell of a test's start, of each entry, and of the test's end if it says its length.

    No entry says when it was: all of them stand at the test's start.
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

    They stand at the document's last event, whenever it is published: doing it again replaces
    them. The time they tell of is ``at`` in the message.

    Args:
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


def rejected(error: ValueError) -> DocumentRejectedError:
    """Return what a sink raises of a time that no key can hold."""
    return DocumentRejectedError(f"one of its events can be no row: {error}")
