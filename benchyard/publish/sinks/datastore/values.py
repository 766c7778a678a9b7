"""Values as Datastore keeps them: names short enough for an index, times to the microsecond."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from google.cloud.datastore_v1 import types

#: Google's messages, whose library has no types that a checker could follow.
TYPES: Any = types

#: A message of protobuf itself, not Google's wrapper around it, which costs ten times as much.
Message: TypeAlias = Any

#: Bytes of UTF-8 in an indexed text. Source: https://cloud.google.com/datastore/docs/concepts/limits
INDEXED_BYTES = 1_500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
