"""What is too large is refused in the real service's words, and nothing of it is stored."""

from collections.abc import Callable
from typing import Any

import pytest
from google.api_core.exceptions import FailedPrecondition, InvalidArgument

from tests.emulators.datastore.conftest import put
from tests.emulators.datastore.fixture import Emulator, running

Send = Callable[..., Any]


def text(length: int, *, indexed: bool = False) -> dict[str, Any]:
    return {"string_value": "x" * length, "exclude_from_indexes": not indexed}


def upsert(name: str = "a", /, **properties: Any) -> dict[str, Any]:
    path = [{"kind": "K", "name": name}]
    return {"upsert": {"key": {"path": path}, "properties": properties}}


@pytest.fixture
def send(ours: Emulator) -> Send:
    """A function that commits mutations and returns the answer."""
    client = ours.client()

    def sent(*mutations: dict[str, Any], **others: Any) -> Any:
        request = {"project_id": client.project, "mode": "NON_TRANSACTIONAL", **others}
        return client._datastore_api.commit(request={**request, "mutations": mutations})

    return sent


@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(upsert(a=text(1_500, indexed=True)), id="indexed"),
        pytest.param(upsert(a=text(1_048_487)), id="unindexed"),
        pytest.param(upsert("n" * 1_500), id="name"),
        pytest.param(upsert(**{"p" * 1_500: {"integer_value": 1}}), id="property's name"),
    ],
)
def test_what_just_fits_is_stored(send: Send, mutation: dict[str, Any]) -> None:
    assert len(send(mutation).mutation_results) == 1


def nested(depth: int) -> dict[str, Any]:
    if depth == 0:
        return {"integer_value": 1}
    return {"entity_value": {"properties": {"a": nested(depth - 1)}}}


def array(*values: dict[str, Any]) -> dict[str, Any]:
    return {"array_value": {"values": values}}


@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (upsert(a=text(1_501, indexed=True)), 'The value of property "a" is longer than 1500 byte'),
        (upsert(a={"string_value": "é" * 751}), "longer than 1500 bytes"),
        (upsert(a={"blob_value": b"x" * 1_501}), "longer than 1500 bytes"),
        (upsert(a=array(text(1_501, indexed=True))), "longer than 1500 bytes"),
        (upsert(a=text(1_048_488)), 'property "a" is longer than 1048487 bytes'),
        (upsert(a=text(600_000), b=text(600_000)), "maximum entity size is 1048572 bytes"),
        (upsert("n" * 1_501), "The key path element name is longer than 1500 bytes"),
        (upsert(**{"": text(1)}), "The property.name is the empty string"),
        (upsert(__a__=text(1)), 'The property.name "__a__" is reserved'),
        (upsert(a=array(array(text(1)))), "list_value cannot contain"),
        (upsert(a=nested(21)), "At most 20 nested entity values are supported"),
        (upsert(a=array(*({"integer_value": n} for n in range(20_001)))), "Too many indexed"),
        (upsert("__a__"), 'The key path element name "__a__" is reserved'),
        ({"upsert": {"key": {"path": [{"kind": "", "name": "a"}]}}}, "The kind is the empty"),
        ({"upsert": {"key": {"path": []}}}, "Key path is empty"),
        ({"update": {"key": {"path": [{"kind": "K"}]}}}, r"must not be incomplete: \[K: \]"),
        ({"upsert": {"key": {"path": [{"kind": "K", "name": "n" * 1_400}] * 5}}}, "6144 bytes"),
        ({}, "Mutation is missing operation"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_stored(
    ours: Emulator, send: Send, mutation: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        send(upsert("fits"), mutation)
    assert ours.client().get(ours.client().key("K", "fits")) is None


def test_a_request_over_ten_mebibytes_is_refused(send: Send) -> None:
    with pytest.raises(InvalidArgument, match="size exceeds the limit: 10485760 bytes"):
        send(*(upsert(f"n{n}", a=text(1_000_000)) for n in range(11)))
    assert len(send(*(upsert(f"n{n}", a=text(1_000_000)) for n in range(10))).mutation_results)


@pytest.mark.slow
def test_more_than_five_hundred_mutations_are_refused_by_a_legacy_server_alone(
    send: Send,
) -> None:
    mutations = [upsert(f"n{n}") for n in range(501)]
    assert len(send(*mutations).mutation_results) == 501
    with running(legacy=True) as legacy:
        api = legacy.client()._datastore_api
        request = {"project_id": legacy.project, "mode": "NON_TRANSACTIONAL"}
        with pytest.raises(InvalidArgument, match="cannot write more than 500 entities"):
            api.commit(request={**request, "mutations": mutations})
        assert api.commit(request={**request, "mutations": mutations[:500]})


def test_more_than_a_thousand_keys_are_not_looked_up(client: Any) -> None:
    keys = [client.key("K", n + 1) for n in range(1_001)]
    with pytest.raises(InvalidArgument, match="cannot get more than 1000 keys"):
        client.get_multi(keys)
    assert client.get_multi(keys[:1_000]) == []


def test_answers_stay_below_what_a_client_receives(client: Any) -> None:
    for number in range(6):
        put(client, "Test", f"n{number}", info="x" * 1_000_000)
    keys = [client.key("Test", f"n{number}") for number in range(6)]
    assert sum(len(each["info"]) for each in client.get_multi(keys)) == 6_000_000
    assert len(list(client.query(kind="Test").fetch())) == 6


def test_another_project_is_not_written_to(send: Send) -> None:
    path = [{"kind": "K", "name": "a"}]
    key = {"partition_id": {"project_id": "other"}, "path": path}
    with pytest.raises(InvalidArgument, match="mismatched databases within request"):
        send({"upsert": {"key": key}})


@pytest.mark.slow
def test_an_index_may_be_for_every_query() -> None:
    with running(index="any") as server:
        client = server.client()
        query = client.query(kind="K", order=["-a", "b"])
        assert list(query.fetch()) == []
    with running() as server, pytest.raises(FailedPrecondition):
        list(server.client().query(kind="K", order=["-a", "b"]).fetch())
