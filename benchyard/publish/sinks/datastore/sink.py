"""Publishing to Google Cloud Datastore: a document as mutations, sent in commits.

A document is one entity of kind ``Test``, and one of kind ``Entry`` for each of its entries.

Names and types of the properties are those of TensorFlow's uploader
(tensorflow/tools/test/upload_test_benchmarks.py); ``host``, ``subject`` (a digest) and ``commit``
are ours, and no query of its needs to know them. Keys are not: it lets Datastore number them, so
that publishing twice leaves two copies; ours are named by the identities of document and entry.

What is too long for a property is cut. Small members of an object and elements of a list stay
whole, large ones share the room that is left; so a document keeps the names and times of all its
entries and loses their details, instead of losing half of the entries.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from benchyard.core.model import Json, JsonObject
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.sinks.datastore.connection import Connection
from benchyard.publish.sinks.datastore.settings import TYPES, Message, Settings
from benchyard.publish.sinks.sending import batches
from benchyard.publish.testresults.document import Document, parse, subject_in
from benchyard.results.subject import commit_of

#: Bytes of UTF-8 in an indexed text. Source: https://cloud.google.com/datastore/docs/concepts/limits
INDEXED_BYTES = 1_500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TEST, ENTRY = "Test", "Entry"
#: Properties of both kinds that TensorFlow's uploader does not write.
HOST, SUBJECT, COMMIT = "host", "subject", "commit"
#: Bytes of UTF-8 in ``info``: a property may have 1,048,487 and an entity 1,048,572; both names,
#: the key and what Datastore adds take less than 8 KiB of that.
#: Source: https://cloud.google.com/datastore/docs/concepts/limits
INFO_BYTES = 1_048_487 - 8 * 1024

K = TypeVar("K")
#: Member of every object that was cut: ``archive`` and ``bytes``, of the whole.
MARKER = "benchyardCut"
#: Ends a text that was cut.
ELLIPSIS = "…"
#: With a smaller share, the first elements are kept instead of a little of all (bytes).
_LEAST_SHARE = 64
#: What lies deeper is kept whole or not at all: a hostile file must not exhaust the stack.
_DEEPEST = 40
#: Mutations of a commit. Google no longer enforces it; older databases and servers do.
#: Source: https://cloud.google.com/datastore/docs/release-notes, 2023-03-29
_MOST_MUTATIONS = 500
#: Bytes of a commit, of the 10 MiB that a request may have: a smaller one fits into the time of an
#: attempt on a slow line, and a larger one is not faster.
_MOST_BYTES = 4 * 1024 * 1024
#: What a message takes around its own bytes in the list that it is in, at most.
_FRAME_BYTES = 8


class DatastoreSink:
    """Kinds ``Test`` and ``Entry`` in a Datastore, one copy of each however often published."""

    name = "datastore"
    kind = DocumentKind.RESULTS
    #: So many hide the way to Google and back; a local server is busy with two.
    parallel = 8

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection or Connection()

    def check(self) -> None:
        """Check settings and credentials.

        Raises:
            InputError: If they are missing or wrong.
        """
        _ = self._connection.settings

    def store(self, spooled: Spooled) -> None:
        """Publish one document.

        The entity of the test goes last, in a commit of its own: where it is, all entries are.

        Raises:
            DocumentRejectedError: If it is no document, or Datastore refuses it.
            SinkUnavailableError: If it may succeed later.
        """
        document = parse(spooled.content)
        settings = self._connection.settings
        entries = entry_mutations(settings, document, spooled.archived_as)
        for batch in batches(entries, _size, _MOST_MUTATIONS, _MOST_BYTES):
            self._connection.commit(batch)
        self._connection.commit([document_mutation(settings, document, spooled.archived_as)])

    def close(self) -> None:
        """Close the connection; calls under way fail."""
        self._connection.close()


def _size(mutation: Message) -> int:
    return mutation.ByteSize() + _FRAME_BYTES


def indexed(name: str) -> str:
    """Return a name as it is indexed: a long one is cut, and its digest added."""
    coded = name.encode(errors="backslashreplace")
    if len(coded) <= INDEXED_BYTES:
        return coded.decode()
    ending = "~" + hashlib.sha256(coded).hexdigest()[:16]
    return coded[: INDEXED_BYTES - len(ending)].decode(errors="ignore") + ending


def moment(value: Message) -> datetime:
    """Return a time that was read: a timestamp, or the microseconds that projections hold.

    Source: https://github.com/googleapis/google-cloud-python/issues/1770
    """
    if value.WhichOneof("value_type") == "integer_value":
        return _EPOCH + timedelta(microseconds=value.integer_value)
    return value.timestamp_value.ToDatetime(UTC)


def number(value: Message) -> float:
    """Return a timing that was read, NaN if it is no number; TensorFlow's may be integers."""
    match value.WhichOneof("value_type"):
        case "double_value":
            return value.double_value
        case "integer_value":
            return float(value.integer_value)
        case _:
            return float("nan")


