"""The answers to queries: results, cut into messages that a client accepts, and aggregations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from tests.emulators.datastore import messages as m
from tests.emulators.datastore.answering import Found, Search
from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.messages import Entity, Key, Message, Value
from tests.emulators.datastore.ordering import Row
from tests.emulators.datastore.planning import Plan
from tests.emulators.datastore.refusals import invalid
from tests.emulators.datastore.store import Shelf, Store
from tests.emulators.datastore.values import decoded

#: Marks a value that came out of an index. Source: Google's emulator of 2025-06.
_FROM_INDEX = 18
_DIGEST = 4


def where(plan: Plan, store: Store) -> Shelf:
    """Return what a query looks through."""
    if plan.kind == "__kind__":
        return _names(plan.partition, "__kind__", store.kinds(plan.partition))
    if plan.kind == "__namespace__":
        return _names(plan.partition, "__namespace__", store.namespaces(plan.partition))
    if plan.kind is not None:
        return store.shelf(plan.partition, plan.kind)
    kinds = store.kinds(plan.partition)
    shelves = [store.shelf(plan.partition, kind) for kind in kinds]
    rows = {identity: row for shelf in shelves for identity, row in shelf.rows.items()}
    return Shelf(rows, version=max((shelf.version for shelf in shelves), default=0))


@dataclass(slots=True)
class Batch:
    """One message of a query's results.

    Args:
        query: What was asked for.
        max_bytes: It is not larger, but for its last result.
        max_results: Nor has it more results.
    """

    query: Message
    plan: Plan
    max_bytes: int
    max_results: int
    rows: list[Row] = field(default_factory=list[Row])
    _bytes: int = 0
    _digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._digest = self.plan.digest()

    def filled(self, search: Search) -> Message:
        """Return the message."""
        made = m.QueryResultBatch(entity_result_type=self._type())
        start, end = (
            self._place(given) for given in (self.query.start_cursor, self.query.end_cursor)
        )
        made.end_cursor = self.query.start_cursor or self._cursor(b"")
        limit = self.query.limit.value if self.query.HasField("limit") else None
        made.more_results = m.QueryResultBatch.NO_MORE_RESULTS
        for found in search.results(start, end if self.query.end_cursor else None):
            skips = made.skipped_results < self.query.offset
            if limit is not None and len(self.rows) >= limit and not skips:
                made.more_results = m.QueryResultBatch.MORE_RESULTS_AFTER_LIMIT
                return made
            if self._is_full(made.skipped_results):
                made.more_results = m.QueryResultBatch.NOT_FINISHED
                return made
            if skips:
                made.skipped_results += 1
                made.skipped_cursor = made.end_cursor = self._cursor(found.cursor)
                continue
            made.end_cursor = self._cursor(found.cursor)
            self._add(made.entity_results.add(cursor=made.end_cursor), found, search)
        if self.query.end_cursor:
            made.more_results = m.QueryResultBatch.MORE_RESULTS_AFTER_CURSOR
        return made

    def _type(self) -> int:
        if self.plan.keys_only:
            return m.EntityResult.KEY_ONLY
        return m.EntityResult.PROJECTION if self.plan.projection else m.EntityResult.FULL

    def _is_full(self, skipped: int) -> bool:
        return skipped + len(self.rows) >= self.max_results or self._bytes >= self.max_bytes

    def _add(self, result: Message, found: Found, search: Search) -> None:
        self.rows.append(found.row)
        self._bytes += 2 * len(found.place) + len(found.row.identity) + 64
        if not self.plan.projection:
            self._bytes += len(found.row.raw)
            add_row(result, found.row)
            return
        result.entity.key.MergeFromString(found.row.identity)
        _date(result, found.row)
        if not self.plan.keys_only:
            values = search.projected(found)
            for name in self.plan.projection:
                value = result.entity.properties[name]
                value.CopyFrom(decoded(values[name]))
                if value.HasField("key_value"):
                    value.key_value.partition_id.CopyFrom(result.entity.key.partition_id)
                value.meaning = _FROM_INDEX

    def _cursor(self, place: bytes) -> bytes:
        return self._digest + place

    def _place(self, cursor: bytes) -> bytes:
        if cursor and cursor[:_DIGEST] != self._digest:
            invalid("cursor does not match query")
        return cursor[_DIGEST:]


def add_row(result: Message, row: Row) -> None:
    """Write an entity into a result of a query or of a look-up."""
    result.entity.MergeFromString(row.raw)
    _date(result, row)


def _date(result: Message, row: Row) -> None:
    result.version = row.version
    m.set_micros(result.update_time, row.version)
    m.set_micros(result.create_time, row.created)


def aggregated(asked: Message, search: Search) -> Message:
    """Return the one result of an aggregation."""
    nested = asked.nested_query
    limit = nested.limit.value if nested.HasField("limit") else None
    stop = None if limit is None else nested.offset + limit
    rows = [found.row for found in islice(search.results(), nested.offset, stop)]
    made = m.AggregationResult()
    for number, each in enumerate(asked.aggregations, 1):
        value = made.aggregate_properties[each.alias or f"property_{number}"]
        match each.WhichOneof("operator"):
            case "count":
                most = each.count.up_to.value if each.count.HasField("up_to") else len(rows)
                value.integer_value = min(most, len(rows))
            case "sum":
                value.CopyFrom(_total(_numbers(rows, each.sum.property.name)))
            case "avg":
                numbers = _numbers(rows, each.avg.property.name)
                value.CopyFrom(_mean(numbers))
            case _:
                invalid("an aggregation must have an operator")
    return made


def _numbers(rows: Sequence[Row], name: str) -> list[float]:
    found: list[float] = []
    for row in rows:
        value = row.entity().properties.get(name)
        kind = value.WhichOneof("value_type") if value else None
        if kind in ("integer_value", "double_value"):
            found.append(getattr(value, kind))
    return found


def _total(numbers: Sequence[float]) -> Message:
    total = sum(numbers)
    return Value(double_value=total) if isinstance(total, float) else Value(integer_value=total)


def _mean(numbers: Sequence[float]) -> Message:
    if not numbers:
        return Value(null_value=0)
    return Value(double_value=math.fsum(numbers) / len(numbers))


def _names(partition: Partition, kind: str, names: list[str]) -> Shelf:
    """Return entities that are nothing but keys with these names, for queries on metadata."""
    shelf = Shelf()
    for name in names:
        key = Key(path=[{"kind": kind, "name": name} if name else {"kind": kind, "id": 1}])
        key.partition_id.project_id = partition.project
        key.partition_id.database_id = partition.database
        if kind == "__kind__":
            key.partition_id.namespace_id = partition.namespace
        row = Row(key.SerializeToString(), Entity(key=key).SerializeToString(), 0, 0)
        shelf.rows[row.identity] = row
    return shelf
