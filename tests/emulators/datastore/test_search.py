"""Queries of all kinds, held against looking at each entity."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.emulators.datastore import messages as m
from tests.emulators.datastore.indexes import Indexes
from tests.emulators.datastore.service import Service

PROJECT = "p"
NUMBERS = st.integers(-2, 2)
ALWAYS: dict[str, Any] = {"a": NUMBERS, "b": NUMBERS}
SOMETIMES: dict[str, Any] = {"c": NUMBERS}
ENTITY: st.SearchStrategy[dict[str, int]] = st.fixed_dictionaries(ALWAYS, optional=SOMETIMES)
ENTITIES = st.lists(ENTITY, max_size=12)
OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "EQUAL": lambda one, other: one == other,
    "LESS_THAN": lambda one, other: one < other,
    "LESS_THAN_OR_EQUAL": lambda one, other: one <= other,
    "GREATER_THAN": lambda one, other: one > other,
    "GREATER_THAN_OR_EQUAL": lambda one, other: one >= other,
    "NOT_EQUAL": lambda one, other: one != other,
}
PROPERTIES = st.sampled_from("abc")
FILTERS = st.lists(st.tuples(PROPERTIES, st.sampled_from([*OPERATORS]), NUMBERS), max_size=3)
ORDERS = st.lists(st.tuples(PROPERTIES, st.booleans()), max_size=2, unique_by=lambda each: each[0])


def stored(entities: Sequence[dict[str, int]], batch_results: int) -> Service:
    service = Service(Indexes(None), batch_results=batch_results)
    request = m.CommitRequest(project_id=PROJECT, mode="NON_TRANSACTIONAL")
    for number, properties in enumerate(entities, 1):
        entity = request.mutations.add().upsert
        entity.key.path.add(kind="K", id=number)
        for name, value in properties.items():
            entity.properties[name].integer_value = value
    service.calls()["Commit"](request.SerializeToString(), "")
    return service


def asked(service: Service, query: Any) -> list[int]:
    """Return the ids of all results, batch after batch as a client does."""
    ids: list[int] = []
    request = m.RunQueryRequest(project_id=PROJECT, query=query)
    while True:
        answer = service.calls()["RunQuery"](request.SerializeToString(), "")
        batch = m.RunQueryResponse.FromString(answer).batch
        ids.extend(result.entity.key.path[0].id for result in batch.entity_results)
        if batch.more_results != m.QueryResultBatch.NOT_FINISHED:
            return ids
        request.query.start_cursor = batch.end_cursor
        request.query.offset -= batch.skipped_results
        if query.HasField("limit"):
            request.query.limit.value = query.limit.value - len(ids)


@given(ENTITIES, FILTERS, ORDERS, st.integers(0, 4), st.none() | st.integers(0, 6))
def test_a_query_finds_what_looking_finds(
    entities: list[dict[str, int]],
    filters: list[tuple[str, str, int]],
    orders: list[tuple[str, bool]],
    offset: int,
    limit: int | None,
) -> None:
    query = m.Query(kind=[{"name": "K"}], offset=offset)
    if limit is not None:
        query.limit.value = limit
    for name, operator, value in filters:
        query.filter.composite_filter.op = m.CompositeFilter.AND
        each = query.filter.composite_filter.filters.add().property_filter
        each.property.name, each.value.integer_value = name, value
        each.op = m.PropertyFilter.Operator.Value(operator)
    for name, down in orders:
        direction = m.PropertyOrder.DESCENDING if down else m.PropertyOrder.ASCENDING
        query.order.add(direction=direction).property.name = name
    wanted = looked(entities, filters, orders)
    end = None if limit is None else offset + limit
    assert asked(stored(entities, batch_results=3), query) == wanted[offset:end]


def looked(
    entities: Sequence[dict[str, int]],
    filters: Sequence[tuple[str, str, int]],
    orders: Sequence[tuple[str, bool]],
) -> list[int]:
    needed = {name for name, *_ in filters} | {name for name, _ in orders}
    compared = sorted({name for name, operator, _ in filters if operator != "EQUAL"})
    fixed = {name for name, operator, _ in filters if operator == "EQUAL"}
    sorting = [*orders, *((name, False) for name in compared)]
    kept = [
        number
        for number, entity in enumerate(entities, 1)
        if needed <= entity.keys()
        and all(OPERATORS[operator](entity[name], value) for name, operator, value in filters)
    ]
    for name, down in reversed(sorting):
        if name not in fixed:
            kept.sort(key=lambda number: entities[number - 1][name], reverse=down)
    return kept


@given(ENTITIES, NUMBERS, NUMBERS)
def test_one_of_several_filters_is_enough(
    entities: list[dict[str, int]], one: int, other: int
) -> None:
    query = m.Query(kind=[{"name": "K"}])
    either = query.filter.composite_filter
    either.op = m.CompositeFilter.OR
    for name, value in (("a", one), ("b", other)):
        each = either.filters.add().property_filter
        each.property.name, each.op, each.value.integer_value = name, m.PropertyFilter.EQUAL, value
    numbered = enumerate(entities, 1)
    wanted = [number for number, each in numbered if each["a"] == one or each["b"] == other]
    assert asked(stored(entities, batch_results=3), query) == wanted


@given(ENTITIES)
def test_each_combination_comes_once(entities: list[dict[str, int]]) -> None:
    query = m.Query(kind=[{"name": "K"}])
    for name in "ab":
        query.distinct_on.add().name = name
        query.projection.add().property.name = name
    ids = asked(stored(entities, batch_results=2), query)
    values = [(entities[number - 1]["a"], entities[number - 1]["b"]) for number in ids]
    assert values == sorted({(each["a"], each["b"]) for each in entities})


def test_an_entity_with_several_values_is_found_once_and_projected_for_each() -> None:
    service = Service(Indexes(None))
    request = m.CommitRequest(project_id=PROJECT, mode="NON_TRANSACTIONAL")
    entity = request.mutations.add().upsert
    entity.key.path.add(kind="K", id=1)
    for value in (3, 1, 3):
        entity.properties["a"].array_value.values.add().integer_value = value
    service.calls()["Commit"](request.SerializeToString(), "")
    query = m.Query(kind=[{"name": "K"}], order=[{"property": {"name": "a"}}])
    assert asked(service, query) == [1]
    query.projection.add().property.name = "a"
    assert asked(service, query) == [1, 1]


def test_an_index_follows_what_is_changed_and_deleted() -> None:
    service = stored([{"a": 1}, {"a": 2}, {"a": 3}], batch_results=300)
    query = m.Query(kind=[{"name": "K"}], order=[{"property": {"name": "a"}}])
    assert asked(service, query) == [1, 2, 3]
    request = m.CommitRequest(project_id=PROJECT, mode="NON_TRANSACTIONAL")
    entity = request.mutations.add().upsert
    entity.key.path.add(kind="K", id=1)
    entity.properties["a"].integer_value = 9
    request.mutations.add().delete.path.add(kind="K", id=2)
    service.calls()["Commit"](request.SerializeToString(), "")
    assert asked(service, query) == [3, 1]
