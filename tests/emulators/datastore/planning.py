"""A query, taken apart: what finds its results in an index, and what is left to look at each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from tests.emulators.datastore.keys import Partition, check
from tests.emulators.datastore.messages import (
    CompositeFilter,
    Message,
    PropertyFilter,
    PropertyOrder,
)
from tests.emulators.datastore.ordering import KEY, Column, Signature
from tests.emulators.datastore.refusals import invalid
from tests.emulators.datastore.values import beginning_below, encoded

_LESS, _AT_MOST = PropertyFilter.LESS_THAN, PropertyFilter.LESS_THAN_OR_EQUAL
_MORE, _AT_LEAST = PropertyFilter.GREATER_THAN, PropertyFilter.GREATER_THAN_OR_EQUAL
_IN, _NOT_IN, _NOT_EQUAL = PropertyFilter.IN, PropertyFilter.NOT_IN, PropertyFilter.NOT_EQUAL
RANGES = (_LESS, _AT_MOST, _MORE, _AT_LEAST)


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter on one property.

    Args:
        operator: As ``PropertyFilter.Operator``.
        values: The values' bytes; one but for IN and NOT_IN.
    """

    name: str
    operator: int
    values: tuple[bytes, ...]

    def admits(self, found: Sequence[bytes]) -> bool:
        """Tell whether an entity with these values of the property is wanted."""
        if self.operator in (_NOT_EQUAL, _NOT_IN):
            return bool(found) and not set(found) & set(self.values)
        return any(self.admits_value(value) for value in found)

    def admits_value(self, found: bytes) -> bool:
        """Tell whether one value is wanted."""
        bound = self.values[0]
        match self.operator:
            case PropertyFilter.LESS_THAN:
                return found < bound
            case PropertyFilter.LESS_THAN_OR_EQUAL:
                return found <= bound
            case PropertyFilter.GREATER_THAN:
                return found > bound
            case PropertyFilter.GREATER_THAN_OR_EQUAL:
                return found >= bound
            case _:
                return found in self.values


@dataclass(frozen=True, slots=True)
class Either:
    """Filters of which one must hold.

    Args:
        branches: Each the filters that must hold together.
    """

    branches: tuple[tuple["Condition | Either", ...], ...]

    def names(self) -> Iterator[str]:
        """Yield the properties that are looked at."""
        for branch in self.branches:
            for each in branch:
                yield from (each.name,) if isinstance(each, Condition) else each.names()


@dataclass(slots=True)
class Plan:
    """A query.

    Args:
        kind: None for entities of all kinds.
        ancestor: What the bytes of the wanted keys begin with.
        equal: What must equal one value.
        ranges: What must be below or above one.
        others: All other filters.
        orders: The order that was asked for, without what is pointless.
        projection: The wanted properties; none for whole entities.
        distinct: The properties of which each combination is wanted once.
    """

    partition: Partition
    kind: str | None
    ancestor: bytes | None = None
    equal: list[Condition] = field(default_factory=list[Condition])
    ranges: list[Condition] = field(default_factory=list[Condition])
    others: list[Condition | Either] = field(default_factory=list["Condition | Either"])
    orders: list[Column] = field(default_factory=list[Column])
    projection: list[str] = field(default_factory=list[str])
    distinct: list[str] = field(default_factory=list[str])

    @property
    def keys_only(self) -> bool:
        """Whether only keys are wanted."""
        return self.projection == [KEY]

    def columns(self) -> tuple[Column, ...]:
        """Return what the results are sorted by; the key comes last."""
        given = list(self.orders)
        fixed = {each.name for each in self.equal}
        filtered = sorted({each.name for each in self.ranges} | set(self._unequal()))
        for name in (*self.distinct, *filtered, *self.projection):
            if name not in fixed and name not in (column.name for column in given):
                given.append(Column(name))
        return tuple(_up_to_key(given))

    def signature(self) -> Signature:
        """Return which index finds the results."""
        return Signature(tuple(each.name for each in self.equal), self.columns())

    def beginning(self) -> bytes:
        """Return what the entries of the results begin with."""
        return b"".join(each.values[0] for each in self.equal)

    def digest(self) -> bytes:
        """Return what tells the cursors of this query from those of others."""
        told = repr((self.kind, self.signature(), self.beginning()))
        return blake2b(told.encode(), digest_size=4).digest()

    def _unequal(self) -> Iterator[str]:
        for each in self.others:
            if isinstance(each, Condition) and each.operator in (_NOT_EQUAL, _NOT_IN):
                yield each.name


