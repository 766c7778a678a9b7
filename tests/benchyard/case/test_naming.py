"""Resources under names of their own, and classes that refuse what cannot work."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import resources
from benchyard.case.loading import Loaded, load
from benchyard.cli import call

REGISTRY = resources.find()
TWO: dict[str, Any] = {"old": {"class": "Process"}, "new": {"class": "Process"}}


#: A step whose system comes from the matrix.
QUERY = {"resource": "${matrix.system}", "command": "execute", "parameters": {"sql": "SELECT 1"}}


def step(resource: str, command: str = "execute", **parameters: Any) -> dict[str, Any]:
    given = {"arguments": ["echo", resource], **parameters}
    return {"resource": resource, "command": command, "parameters": given}


def made(folder: Path, *steps: dict[str, Any], **keys: Any) -> Loaded:
    (folder / "data" / "shared").mkdir(parents=True, exist_ok=True)
    (folder / "metadata.json").write_text(json.dumps({"name": "n", "steps": steps, **keys}))
    return load(folder / "metadata.json", REGISTRY)


def problems(loaded: Loaded) -> dict[str, str]:
    return {problem.path: problem.message for problem in loaded.problems}


# -- own names


def test_steps_may_name_a_class_twice(tmp_path: Path) -> None:
    [case] = made(tmp_path, step("old"), step("new"), step("Process"), resources=TWO).cases
    assert [case.class_of(s.resource) for s in case.steps] == ["Process"] * 3
    assert case.classes == {"old": "Process", "new": "Process"}
    assert case.settings == {"old": {}, "new": {}}


def test_settings_are_those_of_the_name(tmp_path: Path) -> None:
    matrix = {"image": ["a:1", "a:2"]}
    two = {
        "old": {"class": "Container", "image": "a:0"},
        "new": {"class": "Container", "image": "${matrix.image}"},
    }
    cases = made(tmp_path, step("old"), step("new"), resources=two, matrix=matrix).cases
    assert [case.settings["new"]["image"] for case in cases] == ["a:1", "a:2"]
    wrong = problems(made(tmp_path, step("old"), resources={"old": {"class": "Container"}}))
    assert wrong == {
        "$.resources.old.image": "Container: it has no image; name one under 'image'",
    }


@pytest.mark.parametrize("named", [True, False])
def test_the_class_may_come_from_the_matrix(tmp_path: Path, named: bool) -> None:
    matrix = {"system": ["SQLite", "DuckDB"], "what": ["execute"]}
    settings: dict[str, Any] = {"SQLite": {"pragmas": {"cache_size": 1}}, "DuckDB": {"threads": 2}}
    query = {**QUERY, "command": "${matrix.what}"}
    if named:
        settings, query["resource"] = {"system": {"class": "${matrix.system}"}}, "system"

    loaded = made(tmp_path, query, resources=settings, matrix=matrix)

    assert problems(loaded) == {}
    found = [(c.class_of(c.steps[0].resource), c.steps[0].command) for c in loaded.cases]
    assert found == [("SQLite", "execute"), ("DuckDB", "execute")]
    assert named or all(case.settings == settings for case in loaded.cases)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("resource", "DuckBD", "unknown resource 'DuckBD'; did you mean 'DuckDB'?"),
        ("resource", "${matrix.", "unknown resource '${matrix.'"),
        ("resource", 5, "must be a string"),
        ("resource", "", "must not be empty"),
        ("command", "exeucte", "SQLite has no command 'exeucte'; did you mean 'execute'?"),
        ("command", True, "must be a string"),
    ],
)
def test_what_is_wrong_at_one_point_is_told_of_it(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    right = {"resource": "SQLite", "command": "execute"}
    query = {**right, key: "${matrix.it}", "parameters": {"sql": "SELECT 1"}}
    found = problems(made(tmp_path, query, matrix={"it": [right[key], value]}))
    assert found.keys() == {f"$.steps[0].{key}"}
    assert message in found[f"$.steps[0].{key}"]


def test_parameters_and_settings_must_fit_the_class_of_each_point(tmp_path: Path) -> None:
    found = problems(made(tmp_path, QUERY, matrix={"system": ["SQLite", "Process"]}))
    assert found.keys() == {"$.steps[0].parameters", "$.steps[0].parameters.sql"}
    matrix, settings = {"system": ["SQLite", "DuckDB"]}, {"DuckDB": {"treads": 2}}
    assert problems(made(tmp_path, QUERY, resources=settings, matrix=matrix)) == {
        "$.resources.DuckDB.treads": "is unknown here; did you mean 'threads'? (in all 2 points)"
    }


@pytest.mark.parametrize(
    ("given", "path", "message"),
    [
        (TWO, "$.steps[0].resource", "unknown resource 'odl'; did you mean 'old'?"),
        ({"old": {"class": "Proces"}}, "$.resources.old.class", "did you mean 'Process'?"),
        ({"old": {"class": 5}}, "$.resources.old.class", "must be a string"),
        ({"a/b": {"class": "Process"}}, "$.resources['a/b']", "has not the form"),
        ({"SQLite": {"class": "Process"}}, "$.resources.SQLite", "'SQLite' is a class"),
        ({**TWO, "Old": TWO["old"]}, "$.resources.Old", "'Old' and 'old' would have one folder of"),
        ({"old": {"class": "DuckDB", "thread": 1}}, "$.resources.old.thread", "'threads'"),
    ],
)
def test_names_that_cannot_be(
    tmp_path: Path, given: dict[str, Any], path: str, message: str
) -> None:
    used = "odl" if given is TWO else next(iter(given))
    assert message in problems(made(tmp_path, step(used), resources=given))[path]


def test_the_record_and_the_results_go_by_the_name(tmp_path: Path) -> None:
    steps = [step("old", stdout_file="a.txt"), step("new"), step("Process")]
    made(tmp_path, *steps, resources=TWO)
    arguments = ["--root", str(tmp_path), "--direct", "--runs", "1", "--cooldown", "0"]
    assert call(["run", *arguments]) == 0
    folder = tmp_path / "results" / "run_1"
    assert (folder / "old" / "a.txt").read_text() == "old\n"
    assert (folder / "new" / "02-new-execute.stdout.txt").read_text() == "new\n"
    assert (folder / "process" / "03-Process-execute.stdout.txt").read_text() == "Process\n"
    record = json.loads((folder / "run.json").read_text())
    classes = {name: told.get("class") for name, told in record["resources"].items()}
    assert classes == {"old": "Process", "new": "Process", "Process": None}
    assert all(told["version"].startswith("Linux") for told in record["resources"].values())
    assert {phase["resource"] for phase in record["phases"]} == set(classes)
    assert [s["resource"] for s in record["steps"]] == ["old", "new", "Process"]


# -- what cannot work


@pytest.mark.parametrize(
    ("settings", "place", "message"),
    [
        ({"image": ""}, ".image", "it has no image"),
        ({"network": False, "ready": {"tcp": 80}}, ".ready", "nothing can be"),
        ({"network": False, "ready": {"http": "80/"}}, ".ready", "ready.http"),
        ({"network": False, "ports": {"80": 0}}, ".ports", "none can be"),
        ({"runs": False}, "$.steps[0].command", "needs a container that runs"),
        ({"ready": {"tcp": 70_000}}, ".ready", "ports are 1 to 65535"),
        ({"ready": {"command": []}}, ".ready", "ready.command is empty"),
        ({"health_check": {"command": ["a"], "retries": 0}}, "", "health_check.retries is 0"),
        ({"ports": {"80": 5000, "81": 5000}}, ".ports", "port 5000"),
        ({"ports": {"8" * 5_000: 0}}, ".ports", "ports are 1 to 65535"),
        ({"cpuset": "all"}, ".cpuset", "write it like 0-2"),
        ({"volumes": ["/a"], "tmpfs": {"/a/": "1MB"}}, ".tmpfs", "twice"),
        ({"volumes": ["/data/shared"]}, ".volumes", "mounted twice"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    tmp_path: Path, settings: dict[str, Any], place: str, message: str
) -> None:
    given = {"Container": {"image": "a", **settings}}
    [(path, said)] = problems(made(tmp_path, step("Container"), resources=given)).items()
    assert message in said
    assert path.removeprefix("$.resources.Container") == place or not place


def test_all_contradictions_are_told_at_once(tmp_path: Path) -> None:
    settings = {"network": False, "ready": {"tcp": 80}, "runs": False, "memory": "x", "cpus": "2"}
    told = problems(made(tmp_path, step("Container"), resources={"Container": settings}))
    names = ("image", "ready", "memory", "cpus")
    places = {f"$.resources.Container.{name}" for name in names}
    assert told.keys() == places | {"$.steps[0].command"}


def test_nothing_cannot_be_executed(tmp_path: Path) -> None:
    [(path, message)] = problems(made(tmp_path, step("Process", arguments=[]))).items()
    assert path == "$.steps[0].parameters.arguments"
    assert message == "is empty; its first item must be the program"


@pytest.mark.parametrize("name", ["pipe", "linked", "device"])
def test_pipes_and_devices_are_no_inputs(tmp_path: Path, name: str) -> None:
    shared = tmp_path / "data" / "shared"
    shared.mkdir(parents=True)
    os.mkfifo(shared / "pipe")
    (shared / "linked").symlink_to("pipe")
    (shared / "device").symlink_to("/dev/zero")
    reads = step("Process", stdin_file=name)
    compares = {**step("Process", stdout_file="out"), "check": {"equal": name}}
    told = [problem.message for problem in made(tmp_path, reads, compares).problems]
    # What leads out of the case is refused for that.
    wanted = "leads out of data/shared" if name == "device" else "is a named pipe"
    assert len(told) == 2
    assert all(wanted in message for message in told)
