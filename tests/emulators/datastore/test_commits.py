"""Commits and transactions through Google's client: the same from our server and from Google's."""

from datetime import datetime
from typing import Any

import pytest
from google.api_core.exceptions import (
    Aborted,
    AlreadyExists,
    GoogleAPICallError,
    InvalidArgument,
    NotFound,
)

from tests.emulators.datastore.conftest import compared, equal, found, names, put, put_all, start
from tests.emulators.datastore.fixture import Emulator


@pytest.fixture
def client(both: Emulator) -> Any:
    both.clear()
    return both.client()


def commit(client: Any, *mutations: dict[str, Any], **others: Any) -> Any:
    request = {"project_id": client.project, "mode": "NON_TRANSACTIONAL", **others}
    return client._datastore_api.commit(request={**request, "mutations": mutations})


def entity(name: str | None = "a", **properties: int) -> dict[str, Any]:
    path = [{"kind": "K", "name": name} if name else {"kind": "K"}]
    values = {name: {"integer_value": value} for name, value in properties.items()}
    return {"key": {"path": path}, "properties": values}


def test_what_was_stored_is_read_back(client: Any) -> None:
    put(client, "Test", "a", test="t", start=start(3), timing=1.5, info="{}", none=None)
    read = client.get(client.key("Test", "a"))
    assert dict(read) == {"test": "t", "start": start(3), "timing": 1.5, "info": "{}", "none": None}
    assert read.exclude_from_indexes == {"info"}


def test_a_naive_time_is_utc_and_microseconds_are_kept(client: Any) -> None:
    put(client, "Test", "a", start=datetime(2023, 11, 14, 0, 0, 3, 7))  # noqa: DTZ001 - the point
    assert client.get(client.key("Test", "a"))["start"] == start(3).replace(microsecond=7)


def test_the_same_name_again_is_one_entity_and_no_name_is_another_one(client: Any) -> None:
    for _ in range(2):
        put(client, "Test", "a", test="t")
        assert put(client, "Test", test="t").key.id
    assert len(found(client, "Test")) == 3


def test_an_entity_is_inserted_once_and_updated_if_it_is_there(client: Any) -> None:
    with pytest.raises(NotFound, match="no entity to update"):
        commit(client, {"update": entity()})
    commit(client, {"insert": entity()})
    with pytest.raises(AlreadyExists, match="entity already exists"):
        commit(client, {"insert": entity()})
    commit(client, {"update": entity(a=2)})
    assert client.get(client.key("K", "a"))["a"] == 2


def test_what_is_deleted_is_not_found_and_may_be_deleted_again(client: Any) -> None:
    put(client, "Test", "a", test="t")
    for _ in range(2):
        client.delete(client.key("Test", "a"))
    assert client.get(client.key("Test", "a")) is None
    assert found(client, "Test", equal("test", "t")) == []


def test_a_commit_in_a_transaction_is_done_whole_or_not_at_all(client: Any) -> None:
    mutations = {"upsert": entity("b")}, {"update": entity("a")}
    once: dict[str, Any] = {"read_write": {}}
    with pytest.raises(NotFound):
        commit(client, *mutations, mode="TRANSACTIONAL", single_use_transaction=once)
    assert client.get(client.key("K", "b")) is None


def test_an_entity_is_there_once_in_a_commit_without_a_transaction(client: Any) -> None:
    with pytest.raises(InvalidArgument, match="multiple mutations affecting the same entity"):
        commit(client, {"upsert": entity()}, {"delete": entity()["key"]})


def test_a_commit_says_whether_it_is_in_a_transaction(client: Any) -> None:
    with pytest.raises(InvalidArgument, match="transactional commit requires a transaction"):
        commit(client, {"upsert": entity()}, mode="TRANSACTIONAL")


def test_a_transaction_that_read_what_was_changed_since_is_aborted(client: Any) -> None:
    put(client, "Test", "a", test="before")
    transaction = client.transaction()
    transaction.begin()
    read = client.get(client.key("Test", "a"), transaction=transaction)
    put_outside(client, "a", test="meanwhile")
    read["test"] = "mine"
    transaction.put(read)
    with pytest.raises(Aborted):
        transaction.commit()
    assert client.get(client.key("Test", "a"))["test"] == "meanwhile"


def put_outside(client: Any, name: str, **properties: Any) -> None:
    """Store an entity past the client's open transaction."""
    key = {"path": [{"kind": "Test", "name": name}]}
    values = {name: {"string_value": value} for name, value in properties.items()}
    commit(client, {"upsert": {"key": key, "properties": values}})


