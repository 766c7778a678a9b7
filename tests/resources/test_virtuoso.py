"""Virtuoso: its container to the letter, and its loader, with a stand-in for what is not here."""

import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace, step_context
from resources._containers import Mount
from resources._containers.settings import ContainerSettings
from resources.virtuoso import FINISH, Virtuoso, refuse_unloaded, register
from tests.resources.containers import broken_off, brought_up, docker, put, refusal

RECORDER = "benchyard-test/recorder"
STAND_IN = Path(__file__).with_name("_sparql") / "isql_stand_in.py"

real = [pytest.mark.requires("docker", "image:recorder"), pytest.mark.slow]


class StandIn(Virtuoso):
    """With an isql that fails as the data asks it to."""

    @property
    def _title(self) -> str:
        return "Virtuoso"

    def _mounts(self) -> list[Mount]:
        program = Mount(self.workspace.own / "isql", "/usr/local/sbin/isql", read_only=True)
        return [*super()._mounts(), program]


def made(workspace: Workspace, kind: type[Virtuoso] = Virtuoso, **settings: Any) -> Any:
    return kind(ContainerSettings(**settings), workspace)


def test_a_case_may_say_otherwise(workspace: Workspace) -> None:
    environment = {"VIRT_Parameters_NumberOfBuffers": "10000", "DBA_PASSWORD": "other"}
    resource = made(workspace, environment=environment)
    assert environment.items() <= resource._specification().environment.items()
    assert resource._password == environment["DBA_PASSWORD"]


def test_a_port_that_a_step_names_is_fixed(workspace: Workspace) -> None:
    asking = replace(workspace, ports=frozenset({8890}))
    assert made(asking)._specification().ports == {8890: 8890, 1111: 0}


# -- what isql is told and says


@pytest.mark.parametrize("name", ["a'b.nt", "a;b.nt", "$U{a}.nt", "a\\b.nt", 'a"b', "a\nb", "%"])
def test_defect_40_a_name_that_isql_would_misread_is_refused(name: str) -> None:
    assert "rename it" in refusal(lambda: register("/usr/share/proj", name))
    assert "rename it" in refusal(lambda: register(f"/usr/share/proj/{name}", "a.nt"))


@pytest.mark.parametrize("loaded", [None, 1, 3])
def test_defect_04_the_list_of_the_loader_is_read(loaded: int | None) -> None:
    said = f"{FINISH}\nconcat\n\n" + (f"benchyard loaded {loaded}\n" if loaded else "")
    why = f"loaded {loaded or 0} of 2 files"
    assert why in refusal(lambda: refuse_unloaded(said, 2))


def test_cores_and_files_are_looked_at_first(workspace: Workspace) -> None:
    resource = made(workspace)
    (workspace.shared / "rdf").mkdir()
    assert "cores is 0" in refusal(lambda: resource.load_parallel("a.nt", 0))
    assert "there is no file 'a.nt'" in refusal(lambda: resource.load("a.nt"))
    assert "there is no file 'rdf/a.nt'" in refusal(lambda: resource.load("a.nt", "rdf"))
    assert "is named like '*.nt'" in refusal(lambda: resource.load("*.nt", "rdf"))
    assert "outside of data/shared" in refusal(lambda: resource.load("../../a.nt"))


# -- on a real engine, with a stand-in


@pytest.fixture
def virtuoso(workspace: Workspace) -> Generator[Virtuoso]:
    program = workspace.own / "isql"
    program.write_bytes(STAND_IN.read_bytes())
    program.chmod(0o755)
    environment = {"RECORDER_PORTS": "8890,1111", "RECORDER_READY": "Server online at 1111"}
    resource = made(workspace, StandIn, image=RECORDER, environment=environment, stop_seconds=2)
    with step_context("01-load"), brought_up(resource):
        yield resource


def isql_calls(virtuoso: Any) -> list[list[str]]:
    said = docker("exec", virtuoso._up().id, "cat", "/tmp/isql.jsonl")
    return [json.loads(line) for line in said.splitlines()]


class TestStandIn:
    pytestmark = real

    def test_load(self, virtuoso: Any, workspace: Workspace) -> None:
        put(workspace, "a.nt")
        assert virtuoso.load("a.nt").values == {"files": 1}
        listed = "delete from DB.DBA.load_list; ld_dir('/usr/share/proj', 'a.nt', "
        said = [f"{listed}'http://example.com/graph');", "rdf_loader_run();", FINISH]
        assert [call[1:] for call in isql_calls(virtuoso)] == [
            ["-U", "dba", "-P", "root", f"exec={each}"] for each in said
        ]
        assert FINISH.startswith("checkpoint; checkpoint_interval(60); select case when coalesce(")
        kept = (workspace.kept / "01-load.finish.stdout.txt").read_text()
        assert "benchyard loaded 1" in kept

    def test_load_in_parallel_from_a_folder(self, virtuoso: Virtuoso, workspace: Workspace) -> None:
        put(workspace, "rdf/a.nt", "rdf/b.nt", "rdf/c.ttl", "d.nt")
        (workspace.shared / "rdf" / "made-by-a-step.nt").write_text("")
        assert virtuoso.load_parallel("*.nt", 3, "rdf").values == {"files": 3}
        told = [call[-1] for call in isql_calls(virtuoso)]
        assert told.count("exec=rdf_loader_run();") == 3
        assert told[0] == f"exec={register('/usr/share/proj/rdf', '*.nt')}"

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("crash", "'isql' failed"),
            ("refuse", "Virtuoso: *** Error 42000"),
            ("broken", "could not load /usr/share/proj/b.nt: 37000 SP029: syntax error"),
        ],
    )
    def test_defect_04_a_loader_that_fails(
        self, virtuoso: Virtuoso, workspace: Workspace, text: str, why: str
    ) -> None:
        put(workspace, "a.nt", "c.nt")
        put(workspace, "b.nt", text=text)
        assert why in refusal(lambda: virtuoso.load_parallel("*.nt", 2))
        assert virtuoso.alive()

    def test_abort_ends_a_load(self, virtuoso: Virtuoso, workspace: Workspace) -> None:
        put(workspace, "a.nt", text="hang")
        broken_off(lambda: virtuoso.load_parallel("a.nt", 2), virtuoso.abort, 0.5)
        assert not virtuoso.alive()
