"""Virtuoso: its container to the letter, and its loader, with a stand-in for what is not here."""

import json
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace, commands_of, step_context
from resources._containers import Mount
from resources._containers.settings import ContainerSettings
from resources.virtuoso import FINISH, Virtuoso, isql, refuse_errors, refuse_unloaded, register
from tests.resources.containers import brought_up, put, refusal

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


# -- what it is made from


def test_its_container_is_krowns(workspace: Workspace) -> None:
    spec = made(workspace, memory="4GB")._specification()

    assert spec.image == "kgconstruct/virtuoso:v7.2.7"
    assert spec.command == ()
    assert spec.entrypoint is None
    assert spec.aliases == ("Virtuoso",)
    assert spec.ports == {8890: 0, 1111: 0}
    assert spec.memory == 4 * 2**30
    assert spec.mounts == [
        Mount(workspace.shared, "/usr/share/proj"),
        Mount(workspace.inputs, str(workspace.inputs), read_only=True),
    ]
    ours = {k: v for k, v in spec.environment.items() if k.startswith(("DBA", "VIRT"))}
    assert ours == {
        "DBA_PASSWORD": "root",
        "VIRT_SPARQL_ResultSetMaxRows": "10000000",
        "VIRT_SPARQL_MaxQueryExecutionTime": "0",
        "VIRT_SPARQL_ExecutionTimeout": "0",
        "VIRT_SPARQL_MaxQueryCostEstimationTime": "0",
        "VIRT_Parameters_MaxVectorSize": "3000000",
        "VIRT_Parameters_NumberOfBuffers": "365072",
        "VIRT_Parameters_MaxDirtyBuffers": "279172",
    }


def test_without_a_limit_its_buffers_are_of_the_host(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2_000_000}
    monkeypatch.setattr("os.sysconf", pages.__getitem__)
    environment = made(workspace)._specification().environment
    assert environment["VIRT_Parameters_NumberOfBuffers"] == str(int(8.192 * 85_000))


def test_a_case_may_say_otherwise(workspace: Workspace) -> None:
    environment = {"VIRT_Parameters_NumberOfBuffers": "10000", "DBA_PASSWORD": "other"}
    resource = made(workspace, environment=environment)
    assert environment.items() <= resource._specification().environment.items()
    assert resource._password == environment["DBA_PASSWORD"]


def test_a_port_that_a_step_names_is_fixed(workspace: Workspace) -> None:
    asking = Workspace(
        workspace.inputs, workspace.shared, workspace.own, workspace.kept, ports=frozenset({8890})
    )
    assert made(asking)._specification().ports == {8890: 8890, 1111: 0}


def test_readiness_is_its_own_word_and_its_ports(workspace: Workspace) -> None:
    words = [str(way) for way in made(workspace)._readiness()]
    assert words == [
        "its output has 'Server online at'",
        "its port 1111 takes connections",
        "its port 8890 takes connections",
    ]


def test_its_commands_are_krowns() -> None:
    assert list(commands_of(Virtuoso)) == ["load", "load_parallel"]


# -- what isql is told and says


def test_what_isql_is_told() -> None:
    told = register("/usr/share/proj/rdf", "*.nt")
    assert told == (
        "delete from DB.DBA.load_list; "
        "ld_dir('/usr/share/proj/rdf', '*.nt', 'http://example.com/graph');"
    )
    assert isql("root", told) == ["isql", "-U", "dba", "-P", "root", f"exec={told}"]
    assert FINISH.startswith("checkpoint; checkpoint_interval(60); select case when coalesce(")


@pytest.mark.parametrize("name", ["a'b.nt", "a;b.nt", "$U{a}.nt", "a\\b.nt", 'a"b', "a\nb", "%"])
def test_defect_40_a_name_that_isql_would_misread_is_refused(name: str) -> None:
    assert "rename it" in refusal(lambda: register("/usr/share/proj", name))
    assert "rename it" in refusal(lambda: register(f"/usr/share/proj/{name}", "a.nt"))


def test_an_error_that_the_exit_code_hides() -> None:
    refuse_errors(["Connected to OpenLink Virtuoso\n\nDone. -- 12 msec.\n", ""])
    said = "\n*** Error 28000: [Virtuoso Driver]CL034: Bad login\nat line 0 of Top-Level:\n"
    assert "Virtuoso: *** Error 28000" in refusal(lambda: refuse_errors(["", said]))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "loaded 0 of 2 files"),
        ("benchyard loaded 1\n", "loaded 1 of 2 files"),
        ("benchyard loaded 3\n", "loaded 3 of 2 files"),
        (
            "concat\nbenchyard loaded 1\n\nbenchyard failed /usr/share/proj/b.nt: 37000 S:\n at",
            "could not load /usr/share/proj/b.nt: 37000 S: at",
        ),
        (FINISH, "loaded 0 of 2 files"),
    ],
)
def test_defect_04_the_list_of_the_loader_is_read(said: str, why: str) -> None:
    assert why in refusal(lambda: refuse_unloaded(said, 2))


def test_a_list_without_errors() -> None:
    refuse_unloaded(f"{FINISH}\nconcat\n\nbenchyard loaded 2\n\n1 Rows. -- 0 msec.\n", 2)


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
    command = ["docker", "exec", virtuoso._up().id, "cat", "/tmp/isql.jsonl"]
    said = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    return [json.loads(line) for line in said.splitlines()]


class TestStandIn:
    pytestmark = real

    def test_load(self, virtuoso: Any, workspace: Workspace) -> None:
        put(workspace, "a.nt")
        result = virtuoso.load("a.nt")

        assert result.values == {"files": 1}
        told = [call[-1] for call in isql_calls(virtuoso)]
        assert told == [
            f"exec={register('/usr/share/proj', 'a.nt')}",
            "exec=rdf_loader_run();",
            f"exec={FINISH}",
        ]
        assert isql_calls(virtuoso)[0][1:5] == ["-U", "dba", "-P", "root"]
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
        timer = threading.Timer(0.5, virtuoso.abort)
        timer.start()
        began = time.monotonic()
        refusal(lambda: virtuoso.load_parallel("a.nt", 2))
        timer.join()
        assert time.monotonic() - began < 20
        assert not virtuoso.alive()
