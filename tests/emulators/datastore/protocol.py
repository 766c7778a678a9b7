"""Messages of google.datastore.v1, as protobuf's own classes, and the errors of a server.

The client's public classes, proto-plus, take some microseconds a field. These have no types.
"""

from typing import Any, NoReturn, TypeAlias

import grpc
from google.cloud.datastore_v1.types import datastore, entity, query

#: One protobuf message; which one, says the name of the parameter.
Message: TypeAlias = Any


def _class(public: Any) -> Message:
    return public.pb()


SERVICE = "google.datastore.v1.Datastore"

Entity = _class(entity.Entity)
Key = _class(entity.Key)
Value = _class(entity.Value)
CompositeFilter = _class(query.CompositeFilter)
EntityResult = _class(query.EntityResult)
PropertyFilter = _class(query.PropertyFilter)
PropertyOrder = _class(query.PropertyOrder)
Query = _class(query.Query)
QueryResultBatch = _class(query.QueryResultBatch)
CommitRequest = _class(datastore.CommitRequest)
CommitResponse = _class(datastore.CommitResponse)
LookupRequest = _class(datastore.LookupRequest)
LookupResponse = _class(datastore.LookupResponse)
RunQueryRequest = _class(datastore.RunQueryRequest)
RunQueryResponse = _class(datastore.RunQueryResponse)


class RefusedError(Exception):
    """A call that is answered with an error.

    Args:
        status: The status of gRPC.
        text: What the client's exception will say.
    """

    def __init__(self, status: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def invalid(text: str) -> NoReturn:
    """Refuse a call that can never succeed."""
    raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, text)


def unknown(what: str) -> RefusedError:
    """Return what refuses that which the real service can do and this server cannot."""
    return RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"This server does not know {what}.")


def only(message: Message, *names: str) -> None:
    """Refuse a message in which more is set than this server knows.

    Raises:
        RefusedError: If so.
    """
    others = {field.name for field, _ in message.ListFields()} - set(names)
    if others:
        raise unknown(", ".join(sorted(others)))