def planned(query: Message, partition: Partition) -> Plan:
    """Take a query apart.

    Raises:
        RefusedError: If it is none.
    """
    if len(query.kind) > 1:
        invalid("a query may have at most one kind")
    if query.HasField("find_nearest"):
        invalid("this server finds nothing nearest")
    plan = Plan(partition, query.kind[0].name if query.kind else None)
    if query.HasField("filter"):
        _add_filters(plan, _conjunction(query.filter))
    plan.projection = [each.property.name for each in query.projection]
    plan.distinct = [each.name for each in query.distinct_on]
    fixed = {each.name for each in plan.equal}
    asked = (_column(order) for order in query.order)
    plan.orders = _up_to_key(
        _once(column for column in asked if column.name not in fixed), key=False
    )
    _check(plan, query)
    return plan


def _add_filters(plan: Plan, filters: Iterable["Message | Condition | Either"]) -> None:
    for each in filters:
        if isinstance(each, Either):
            plan.others.append(each)
        elif not isinstance(each, Condition):
            plan.ancestor = beginning_below(each)
        elif each.operator == PropertyFilter.EQUAL:
            plan.equal.append(each)
        else:
            (plan.ranges if each.operator in RANGES else plan.others).append(each)
    plan.equal = sorted(set(plan.equal), key=lambda each: (each.name, each.values))


def _conjunction(given: Message) -> Iterator["Message | Condition | Either"]:
    """Yield the filters that must hold together: conditions, alternatives, or an ancestor's key."""
    match given.WhichOneof("filter_type"):
        case "composite_filter":
            composite = given.composite_filter
            if composite.op == CompositeFilter.OR:
                yield Either(tuple(tuple(_conjunction(each)) for each in composite.filters))
            elif composite.op == CompositeFilter.AND:
                for each in composite.filters:
                    yield from _conjunction(each)
            else:
                invalid("a composite filter must have an operator")
        case "property_filter":
            yield _condition(given.property_filter)
        case _:
            invalid("a filter must have exactly one of its fields set")


def _condition(given: Message) -> "Message | Condition":
    name, operator, value = given.property.name, given.op, given.value
    if operator == PropertyFilter.HAS_ANCESTOR:
        check(value.key_value)
        return value.key_value
    if operator == PropertyFilter.OPERATOR_UNSPECIFIED:
        invalid("a property filter must have an operator")
    several = value.WhichOneof("value_type") == "array_value"
    if several != (operator in (_IN, _NOT_IN)):
        invalid(f"a filter on '{name}' needs {'one value' if several else 'an array of values'}")
    if name == KEY and not several and value.WhichOneof("value_type") != "key_value":
        invalid("__key__ filter value must be a Key")
    values = tuple(map(encoded, value.array_value.values)) if several else (encoded(value),)
    if operator == _IN and len(values) == 1:
        operator = PropertyFilter.EQUAL
    return Condition(name, operator, values)


def _column(order: Message) -> Column:
    return Column(order.property.name, order.direction == PropertyOrder.DESCENDING)


def _once(columns: Iterable[Column]) -> Iterator[Column]:
    names: set[str] = set()
    for column in columns:
        if column.name not in names:
            names.add(column.name)
            yield column


def _up_to_key(columns: Iterable[Column], *, key: bool = True) -> list[Column]:
    """Cut columns after the key, which leaves nothing to sort; add it if it is not there."""
    kept: list[Column] = []
    for column in columns:
        kept.append(column)
        if column.name == KEY:
            return kept
    return [*kept, Column(KEY)] if key else kept


def _check(plan: Plan, query: Message) -> None:
    if query.limit.value < 0:
        invalid("Limit must be non-negative.")
    if query.offset < 0:
        invalid("Offset must be non-negative.")
    if len(set(plan.projection)) < len(plan.projection):
        invalid("cannot project a property multiple times")
    fixed = {each.name for each in plan.equal}
    if fixed.intersection(plan.projection):
        invalid("cannot use projection on a property with an equality filter")
    if plan.kind is None and any(each.name != KEY for each in (*plan.equal, *plan.ranges)):
        invalid("kind is required for filter: " + (plan.equal + plan.ranges)[0].name)
    if plan.kind is None and any(each != Column(KEY) for each in plan.orders):
        invalid("kind is required for all orders except __key__ ascending")
    heads = {column.name for column in plan.orders[: len(plan.distinct)]}
    if plan.orders and plan.distinct and heads - set(plan.distinct):
        invalid("must specify all group by orderings before any non group by orderings")
