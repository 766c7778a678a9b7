"""The messages of google.datastore.v1, as protobuf's own classes.

proto-plus, which the client's public types are made of, costs some microseconds a field; a server
that is measured against cannot afford it. The classes carry no types, hence ``Any``.
"""

from typing import Any, TypeAlias

from google.cloud.datastore_v1.types import aggregation_result, datastore, entity, query
from google.protobuf.timestamp_pb2 import Timestamp

#: One protobuf message; which one, says the name of the parameter.
Message: TypeAlias = Any


def _class(public: Any) -> Message:
    return public.pb()


SERVICE = "google.datastore.v1.Datastore"

Entity = _class(entity.Entity)
Key = _class(entity.Key)
Value = _class(entity.Value)
PropertyFilter = _class(query.PropertyFilter)
CompositeFilter = _class(query.CompositeFilter)
PropertyOrder = _class(query.PropertyOrder)
Query = _class(query.Query)
GqlQuery = _class(query.GqlQuery)
QueryResultBatch = _class(query.QueryResultBatch)
EntityResult = _class(query.EntityResult)
AggregationResult = _class(aggregation_result.AggregationResult)

CommitRequest = _class(datastore.CommitRequest)
MutationResult = _class(datastore.MutationResult)
CommitResponse = _class(datastore.CommitResponse)
LookupRequest = _class(datastore.LookupRequest)
LookupResponse = _class(datastore.LookupResponse)
RunQueryRequest = _class(datastore.RunQueryRequest)
RunQueryResponse = _class(datastore.RunQueryResponse)
RunAggregationQueryRequest = _class(datastore.RunAggregationQueryRequest)
RunAggregationQueryResponse = _class(datastore.RunAggregationQueryResponse)
BeginTransactionRequest = _class(datastore.BeginTransactionRequest)
BeginTransactionResponse = _class(datastore.BeginTransactionResponse)
RollbackRequest = _class(datastore.RollbackRequest)
RollbackResponse = _class(datastore.RollbackResponse)
AllocateIdsRequest = _class(datastore.AllocateIdsRequest)
AllocateIdsResponse = _class(datastore.AllocateIdsResponse)
ReserveIdsRequest = _class(datastore.ReserveIdsRequest)
ReserveIdsResponse = _class(datastore.ReserveIdsResponse)


def set_micros(timestamp: Message, micros: int) -> None:
    """Set a timestamp to microseconds since the epoch."""
    timestamp.seconds, rest = divmod(micros, 1_000_000)
    timestamp.nanos = rest * 1000


def micros_of(timestamp: Message) -> int:
    """Return a timestamp's microseconds since the epoch."""
    return timestamp.seconds * 1_000_000 + timestamp.nanos // 1000


def at(micros: int) -> Message:
    """Return a timestamp from microseconds since the epoch."""
    made = Timestamp()
    set_micros(made, micros)
    return made