def document_mutation(settings: Settings, document: Document, archived_as: str) -> Message:
    """Return the mutation that stores the ``Test`` entity of a document."""
    made = _template(settings, TEST, document)
    made.upsert.key.path[0].name = document.identity
    made.upsert.properties["info"].string_value = _info(document, archived_as)
    return made


def entry_mutations(settings: Settings, document: Document, archived_as: str) -> Iterator[Message]:
    """Yield the mutations that store the ``Entry`` entities of a document, in its order."""
    template = _template(settings, ENTRY, document)
    for entry in document.entries:
        made = TYPES.Mutation.pb()()
        made.CopyFrom(template)
        made.upsert.key.path[0].name = entry.identity
        properties = made.upsert.properties
        properties["entry"].string_value = indexed(entry.name)
        properties["timing"].double_value = entry.wall_time
        properties["info"].string_value = fitted(entry.body, INFO_BYTES, archived_as)
        yield made


def _info(document: Document, archived_as: str) -> str:
    coded = document.info.encode(errors="backslashreplace")  # as JSON escapes half characters
    if len(coded) <= INFO_BYTES:
        return coded.decode()
    return fitted(json.loads(coded), INFO_BYTES, archived_as)


def _template(settings: Settings, kind: str, document: Document) -> Message:
    """Return a mutation with all that the entities of one document and kind have in common."""
    made = TYPES.Mutation.pb()()
    key = made.upsert.key
    key.partition_id.project_id = settings.project or ""
    key.partition_id.database_id = settings.database
    key.partition_id.namespace_id = settings.namespace
    key.path.add().kind = kind
    properties = made.upsert.properties
    properties["test"].string_value = indexed(document.test)
    properties["start"].timestamp_value.FromDatetime(document.started_at)
    properties["info"].exclude_from_indexes = True
    for name, value in _measured(document).items():
        properties[name].string_value = indexed(value)
        properties[name].exclude_from_indexes = True
    return made


def _measured(document: Document) -> dict[str, str]:
    """Return the properties that say what was measured, as far as the document does."""
    subject = subject_in(document)
    told = {
        HOST: subject.get("host"),
        SUBJECT: subject.get("digest"),
        COMMIT: commit_of(subject),
    }
    return {name: value for name, value in told.items() if isinstance(value, str) and value}


def fitted(body: JsonObject, limit: int, archived_as: str) -> str:
    """Return ``body`` as JSON in ASCII; if it is longer than ``limit``, cut and marked.

    Args:
        body: What is to be stored.
        limit: Bytes, at least a few hundred.
        archived_as: Where the whole document is.
    """
    text = json.dumps(body)
    if len(text) <= limit:
        return text
    marker: Json = {"archive": _short(archived_as, limit // 4), "bytes": len(text)}
    rest: JsonObject = {name: value for name, value in body.items() if name != MARKER}
    room = limit - len(json.dumps({MARKER: marker}))
    return json.dumps({MARKER: marker, **_object(rest, room, 0)})


def _cut(value: Json, room: int, depth: int) -> Json:
    """Cut a value that is larger than ``room``; None if nothing of it fits."""
    match value:
        case str():
            return _short(value, room) or None
        case list() if depth < _DEEPEST:
            kept = _members(enumerate(value), lambda _: 2, room - 2, depth)
            return [element for _, element in kept] or None
        case dict() if depth < _DEEPEST:
            return _object(value, room, depth) or None
        case _:
            return None


def _object(value: JsonObject, room: int, depth: int) -> JsonObject:
    named = value.items()
    return dict(_members(named, lambda name: len(json.dumps(name)) + 4, room - 2, depth))


def _members(
    members: Iterable[tuple[K, Json]], overhead: Callable[[K], int], room: int, depth: int
) -> list[tuple[K, Json]]:
    """Return the members that fit together; those larger than their share are cut.

    Args:
        members: Names, or places in a list, and values.
        overhead: Bytes that a member's name and the signs around it take.
        room: Bytes for all of them.
        depth: How deep they are nested.
    """
    sized = [(k, v, overhead(k), overhead(k) + len(json.dumps(v))) for k, v in members]
    count, share = _shared([size for *_, size in sized], room)
    kept: list[tuple[K, Json]] = []
    for key, value, around, size in sized[:count]:
        part = value if size <= share else _cut(value, share - around, depth + 1)
        if part is not None or size <= share:
            kept.append((key, part))
    return kept


def _shared(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """Return how many members are kept, the first ones, and the most bytes that each may take."""
    left = room
    share = room
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            break
        left -= size
    if share >= _LEAST_SHARE:
        return len(sizes), share
    count = 0
    for size in sizes:
        room -= min(size, _LEAST_SHARE)
        if room < 0:
            break
        count += 1
    return count, _LEAST_SHARE


def _short(text: str, room: int) -> str:
    """Cut a text to ``room`` bytes of JSON; empty if nothing fits."""
    if len(text) <= room and len(json.dumps(text)) <= room:
        return text
    kept = text[: max(room, 0)]
    while kept and len(json.dumps(kept + ELLIPSIS)) > room:
        kept = kept[: len(kept) * 3 // 4]
    return kept and kept + ELLIPSIS
