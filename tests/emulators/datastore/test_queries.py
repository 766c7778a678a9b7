"""What queries answer, and which need an index: the same from our server and from Google's."""

from typing import Any

import pytest
from google.api_core.exceptions import FailedPrecondition, InvalidArgument

from tests.emulators.datastore.conftest import compared, equal, found, names, put_all, start
from tests.emulators.datastore.fixture import Emulator

T0 = equal("test", "t0")
E1 = equal("entry", "e1")
SINCE = compared("start", ">=", start(1))


@pytest.fixture(scope="module")
def client(both: Emulator) -> Any:
    """A client of a server with six tests and, in them, twelve entries."""
    both.clear()
    client = both.client()
    tests = {
        f"t{n % 2}|{n}": {"test": f"t{n % 2}", "start": start(n), "info": "{}"} for n in range(6)
    }
    entries = {
        f"t{n % 2}|{n}": {
            "test": f"t{n % 2}",
            "entry": f"e{n % 3}",
            "start": start(n // 3),
            "timing": float(n),
            "info": "{}",
        }
        for n in range(12)
    }
    put_all(client, "Test", tests)
    put_all(client, "Entry", entries)
    return client


def micros(number: int) -> int:
    return int(start(number).timestamp()) * 1_000_000


def test_the_starts_of_a_test_come_as_microseconds_in_a_projection(client: Any) -> None:
    entities = found(client, "Test", T0, SINCE, projection=["start"])
    assert [dict(entity) for entity in entities] == [{"start": micros(2)}, {"start": micros(4)}]


def test_the_timings_of_an_entry_since_a_date(client: Any) -> None:
    entities = found(client, "Entry", T0, E1, SINCE, projection=["start", "timing"])
    assert [dict(entity) for entity in entities] == [
        {"start": micros(1), "timing": 4.0},
        {"start": micros(3), "timing": 10.0},
    ]


def test_with_a_limit_the_oldest_are_found(client: Any) -> None:
    assert names(found(client, "Test", T0, SINCE, projection=["start"], limit=1)) == ["t0|2"]


def test_the_names_of_tests_are_distinct(client: Any) -> None:
    entities = found(client, "Test", projection=["test"], distinct_on=["test"])
    assert [dict(entity) for entity in entities] == [{"test": "t0"}, {"test": "t1"}]


def test_a_test_of_a_start_is_found_by_joining_what_is_always_there(client: Any) -> None:
    (entity,) = found(client, "Test", T0, equal("start", start(2)))
    assert (entity.key.name, entity["start"]) == ("t0|2", start(2))


def test_a_query_may_end_earlier_than_its_index_begins_to_differ(client: Any) -> None:
    assert names(found(client, "Test", T0, order=["start"])) == ["t0|0", "t0|2", "t0|4"]
    assert names(found(client, "Test", T0, SINCE)) == ["t0|2", "t0|4"]
    assert names(found(client, "Entry", T0, E1, SINCE, projection=["timing"])) == ["t0|4", "t0|10"]
    assert names(found(client, "Test", order=["-start"], limit=1)) == ["t1|5"]
    assert len(found(client, "Entry", projection=["timing"])) == 12


@pytest.mark.parametrize(
    ("kind", "filters", "query"),
    [
        pytest.param("Test", [T0], {"order": ["-start"]}, id="latest"),
        pytest.param("Entry", [T0, E1, SINCE], {}, id="whole entries"),
        pytest.param(
            "Entry", [T0], {"projection": ["entry"], "distinct_on": ["entry"]}, id="entry names"
        ),
        pytest.param("Entry", [T0, SINCE], {}, id="entries of a test"),
        pytest.param("Entry", [T0, E1, compared("timing", ">=", 1.0)], {}, id="slow ones"),
        pytest.param("Entry", [T0, E1], {"projection": ["timing"]}, id="timings alone"),
        pytest.param("Entry", [], {"projection": ["start", "timing"]}, id="all timings"),
        pytest.param("Test", [], {"order": ["-__key__"]}, id="keys backwards"),
    ],
)
def test_what_no_index_answers_is_refused(
    client: Any, kind: str, filters: list[Any], query: dict[str, Any]
) -> None:
    with pytest.raises(FailedPrecondition):
        found(client, kind, *filters, **query)


def test_what_is_refused_recommends_an_index(server: Emulator) -> None:
    server.need_ours()
    with pytest.raises(FailedPrecondition) as refused:
        found(server.client(), "Test", T0, order=["-start"])
    assert refused.value.message == (
        "no matching index found. recommended index is:\n"
        "- kind: Test\n  properties:\n  - name: test\n  - name: start\n    direction: desc\n"
    )


@pytest.mark.parametrize(
    ("filters", "query"),
    [
        ([T0], {"projection": ["test"]}),
        ([], {"projection": ["test", "test"]}),
        ([], {"projection": ["test", "start"], "distinct_on": ["test"], "order": ["start"]}),
    ],
)
def test_what_is_no_query_is_refused(
    client: Any, filters: list[Any], query: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        found(client, "Test", *filters, **query)


def test_a_filter_needs_a_kind(client: Any) -> None:
    with pytest.raises(InvalidArgument, match="kind is required"):
        found(client, None, T0)


def test_what_is_not_in_an_index_is_not_found(client: Any) -> None:
    assert found(client, "Test", equal("info", "{}")) == []
    assert found(client, "Test", projection=["info"]) == []


def test_keys_are_compared_and_sorted(client: Any) -> None:
    after = client.key("Test", "t0|2")
    above = compared("__key__", ">", after)
    assert names(found(client, "Test", above)) == ["t0|4", "t1|1", "t1|3", "t1|5"]
    assert names(found(client, "Test", T0, above)) == ["t0|4"]
    assert len(found(client, None)) >= 18


@pytest.mark.parametrize(
    ("limit", "offset", "expected"),
    [(0, 0, []), (2, 0, ["t0|0", "t0|2"]), (None, 4, ["t1|3", "t1|5"]), (5, 40, [])],
)
def test_limit_and_offset(client: Any, limit: int | None, offset: int, expected: list[str]) -> None:
    query = client.query(kind="Test")
    assert names(list(query.fetch(limit=limit, offset=offset))) == expected


def test_a_cursor_goes_on_where_a_page_ended(client: Any) -> None:
    query = client.query(kind="Test")
    first = query.fetch(limit=2)
    assert names(list(next(first.pages))) == ["t0|0", "t0|2"]
    rest = query.fetch(start_cursor=first.next_page_token)
    assert names(list(rest)) == ["t0|4", "t1|1", "t1|3", "t1|5"]


GQL = [
    (
        "SELECT start FROM Test WHERE test = @test AND start >= @start",
        [{"start": micros(2)}, {"start": micros(4)}],
    ),
    (
        "SELECT start, timing FROM Entry WHERE test = @test AND entry = @entry AND start >= @start",
        [{"start": micros(1), "timing": 4.0}, {"start": micros(3), "timing": 10.0}],
    ),
    ("SELECT DISTINCT ON (test) test FROM Test", [{"test": "t0"}, {"test": "t1"}]),
]


@pytest.mark.parametrize(("text", "expected"), GQL)
def test_the_queries_may_be_said_in_gql(
    client: Any, text: str, expected: list[dict[str, Any]]
) -> None:
    bindings = {
        "test": {"value": {"string_value": "t0"}},
        "entry": {"value": {"string_value": "e1"}},
        "start": {"value": {"timestamp_value": start(1)}},
    }
    used = {name: value for name, value in bindings.items() if f"@{name}" in text}
    gql = {"query_string": text, "named_bindings": used, "allow_literals": False}
    answer = client._datastore_api.run_query(
        request={
            "project_id": client.project,
            "partition_id": {"project_id": client.project},
            "gql_query": gql,
        }
    )
    results = [result.entity.properties for result in answer.batch.entity_results]
    assert [
        {
            name: value.integer_value or value.double_value or value.string_value
            for name, value in properties.items()
        }
        for properties in results
    ] == expected
