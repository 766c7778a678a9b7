"""What is asked of Datastore."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from benchyard.publish.sinks.datastore.values import TYPES, Message, indexed, set_moment

_EQUAL: int = TYPES.PropertyFilter.Operator.EQUAL
_FROM: int = TYPES.PropertyFilter.Operator.GREATER_THAN_OR_EQUAL


def select(
    kind: str,
    equal: Mapping[str, str | datetime],
    *,
    properties: Sequence[str] = (),
    since: datetime | None = None,
    newest_first: bool | None = None,
    limit: int | None = None,
) -> Message:
    """Return a query for the entities of a kind.

    Args:
        equal: Property to value.
        properties: What is wanted of each; empty means all of it.
        newest_first: Order by ``start``, descending or ascending; None leaves the order open.
    """
    query = TYPES.Query.pb()()
    query.kind.add().name = kind
    for name, value in equal.items():
        _add_filter(query, name, _EQUAL, value)
    if since is not None:
        _add_filter(query, "start", _FROM, since)
    if newest_first is not None:
        order = query.order.add()
        order.property.name = "start"
        order.direction = _direction(newest_first)
    for name in properties:
        query.projection.add().property.name = name
    if limit is not None:
        query.limit.value = limit
    return query


def distinct(kind: str, name: str, equal: Mapping[str, str | datetime]) -> Message:
    """Return a query for the different values of a property, in their order."""
    query = select(kind, equal, properties=[name])
    query.distinct_on.add().name = name
    query.order.add().property.name = name
    query.order[0].direction = TYPES.PropertyOrder.Direction.ASCENDING
    return query


def _direction(newest_first: bool) -> int:  # noqa: FBT001
    directions = TYPES.PropertyOrder.Direction
    return directions.DESCENDING if newest_first else directions.ASCENDING


def _add_filter(query: Message, name: str, operator: int, value: str | datetime) -> None:
    query.filter.composite_filter.op = TYPES.CompositeFilter.Operator.AND
    added = query.filter.composite_filter.filters.add().property_filter
    added.property.name = name
    added.op = operator
    if isinstance(value, datetime):
        set_moment(added.value.timestamp_value, value)
    else:
        added.value.string_value = indexed(value)
