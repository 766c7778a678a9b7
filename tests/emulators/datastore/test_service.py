"""What is stored, looked up and refused: the same by our server and, where it can, by Google's."""

from collections.abc import Callable
from typing import Any

import pytest
from google.api_core.exceptions import AlreadyExists, InvalidArgument

from tests.emulators.datastore.conftest import found
from tests.emulators.datastore.fixture import Emulator, running

Send = Callable[..., Any]


def text(length: int, *, indexed: bool = False) -> dict[str, Any]:
    return {"string_value": "x" * length, "exclude_from_indexes": not indexed}


def upsert(name: str = "a", /, **properties: Any) -> dict[str, Any]:
    path = [{"kind": "K", "name": name}]
    return {"upsert": {"key": {"path": path}, "properties": properties}}


def at(*path: dict[str, Any], **partition: str) -> dict[str, Any]:
    return {"upsert": {"key": {"path": path, "partition_id": partition}}}


def commit(client: Any, *mutations: dict[str, Any], mode: str = "NON_TRANSACTIONAL") -> Any:
    request = {"project_id": client.project, "mode": mode, "mutations": mutations}
    return client._datastore_api.commit(request=request)


@pytest.fixture
def send(ours: Emulator) -> Send:
    """A function that commits mutations to our server."""
    client = ours.client()
    return lambda *mutations: commit(client, *mutations)


def test_an_entity_is_inserted_once_and_in_no_transaction(client: Any) -> None:
    commit(client, {"insert": upsert()["upsert"]})
    with pytest.raises(AlreadyExists, match="entity already exists"):
        commit(client, {"insert": upsert()["upsert"]})
    with pytest.raises(InvalidArgument, match="multiple mutations affecting the same entity"):
        commit(client, upsert(), {"delete": upsert()["upsert"]["key"]})
    with pytest.raises(InvalidArgument, match="transactional commit requires a transaction"):
        commit(client, upsert(), mode="TRANSACTIONAL")


@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (upsert(a=text(1_501, indexed=True)), 'The value of property "a" is longer than 1500 byte'),
        (upsert(a={"string_value": "é" * 751}), "longer than 1500 bytes"),
        (upsert(a=text(1_048_488)), 'property "a" is longer than 1048487 bytes'),
        (upsert(a=text(600_000), b=text(600_000)), "maximum entity size is 1048572 bytes"),
        (upsert("n" * 1_501), "The key path element name is longer than 1500 bytes"),
        (upsert(**{"": text(1)}), "The property.name is the empty string"),
        (upsert(__a__=text(1)), 'The property.name "__a__" is reserved'),
        (upsert("__a__"), 'The key path element name "__a__" is reserved'),
        (at({"kind": "", "name": "a"}), "The kind is the empty"),
        (at(), "Key path is empty"),
        ({"delete": {"path": [{"kind": "K"}]}}, "must not be incomplete"),
        (at(*[{"kind": "K", "name": "n" * 1_400}] * 5), "6144 bytes"),
        (at({"kind": "K", "id": 1}, project_id="other"), "mismatched databases within request"),
        ({}, "Mutation is missing operation"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_stored(
    ours: Emulator, send: Send, mutation: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        send(upsert("fits"), mutation)
    assert found(ours.client(), "K") == []


def test_a_request_over_ten_mebibytes_is_refused(send: Send) -> None:
    with pytest.raises(InvalidArgument, match="size exceeds the limit: 10485760 bytes"):
        send(*(upsert(f"n{n}", a=text(1_000_000)) for n in range(11)))
    assert len(send(*(upsert(f"n{n}", a=text(1_000_000)) for n in range(10))).mutation_results)


@pytest.mark.slow
def test_more_than_five_hundred_mutations_are_refused_by_a_legacy_server_alone(send: Send) -> None:
    mutations = [upsert(f"n{n}") for n in range(501)]
    assert len(send(*mutations).mutation_results) == 501
    with running(legacy=True) as legacy:
        with pytest.raises(InvalidArgument, match="cannot write more than 500 entities"):
            commit(legacy.client(), *mutations)
        assert commit(legacy.client(), *mutations[:500])
