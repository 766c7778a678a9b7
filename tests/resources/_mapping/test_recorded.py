"""Every engine in a real container that writes down how it was called."""

import json
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError, NotReadyError
from tests.conftest import eventually
from tests.resources.containers import NOTHING, left_of, run_of

pytestmark = [pytest.mark.requires("docker", "image:recorder"), pytest.mark.slow]

IMAGE = "benchyard-test/recorder"
HALF = ["-Xmx1073741824", "-Xms1073741824"]
FILES = ("mapping.ttl", "out.nt", "ntriples")


@pytest.fixture
def recorded(started: Callable[..., Any]) -> Callable[..., Any]:
    """Start an engine on the recorder: ``recorded("RMLMapper", EXIT=3)``."""

    def start(name: str, **told: object) -> Any:
        environment = {f"RECORDER_{key}": str(value) for key, value in told.items()}
        return started(name, image=IMAGE, memory="2GB", environment=environment)

    return start


def said(resource: Any, name: str = "01-map") -> Any:
    """Return what the recorder wrote down."""
    lines = (resource.workspace.kept / f"{name}.stdout.txt").read_text().splitlines()
    return json.loads(lines[0])


def test_an_engine_gets_its_arguments_and_sees_its_files(
    recorded: Callable[..., Any], database: dict[str, Any]
) -> None:
    # The engine knows how long it ran if it lives to be seen.
    engine = recorded("RMLMapper", TEXT="<a> <b> <c> .\n", DELAY="0.3")
    result = engine.execute_mapping(*FILES, **database)
    call = said(engine)
    assert call["arguments"][:3] == ["java", *HALF]
    assert call["arguments"][-4:-1] == ["-p", database["rdb_password"], "-dsn"]
    assert not call["mounts"]["/data/shared"]["read_only"]
    assert call["host_name"] == "RMLMapper"
    assert result.output.read_text() == "<a> <b> <c> .\n"
    assert result.values["exit_code"] == 0
    assert result.values["run_s"] > 0


def test_souffle_runs_two_containers_and_keeps_what_both_say(
    recorded: Callable[..., Any],
) -> None:
    engine = recorded(
        "Souffle",
        LOG="/data/shared/Datalog_rules.rs",
        OUTPUT="/data/shared/triple.csv",
        TEXT="<a>\t<b>\t<c>\n",
    )
    result = engine.execute_mapping(*FILES)
    assert said(engine, "01-map-rules")["arguments"][0] == "java"
    assert said(engine)["arguments"][0] == "./bin/souffle"
    assert result.output.read_text() == "<a> <b> <c> .\n"


@pytest.mark.parametrize(
    "name",
    [
        # One is run as it is, one writes files that are joined, one takes two containers.
        *("RMLMapper", "MorphKGC", "Souffle"),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("RMLStreamer", "SDMRDFizer")),
    ],
)
def test_defect_01_an_exit_code_is_a_failure(recorded: Callable[..., Any], name: str) -> None:
    engine = recorded(name, EXIT=3, ERROR="no such column", OUTPUT="/data/shared/out.nt")
    with pytest.raises(CommandFailedError, match=r"exit code 3.*no such column") as failed:
        engine.execute_mapping(*FILES)
    assert failed.value.exit_status == 3


def test_defect_47_a_step_that_is_stopped_leaves_no_container(
    recorded: Callable[..., Any],
) -> None:
    engine = recorded("RMLMapper", READY="working", STAY=1)
    output = engine.workspace.kept / "step.stdout.txt"
    with ThreadPoolExecutor(1) as pool:
        mapping = pool.submit(engine.execute_mapping, *FILES)
        assert eventually(lambda: output.exists() and "working" in output.read_text(), 60)
        engine.abort()
        assert isinstance(mapping.exception(30), CommandFailedError)
    engine.stop()
    assert left_of(run_of(engine.workspace)) == NOTHING


# -- the endpoint

#: The ready line must not stand among what the recorder writes down: it says nothing else.
SERVES = {"PORTS": 8888, "SAY": "", "LOG": "/data/shared/log.jsonl"}
READY = "12:00 i.u.OntopEndpointApplication - Started OntopEndpointApplication in 5 seconds"


def without_output(database: dict[str, Any]) -> dict[str, Any]:
    return {"mapping_file": "mapping.ttl", "serialization": "csv", **database}


def test_an_endpoint_is_there_when_its_step_ends_and_another_mapping_replaces_it(
    recorded: Callable[..., Any], database: dict[str, Any]
) -> None:
    engine = recorded("OntopVirtualize", READY=READY, **SERVES, DELAY=0.3)
    assert engine.alive()
    first, second = (
        engine.execute_mapping(**without_output(database)).values["port"] for _ in range(2)
    )
    assert engine.alive()
    call = json.loads((engine.workspace.shared / "log.jsonl").read_text().splitlines()[0])
    assert call["arguments"] == [
        *("/ontop/ontop", "endpoint", "--cors-allowed-origins=*", "--port=8888"),
        *("-m", "/data/mapping_converted.r2rml.ttl", "-p", "/data/config.properties"),
    ]
    assert call["environment"]["ONTOP_JAVA_ARGS"] == " ".join(HALF)
    assert call["mounts"]["/data"]["read_only"]
    assert database["rdb_password"] not in json.dumps(call)
    with urllib.request.urlopen(f"http://127.0.0.1:{second}/sparql", timeout=10) as answer:
        assert answer.status == 200
    if first != second:
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(f"http://127.0.0.1:{first}/", timeout=10)


def test_defect_21_an_endpoint_that_dies_is_told_at_once(
    recorded: Callable[..., Any], database: dict[str, Any]
) -> None:
    engine = recorded("OntopVirtualize", EXIT=1, ERROR="no such driver")
    with pytest.raises(NotReadyError, match=r"exit code 1.*no such driver"):
        engine.execute_mapping(**without_output(database))
    assert not engine.alive()


# -- through the lab


def step(number: int, output: str) -> dict[str, Any]:
    names = {"mapping_file": "mapping.ttl", "output_file": output, "serialization": "nquads"}
    step = {"@id": f"#{number}", "name": f"map {number}", "resource": "RMLMapper"}
    return {**step, "command": "execute_mapping", "parameters": names}


def test_defect_33_only_declared_files_are_moved(
    case_folder: Callable[..., Path], run_benchyard: Callable[..., Any]
) -> None:
    settings = {"RMLMapper": {"image": IMAGE, "environment": {"RECORDER_LOG": "/data/shared/x.nt"}}}
    data = {"mapping.ttl": "", "input.nt": "<a> <b> <c> .\n"}
    folder = case_folder(
        "outputs", step(1, "out.nq"), step(2, "sub/out.ttl"), data=data, resources=settings
    )
    ended = run_benchyard("run", folder, "--runs", "1", "--direct")
    assert ended.returncode == 0, ended.stderr + ended.stdout
    kept = folder / "results" / "run_1" / "rmlmapper"
    files = {str(f.relative_to(kept)) for f in kept.rglob("*") if f.suffix != ".txt"}
    assert files == {"out.nq", "sub", "sub/out.ttl"}
    shared = folder / "data" / "shared"
    assert {path.name for path in shared.iterdir()} == {"mapping.ttl", "input.nt"}
