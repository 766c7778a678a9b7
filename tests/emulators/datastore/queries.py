"""Queries: what they mean, which index they need, and what they find.

A query finds the entities that have all of its properties, indexed. It is answered by looking at
each entity of the kind.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import grpc
import yaml

from tests.emulators.datastore.protocol import (
    CompositeFilter,
    Message,
    PropertyFilter,
    PropertyOrder,
    RefusedError,
    Value,
    invalid,
    only,
    unknown,
)
from tests.emulators.datastore.store import Row

#: Orders any two values: the rank of the type, and what it is sorted by among its type.
Sortable = tuple[int, Any]
_OPERATORS: dict[int, Callable[[Sortable, Sortable], bool]] = {
    PropertyFilter.EQUAL: operator.eq,
    PropertyFilter.LESS_THAN: operator.lt,
    PropertyFilter.LESS_THAN_OR_EQUAL: operator.le,
    PropertyFilter.GREATER_THAN: operator.gt,
    PropertyFilter.GREATER_THAN_OR_EQUAL: operator.ge,
}
#: Marks a value that came out of an index. Source: Google's emulator of 2025-06.
_FROM_INDEX = 18


class Column(NamedTuple):
    """What results, and an index, are sorted by."""

    name: str
    descending: bool = False


class Condition(NamedTuple):
    """One filter on one property."""

    name: str
    operator: int
    value: Sortable


def sortable(value: Message) -> Sortable:
    """Return what sorts as Datastore sorts values.

    An index cannot tell integers from timestamps.
    Source: Google's emulators of 2025-06, of Datastore and of Firestore, by trying.

    Raises:
        RefusedError: If this server does not compare such values.
    """
    match value.WhichOneof("value_type"):
        case "integer_value":
            return 1, value.integer_value
        case "timestamp_value":
            return 1, _micros(value)
        case "string_value":
            return 3, value.string_value.encode()
        case "double_value":
            number = value.double_value
            is_nan = math.isnan(number)
            return 4, (is_nan, 0.0 if is_nan else number, is_nan or math.copysign(1, number))
        case other:
            raise unknown(f"how {other} sorts")


@dataclass(frozen=True, slots=True)
class Plan:
    """A query, taken apart.

    Args:
        orders: What was asked for, without what is held equal.
        projection: The wanted properties; none for whole entities.
        distinct: The properties of which each combination is wanted once.
    """

    kind: str
    conditions: tuple[Condition, ...]
    orders: tuple[Column, ...]
    projection: tuple[str, ...]
    distinct: tuple[str, ...]

    @classmethod
    def of(cls, query: Message) -> Self:
        """Take a query apart.

        Raises:
            RefusedError: If it is none, or none that this server knows.
        """
        known = ("kind", "filter", "order", "projection", "distinct_on", "start_cursor", "limit")
        only(query, *known)
        if len(query.kind) != 1:
            invalid("kind is required for filter and order")
        conditions = tuple(_conditions(query))
        equal = {each.name for each in conditions if each.operator == PropertyFilter.EQUAL}
        orders = [
            Column(each.property.name, each.direction == PropertyOrder.DESCENDING)
            for each in query.order
            if each.property.name not in equal
        ]
        projection = tuple(each.property.name for each in query.projection)
        distinct = tuple(each.name for each in query.distinct_on)
        named = {*(each.name for each in (*conditions, *orders)), *projection, *distinct}
        if "__key__" in named:
            raise unknown("queries for keys")
        if query.limit.value < 0:
            invalid("Limit must be non-negative.")
        if len(set(projection)) < len(projection):
            invalid("cannot project a property multiple times")
        if equal & set(projection):
            invalid("cannot use projection on a property with an equality filter")
        if orders and {each.name for each in orders[: len(distinct)]} - set(distinct):
            invalid("must specify all group by orderings before any non group by orderings")
        return cls(query.kind[0].name, conditions, tuple(orders), projection, distinct)

    @property
    def equal(self) -> frozenset[str]:
        """What is held equal to something."""
        found = (each for each in self.conditions if each.operator == PropertyFilter.EQUAL)
        return frozenset(each.name for each in found)

    @property
    def sorted_by(self) -> tuple[Column, ...]:
        """The order that was asked for, and then that of what is compared."""
        orders = self.orders
        if not orders and set(self.distinct) != set(self.projection):
            orders = tuple(map(Column, self.distinct))
        return _with(orders, sorted({each.name for each in self.conditions} - self.equal))

    def results(self, rows: Sequence[Row]) -> list[Row]:
        """Return what is found, in order; of what is to be distinct the first."""
        names = {each.name for each in (*self.conditions, *self.orders)}
        names |= {*self.projection, *self.distinct}
        indexed = [(row, _indexed(row, names)) for row in sorted(rows, key=_key)]
        found = [(row, values) for row, values in indexed if self._admits(names, values)]
        columns = _with(self.sorted_by, [*self.distinct, *self.projection])
        for column in reversed(columns):
            found.sort(key=lambda each, name=column.name: each[1][name], reverse=column.descending)
        if not self.distinct:
            return [row for row, _ in found]
        groups: dict[tuple[Sortable, ...], Row] = {}
        for row, values in found:
            groups.setdefault(tuple(values[name] for name in self.distinct), row)
        return list(groups.values())

    def write(self, result: Message, row: Row) -> None:
        """Write a row into the result of a query: whole, or as an index has it."""
        result.version = row.version
        if not self.projection:
            result.entity.CopyFrom(row.entity)
            return
        result.entity.key.CopyFrom(row.entity.key)
        for name in self.projection:
            value = row.entity.properties[name]
            if value.WhichOneof("value_type") == "timestamp_value":
                value = Value(integer_value=_micros(value))
            result.entity.properties[name].CopyFrom(value)
            result.entity.properties[name].meaning = _FROM_INDEX

    def _admits(self, names: set[str], values: dict[str, Sortable]) -> bool:
        return values.keys() == names and all(
            _OPERATORS[each.operator](values[each.name], each.value) for each in self.conditions
        )


def _with(columns: tuple[Column, ...], names: Sequence[str]) -> tuple[Column, ...]:
    known = {each.name for each in columns}
    return *columns, *(Column(name) for name in dict.fromkeys(names) if name not in known)


def _conditions(query: Message) -> list[Condition]:
    if not query.HasField("filter"):
        return []
    composite = query.filter.composite_filter
    filters = [query.filter]
    if query.filter.WhichOneof("filter_type") == "composite_filter":
        if composite.op != CompositeFilter.AND:
            raise unknown("OR")
        filters = composite.filters
    return [_condition(each.property_filter) for each in filters]


def _condition(given: Message) -> Condition:
    if given.op not in _OPERATORS:
        raise unknown(f"operator {given.op}")
    return Condition(given.property.name, given.op, sortable(given.value))


def _indexed(row: Row, names: set[str]) -> dict[str, Sortable]:
    properties = row.entity.properties
    return {
        name: sortable(properties[name])
        for name in names
        if name in properties and not properties[name].exclude_from_indexes
    }


def _key(row: Row) -> list[tuple[str, bool, int, str]]:
    """Return what keys are sorted by: ids before names."""
    path = row.entity.key.path
    return [(each.kind, bool(each.name), each.id, each.name) for each in path]


def _micros(value: Message) -> int:
    at = value.timestamp_value
    return at.seconds * 1_000_000 + at.nanos // 1000


class Index(NamedTuple):
    """A composite index."""

    kind: str
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        columns = (f"{name} desc" if descending else name for name, descending in self.columns)
        return f"{self.kind}: {', '.join(columns)}"

    def answers(self, needed: Self, equal: int, sorted_by: int) -> bool:
        """Tell whether it is as good as the one that a query needs.

        Args:
            equal: How many columns it begins with, in any order.
            sorted_by: How many come then; the rest is in any order again.
        """
        end = equal + sorted_by
        parts = (slice(equal), slice(end, None))
        return (
            self.kind == needed.kind
            and self.columns[equal:end] == needed.columns[equal:end]
            and all(set(self.columns[part]) == set(needed.columns[part]) for part in parts)
        )


def read_indexes(path: Path) -> list[Index]:
    """Read the composite indexes of an index.yaml."""
    document: dict[str, list[dict[str, Any]]] = yaml.safe_load(path.read_text("utf-8")) or {}
    found: list[Index] = []
    for given in document.get("indexes") or ():
        columns = (
            Column(each["name"], str(each.get("direction", "asc")).startswith("desc"))
            for each in given["properties"]
        )
        found.append(Index(given["kind"], tuple(columns)))
    return found


def check_index(plan: Plan, known: Sequence[Index]) -> None:
    """Refuse a query that no index answers.

    Queries on one property, and those that only hold properties equal, need none. The real service
    also joins several indexes for one query; this one does not.
    Source: https://cloud.google.com/datastore/docs/concepts/indexes

    Raises:
        RefusedError: If so; it says which index would.
    """
    equal, sorted_by = sorted(plan.equal), plan.sorted_by
    sorted_names = {each.name for each in sorted_by}
    projected = sorted(set(plan.projection) - sorted_names)
    if len({*equal, *sorted_names, *projected}) < 2 or not (sorted_by or projected):
        return
    needed = Index(plan.kind, (*map(Column, equal), *sorted_by, *map(Column, projected)))
    if not any(each.answers(needed, len(equal), len(sorted_by)) for each in known):
        text = f"no matching index found. recommended index is {needed}"
        raise RefusedError(grpc.StatusCode.FAILED_PRECONDITION, text)