def test_a_transaction_does_not_see_what_it_writes(client: Any) -> None:
    with client.transaction() as transaction:
        put(client, "Test", "a", test="t")
        assert client.get(client.key("Test", "a"), transaction=transaction) is None
    assert client.get(client.key("Test", "a"))["test"] == "t"


def test_a_transaction_is_over_after_its_end(client: Any) -> None:
    api = client._datastore_api
    opened = api.begin_transaction(request={"project_id": client.project}).transaction
    commit(client, {"upsert": entity()}, mode="TRANSACTIONAL", transaction=opened)
    with pytest.raises(InvalidArgument):
        commit(client, {"upsert": entity()}, mode="TRANSACTIONAL", transaction=opened)
    with pytest.raises(InvalidArgument):
        commit(client, {"upsert": entity()}, mode="TRANSACTIONAL", transaction=b"never opened")


def test_a_transaction_that_only_reads_writes_nothing(client: Any) -> None:
    options: dict[str, Any] = {"read_only": {}}
    request = {"project_id": client.project, "transaction_options": options}
    opened = client._datastore_api.begin_transaction(request=request).transaction
    with pytest.raises(InvalidArgument, match="read-only transaction"):
        commit(client, {"upsert": entity()}, mode="TRANSACTIONAL", transaction=opened)


def test_ids_are_given_once(client: Any) -> None:
    keys = client.allocate_ids(client.key("K"), 40)
    assert len({key.id for key in keys}) == 40
    client.reserve_ids_multi([client.key("K", 77)])


def test_namespaces_are_apart(client: Any, both: Emulator) -> None:
    other = both.client(namespace="other")
    put(client, "Test", "a", test="t")
    put(other, "Test", "b", test="t")
    assert names(found(client, "Test", equal("test", "t"))) == ["a"]
    assert names(found(other, "Test", equal("test", "t"))) == ["b"]
    assert other.get(other.key("Test", "a")) is None


def test_what_is_below_a_key_is_found(client: Any) -> None:
    above = client.key("Test", "a")
    put_all(client, "Test", {"a": {}, "b": {}})
    below = client.entity(key=client.key("Entry", "c", parent=above))
    client.put(below)
    assert names(found(client, "Entry", ancestor=above)) == ["c"]
    assert names(found(client, None, ancestor=above)) == ["a", "c"]
    assert found(client, "Entry", ancestor=client.key("Test", "b")) == []


def test_kinds_are_listed(client: Any) -> None:
    put(client, "Test", "a")
    put(client, "Entry", "b")
    assert names(found(client, "__kind__")) == ["Entry", "Test"]


@pytest.mark.slow
def test_many_results_come_in_several_answers(client: Any) -> None:
    put_all(client, "Test", {f"n{n:04}": {"test": "t"} for n in range(499)})
    put_all(client, "Test", {f"n{n:04}": {"test": "t"} for n in range(499, 998)})
    assert len(found(client, "Test", equal("test", "t"))) == 998
    query = client.query(kind="Test")
    assert len(list(query.fetch(offset=900))) == 98
    assert len(list(query.fetch(limit=400))) == 400


def test_types_sort_in_their_order(client: Any) -> None:
    values: dict[str, Any] = {
        "nan": float("nan"),
        "float": -1.5,
        "text": "a",
        "true": True,
        "time": start(0),
        "number": 7,
        "null": None,
    }
    put_all(client, "V", {name: {"v": value} for name, value in values.items()})
    put(client, "V", "absent", w=1)
    assert names(found(client, "V", order=["v"])) == [
        *("null", "number", "time", "true", "text", "float", "nan")
    ]
    client.delete_multi([client.key("V", name) for name in (*values, "absent")])


def test_a_comparison_reaches_into_the_types_behind(client: Any) -> None:
    put_all(client, "V", {"number": {"v": 7}, "float": {"v": 0.0}, "nan": {"v": float("nan")}})
    assert names(found(client, "V", compared("v", ">=", 0.0))) == ["float", "nan"]


def test_results_are_counted(client: Any, both: Emulator) -> None:
    put_all(client, "Test", {name: {"n": 2} for name in "abc"})
    counting = (
        client.aggregation_query(client.query(kind="Test")).count(alias="all").sum("n", alias="sum")
    )
    try:
        (results,) = counting.fetch()
    except GoogleAPICallError:
        assert not both.is_ours
    else:
        assert {each.alias: each.value for each in results} == {"all": 3, "sum": 6}
