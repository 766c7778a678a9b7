"""Stores that are loaded over HTTP: Fuseki to the letter, Oxigraph for real."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace, step_context
from resources._containers.settings import ContainerSettings
from resources.stores import Fuseki, Oxigraph
from tests.conftest import eventually
from tests.resources.conftest import Endpoint
from tests.resources.containers import asking, broken_off, brought_up, put, refusal

TRIPLES = '<a:a> <a:b> "Empty" .\n<a:a> <a:b> "ä" .\n'


def made(kind: Any, workspace: Workspace, **settings: Any) -> Any:
    return kind(ContainerSettings(**settings), workspace)


def test_a_file_that_is_not_there(workspace: Workspace) -> None:
    assert "there is no file 'a.nt'" in refusal(lambda: made(Fuseki, workspace).load("a.nt"))


# -- sending a file


@pytest.fixture
def store(workspace: Workspace, endpoint: Endpoint) -> Any:
    """Give a store that is said to be at the endpoint."""
    made_here = made(Fuseki, workspace)
    made_here._address, made_here._port = "127.0.0.1", endpoint.port
    return made_here


def test_the_suffix_says_the_type(store: Any, endpoint: Endpoint) -> None:
    kinds = {
        "a.nt": "application/n-triples",
        "a.nq": "application/n-quads",
        "folder.ttl/a.ttl": "text/turtle",
        "a.rdf": "application/rdf+xml",
        "a.OWL": "application/rdf+xml",
        "a.jsonld": "application/ld+json",
        "a.txt": "application/n-triples",
    }
    put(store.workspace, *kinds)
    for name in kinds:
        store.load(name)
    assert [headers["Content-Type"] for _, headers, _ in endpoint.asked] == [*kinds.values()]


@pytest.mark.parametrize(
    ("status", "says", "told"),
    [
        (200, b'{"count": 2, "tripleCount": 2, "quadCount": 0}', {"triples": 2}),
        (204, b"", {}),
        (200, b"<html/>", {}),
        (200, b"[]", {}),
        (200, b'{"count": "x"}', {}),
    ],
)
def test_a_file_is_sent_as_it_is(
    store: Any, endpoint: Endpoint, status: int, says: bytes, told: dict[str, int]
) -> None:
    endpoint.status, endpoint.body = status, says
    content = TRIPLES * 50_000
    put(store.workspace, "a.nt", text=content)
    assert store.load("a.nt").values == {"bytes": len(content.encode()), **told}
    ((path, _, body),) = endpoint.asked
    assert (path, body) == ("/ds", content.encode())


@pytest.mark.parametrize("early", [False, True])
def test_a_refusal_is_told_even_if_it_comes_early(
    store: Any, endpoint: Endpoint, early: bool
) -> None:
    endpoint.status, endpoint.reads = 400, not early
    endpoint.body = b"[line: 1] Expected BNode or IRI"
    # So much that the sender has more to say when the store hangs up.
    put(store.workspace, "a.nt", text="x" * 30_000_000)
    said = refusal(lambda: store.load("a.nt"))
    assert "refuses it: HTTP 400 Bad Request" in said or (early and "does not answer" in said)
    assert early or "Expected BNode or IRI" in said


def test_a_store_that_is_gone(store: Any) -> None:
    store._port = 9
    put(store.workspace, "a.nt")
    assert "Fuseki, 'a.nt': the store does not answer: " in refusal(lambda: store.load("a.nt"))


def test_sending_can_be_broken_off(store: Any, endpoint: Endpoint) -> None:
    endpoint.hold.clear()
    put(store.workspace, "a.nt")
    assert "aborted" in broken_off(lambda: store.load("a.nt"), store.abort)


# -- on a real engine


@pytest.fixture
def fuseki(workspace: Workspace) -> Generator[Any]:
    environment = {
        "RECORDER_PORTS": "3030",
        "RECORDER_READY": "[2022-10-07 12:00:00] INFO  Server          :: Start Fuseki (http=3030)",
        "RECORDER_ANSWER": '{"count": 2}',
    }
    settings = {"image": "benchyard-test/recorder", "environment": environment}
    with step_context("01-load"), brought_up(made(Fuseki, workspace, **settings)) as resource:
        yield resource


@pytest.fixture
def oxigraph(workspace: Workspace) -> Generator[Any]:
    store = made(Oxigraph, workspace, image="benchyard-test/oxigraph")
    with step_context("01-load"), brought_up(store):
        yield store


@pytest.mark.requires("docker", "image:recorder")
@pytest.mark.slow
def test_fuseki_is_called_as_krown_calls_it(fuseki: Any, workspace: Workspace) -> None:
    put(workspace, "a.nt", text=TRIPLES)
    assert fuseki.load("a.nt").values == {"bytes": len(TRIPLES.encode()), "triples": 2}

    # Not yet: the stream to this file is a moment behind the answer.
    call, asked = _recorded(workspace.kept / "server.stdout.txt", 2)
    assert not call["mounts"]["/fuseki/databases/DB"]["read_only"]
    assert (asked["method"], asked["path"], asked["body"]) == ("POST", "/ds", TRIPLES)
    assert asked["headers"]["Content-Type"] == "application/n-triples"


def _recorded(file: Path, number: int) -> list[Any]:
    """Return the first calls that the recorder wrote; its "ready" may stand among them."""
    calls: list[str] = []

    def are_there() -> bool:
        whole = file.read_text().rpartition("\n")[0].splitlines()
        calls[:] = [line for line in whole if line.startswith("{")][:number]
        return len(calls) == number

    assert eventually(are_there, 30)
    return [json.loads(call) for call in calls]


URL = "http://Oxigraph:7878/query"


@pytest.mark.requires("docker", "image:oxigraph")
@pytest.mark.slow
class TestOxigraph:
    def test_load_and_query(self, oxigraph: Any, workspace: Workspace) -> None:
        put(workspace, "a.nt", text=TRIPLES)
        put(workspace, "ask.rq", text="SELECT ?o { <a:a> <a:b> ?o } ORDER BY ?o")
        assert oxigraph.load("a.nt").values == {"bytes": len(TRIPLES.encode())}

        with asking(workspace) as query:
            for accept in (
                "application/sparql-results+json",
                "application/sparql-results+xml",
                "text/csv",
                "text/tab-separated-values",
            ):
                result = query.execute_from_file(
                    "ask.rq", URL, headers={"Accept": accept}
                ).verified()
                assert result.values["results"] == 2
                assert str(result.values["content_type"]).startswith(accept)
                assert result.output is not None
                assert "ä" in result.output.read_text()
            triples = {"Accept": "application/n-triples"}
            every = "CONSTRUCT WHERE { ?s ?p ?o }"
            graph = query.execute_and_save(every, URL.lower(), "out.nt", headers=triples)
            assert graph.verified().values["results"] == 2
            none = query.execute_and_save("SELECT ?s { ?s <a:none> ?o }", URL, "x")
            assert "without any result" in refusal(none.verified)
            assert "HTTP 400" in refusal(lambda: query.execute_and_save("SELEKT", URL, "x"))
            ask = query.execute_and_save("ASK {}", URL, "ask.json").verified()
            assert ask.values["boolean"] is True

    def test_what_is_no_rdf_is_refused(self, oxigraph: Any, workspace: Workspace) -> None:
        put(workspace, "a.nt", text="<a:a> <a:b> nonsense .\n")
        said = refusal(lambda: oxigraph.load("a.nt"))
        assert said.startswith("Oxigraph, 'a.nt': the store refuses it: HTTP 400")
        assert oxigraph.alive()

    def test_a_container_that_dies_while_it_is_loaded(
        self, oxigraph: Any, workspace: Workspace
    ) -> None:
        put(workspace, "a.nt", text=TRIPLES * 400_000)
        assert "does not answer" in broken_off(lambda: oxigraph.load("a.nt"), oxigraph.abort, 0.3)
