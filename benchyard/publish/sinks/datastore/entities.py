"""A document as mutations: one entity of kind ``Test``, one of kind ``Entry`` for each entry.

Names and types of the properties are those of TensorFlow's uploader
(tensorflow/tools/test/upload_test_benchmarks.py); ``host``, ``subject`` (a digest) and ``commit``
are ours, and no query of its needs to know them. Keys are not: it lets Datastore number them, so
that publishing twice leaves two copies; ours are named by the identities of document and entry.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from google.cloud.datastore_v1 import types

from benchyard.publish.sinks.datastore.settings import Settings
from benchyard.publish.sinks.datastore.truncation import fitted
from benchyard.publish.testresults.document import Document, subject_in
from benchyard.results.subject import commit_of

#: Google's messages, whose library has no types that a checker could follow.
TYPES: Any = types
#: A message of protobuf itself, not Google's wrapper around it, which costs ten times as much.
Message: TypeAlias = Any
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


def indexed(name: str) -> str:
    """Return a name as it is stored and asked for: a long one is cut and ends in its digest."""
    coded = name.encode(errors="backslashreplace")
    if len(coded) <= INDEXED_BYTES:
        return coded.decode()
    ending = "~" + hashlib.sha256(coded).hexdigest()[:16]
    return coded[: INDEXED_BYTES - len(ending)].decode(errors="ignore") + ending


def set_moment(timestamp: Message, at: datetime) -> None:
    """Set protobuf's timestamp; a time without a zone counts as UTC, as for Google's client."""
    since = (at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH
    timestamp.seconds = since.days * 86_400 + since.seconds
    timestamp.nanos = since.microseconds * 1_000


def moment(value: Message) -> datetime:
    """Return a time that was read: a timestamp, or the microseconds that projections hold.

    Source: https://github.com/googleapis/google-cloud-python/issues/1770
    """
    if value.WhichOneof("value_type") == "integer_value":
        return _EPOCH + timedelta(microseconds=value.integer_value)
    at = value.timestamp_value
    return _EPOCH + timedelta(seconds=at.seconds, microseconds=at.nanos // 1_000)


def number(value: Message) -> float:
    """Return a timing that was read; the original stores whole ones as integers, others may not be.

    NaN where it is no number.
    """
    match value.WhichOneof("value_type"):
        case "double_value":
            return value.double_value
        case "integer_value":
            return float(value.integer_value)
        case _:
            return float("nan")


def document_mutation(settings: Settings, document: Document, archived_as: str) -> Message:
    """Return what stores the ``Test`` entity of a document."""
    made = _template(settings, TEST, document)
    made.upsert.key.path[0].name = document.identity
    made.upsert.properties["info"].string_value = _info(document, archived_as)
    return made


def entry_mutations(settings: Settings, document: Document, archived_as: str) -> Iterator[Message]:
    """Yield what stores the ``Entry`` entities of a document, in its order."""
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
    set_moment(properties["start"].timestamp_value, document.started_at)
    properties["info"].exclude_from_indexes = True
    for name, value in _measured(document).items():
        properties[name].string_value = indexed(value)
        properties[name].exclude_from_indexes = True
    return made


def _measured(document: Document) -> dict[str, str]:
    """Return what an entity says of what was measured, as far as the document tells."""
    subject = subject_in(document)
    told = {
        HOST: subject.get("host"),
        SUBJECT: subject.get("digest"),
        COMMIT: commit_of(subject),
    }
    return {name: value for name, value in told.items() if isinstance(value, str) and value}
