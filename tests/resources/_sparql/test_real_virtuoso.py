"""Virtuoso itself: what its loader says, and what it then answers."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace, step_context
from resources._containers.settings import ContainerSettings
from resources.virtuoso import GRAPH, LOADER, Virtuoso, isql
from tests.resources.containers import (
    asking,
    broken_off,
    brought_up,
    put,
    refusal,
    shell,
    workspace_in,
)

pytestmark = [pytest.mark.requires("docker", "image:virtuoso"), pytest.mark.slow]

ENDPOINT = "http://Virtuoso:8890/sparql"
SETTINGS = ContainerSettings(image="benchyard-test/virtuoso", memory="500MB")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Give a workspace for all tests here, in a folder whose name SQL would misread."""
    return workspace_in(tmp_path_factory.mktemp("it's [a] case"))


@pytest.fixture(scope="module")
def running(place: Workspace) -> Generator[Any]:
    """Start it once, for it takes seconds."""
    with step_context("00-start"), brought_up(Virtuoso(SETTINGS, place)) as resource:
        yield resource


@pytest.fixture
def virtuoso(running: Any, request: pytest.FixtureRequest) -> Generator[Any]:
    """Give it without data."""
    with step_context(request.node.name):
        running._sql("clear", f"sparql clear graph <{GRAPH}>;")
        yield running


@pytest.fixture
def ask(place: Workspace, virtuoso: Any) -> Generator[Callable[[str], Any]]:
    """Ask over HTTP, as a case does: ``ask("ASK {…}")``."""
    assert virtuoso.alive()
    headers = {"Accept": "application/sparql-results+json"}
    with asking(place) as query:
        yield lambda text: query.execute_and_save(
            text, ENDPOINT, "answer.json", headers=headers
        ).verified()


def triples(first: int, number: int) -> str:
    return "".join(f'<a:s{n}> <a:p> "ä {n}" .\n' for n in range(first, first + number))


def stored(ask: Callable[[str], Any]) -> int:
    """Return the number of triples in the graph of the loads."""
    return ask(f"SELECT * {{ GRAPH <{GRAPH}> {{ ?s <a:p> ?o }} }}").values["results"]


def test_load(virtuoso: Any, place: Workspace, ask: Callable[[str], Any]) -> None:
    put(place, "a.nt", text=triples(0, 1000))
    # A step that is repeated loads again.
    for _ in range(2):
        assert virtuoso.load("a.nt").values == {"files": 1}
        assert stored(ask) == 1000
    assert ask('ASK { <a:s7> <a:p> "ä 7" }').values["boolean"] is True
    (place.shared / "made.nt").write_text(triples(1000, 3))
    assert virtuoso.load("made.nt").values == {"files": 1}
    assert stored(ask) == 1003


def test_load_in_parallel_from_a_folder(
    virtuoso: Any, place: Workspace, ask: Callable[[str], Any]
) -> None:
    for number in range(4):
        put(place, f"several/{number}.nt", text=triples(1000 * number, 1000))
    put(place, "several/other.ttl", text=triples(4000, 1))

    assert virtuoso.load_parallel("*.nt", 2, "several").values == {"files": 4}

    assert stored(ask) == 4000


def test_defect_04_what_is_no_rdf_fails_with_the_loaders_words(
    virtuoso: Any, place: Workspace
) -> None:
    put(place, "broken/good.nt", text=triples(0, 10))
    put(place, "broken/bad.nt", text='<a:s> <a:p> "no end .\n')
    said = refusal(lambda: virtuoso.load_parallel("*.nt", 2, "broken"))
    assert said.startswith("Virtuoso could not load /usr/share/proj/broken/bad.nt: 37000")
    assert virtuoso.alive()


def test_defect_04_an_isql_that_crashes_fails_the_step_with_its_output(
    virtuoso: Any, place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(password: str, statements: str) -> list[str]:
        crash = shell("echo last words; kill -SEGV $$")
        return crash if statements == LOADER else isql(password, statements)

    monkeypatch.setattr("resources.virtuoso.isql", crashing)
    put(place, "a.nt", text=triples(0, 1))
    said = refusal(lambda: virtuoso.load("a.nt"))
    assert "signal 11" in said
    assert "last words" in said


@pytest.mark.parametrize(
    ("name", "text"),
    [("no.rdf", "no XML"), ("no.nt.gz", "not compressed"), ("unknown.txt", "read as Turtle")],
)
def test_what_the_suffix_does_not_fit(
    virtuoso: Any, place: Workspace, name: str, text: str
) -> None:
    put(place, name, text=text)
    said = refusal(lambda: virtuoso.load(name))
    assert said.startswith(f"Virtuoso could not load /usr/share/proj/{name}: ")


def test_abort_ends_a_load(tmp_path: Path) -> None:
    place = workspace_in(tmp_path)
    put(place, "a.nt", text=triples(0, 2_000_000))
    with brought_up(Virtuoso(SETTINGS, place)) as own:
        broken_off(lambda: own.load_parallel("a.nt", 2), own.abort, 0.5)
        assert not own.alive()


def test_an_error_that_isqls_exit_code_hides(virtuoso: Any) -> None:
    assert "*** Error 37000" in refusal(lambda: virtuoso._sql("nonsense", "no such statement;"))


def test_settings_reach_the_server(virtuoso: Any) -> None:
    buffers = virtuoso._specification().environment["VIRT_Parameters_NumberOfBuffers"]
    assert buffers == str(int(500 * 2**20 / 10**9 * 85_000))
    assert f" {buffers} buffers, " in virtuoso._sql("status", "status();")


def test_a_scheduler_that_can_be_set_is_set(
    virtuoso: Any, place: Workspace, ask: Callable[[str], Any]
) -> None:
    """Newer versions switch it off while they load; this one does not have the function."""
    put(place, "a.nt", text=triples(0, 1))
    note = f"sparql insert in graph <{GRAPH}> {{ <a:set> <a:p> 1 }};"
    body = f"{{ exec('{note.removesuffix(';')}'); }};"
    virtuoso._sql("create", f"create procedure scheduler_interval (in seconds integer) {body}")
    virtuoso.load("a.nt")
    virtuoso._sql("drop", "drop procedure scheduler_interval;")
    assert ask("ASK { <a:set> <a:p> 1 }").values["boolean"] is True
