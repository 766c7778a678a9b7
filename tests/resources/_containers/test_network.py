"""Where the containers of a run are found, and by which names."""

from collections.abc import Generator
from typing import Any

import pytest

from benchyard.case.resource import NoSettings, Workspace
from benchyard.core.errors import CommandFailedError
from resources._containers import engine, network
from resources._containers.engine import EngineError, NotThereError, telling
from resources._containers.network import network_name
from resources._containers.settings import ContainerSettings
from resources.oxigraph import Oxigraph
from resources.query import Query

LABELS = {"benchyard.run": "one"}


class Engine:
    """Two containers in the network of a run."""

    def __init__(self) -> None:
        self.closed = False

    @property
    def api(self) -> "Engine":
        return self

    def containers(self, filters: dict[str, str]) -> list[dict[str, str]]:
        assert filters == {"network": network_name(LABELS)}
        return [{"Id": "first"}, {"Id": "second"}]

    def inspect_container(self, identity: str) -> Any:
        own = {
            "first": {"Aliases": ["Virtuoso", "0a1b"], "IPAddress": "10.0.0.2"},
            "second": {"Aliases": None, "IPAddress": "10.0.0.3"},
        }
        return {"NetworkSettings": {"Networks": {network_name(LABELS): own[identity]}}}

    def close(self) -> None:
        self.closed = True


def test_names_lead_to_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    monkeypatch.setattr(network, "connect", lambda: engine)
    assert network.addresses(LABELS) == {"virtuoso": "10.0.0.2", "0a1b": "10.0.0.2"}
    assert engine.closed


def test_without_an_engine_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect() -> Any:
        raise EngineError("cannot use containers")

    monkeypatch.setattr(network, "connect", connect)
    assert network.addresses(LABELS) == {}


@pytest.mark.parametrize(
    "url", ["http://Virtuoso:8890/sparql", "http://virtuoso/", "HTTP://VIRTUOSO"]
)
def test_letters_are_alike_in_a_host(url: str) -> None:
    assert network.address_of(url, {"virtuoso": "10.0.0.2"}) == "10.0.0.2"


@pytest.mark.parametrize("url", ["http://localhost:8890/sparql", "http://virtuoso.org/", ""])
def test_other_hosts_are_left_alone(url: str) -> None:
    assert network.address_of(url, {"virtuoso": "10.0.0.2"}) is None


@pytest.fixture
def published(workspace: Workspace) -> Generator[Workspace]:
    """Give the workspace of a case that says ``localhost:7878``, with a store that runs."""
    asking = Workspace(
        workspace.inputs,
        workspace.shared,
        workspace.own,
        workspace.kept,
        labels=workspace.labels,
        ports=frozenset({7878}),
    )
    store = Oxigraph(ContainerSettings(image="benchyard-test/oxigraph"), asking)
    try:
        store.initialize()
        store.start()
        store.wait_until_ready()
        yield asking
    finally:
        store.stop()


@pytest.mark.requires("docker", "image:oxigraph")
@pytest.mark.slow
def test_a_case_may_name_a_port_of_this_host(published: Workspace) -> None:
    query = Query(NoSettings(), published)
    query.start()
    query.wait_until_ready()
    try:
        query.begin("01-ask")
        for host in ("localhost", "Oxigraph", "127.0.0.1"):
            asked = query.execute_and_save("ASK {}", f"http://{host}:7878/query", "a.json")
            result = asked.verified()
            assert result.values["boolean"] is True
        with pytest.raises(CommandFailedError, match="does not answer"):
            query.execute_and_save("ASK {}", "http://Fuseki:7878/query", "a.json")
    finally:
        query.stop()


class Api:
    """Keeps networks by name."""

    def __init__(self) -> None:
        self.there: list[str] = []

    def networks(self, names: list[str]) -> Any:
        # The engine finds parts of names, too.
        return [{"Id": n, "Name": n} for n in self.there if names[0] in n]

    def create_network(self, name: str, **_: Any) -> None:
        self.there.append(name)

    def remove_network(self, name: str) -> None:
        self.there.remove(name)


LABELS_OF_A_RUN = {"benchyard.run": "1", "benchyard.owner": "x"}


def test_the_last_one_removes_the_network_of_a_run() -> None:
    api = Api()
    client: Any = type("Client", (), {"api": api})
    name = network.ensure_network(client, LABELS_OF_A_RUN)
    api.there.append(f"{name}-of-somebody-else")
    assert network.ensure_network(client, LABELS_OF_A_RUN) == name
    network.leave_network(LABELS_OF_A_RUN, client)
    assert name in api.there
    network.leave_network(LABELS_OF_A_RUN, client)
    assert api.there == [f"{name}-of-somebody-else"]


def test_names_of_networks_differ_between_runs() -> None:
    assert network.network_name(LABELS_OF_A_RUN) != network.network_name(
        {**LABELS_OF_A_RUN, "benchyard.run": "2"}
    )
    assert network.network_name(LABELS_OF_A_RUN) == network.network_name(
        dict(reversed(LABELS_OF_A_RUN.items()))
    )


def test_errors_of_the_library_become_sentences() -> None:
    import docker.errors  # noqa: PLC0415
    import requests  # noqa: PLC0415

    cases: list[tuple[Exception, type[EngineError], str]] = [
        (docker.errors.NotFound("x", explanation="no such x."), NotThereError, "doing: no such x"),
        (docker.errors.APIError("x", explanation="port taken"), EngineError, "doing: port taken"),
        (requests.ReadTimeout("slow"), EngineError, "does not answer"),
        (ConnectionResetError("reset"), EngineError, "does not answer"),
    ]
    for error, kind, words in cases:
        with pytest.raises(kind, match=words), telling("doing"):
            raise error


def test_an_engine_that_is_not_there_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    api: Any = type("Api", (), {"api_version": "1.41"})
    assert not engine.answers(api)
    with pytest.raises(EngineError, match="does not answer"):
        engine.connect()
