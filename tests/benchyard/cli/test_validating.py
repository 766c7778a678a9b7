"""``benchyard validate``."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase

STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}


def test_valid_cases_are_counted(case_folder: MakeCase, tmp_path: Path, cli: Cli) -> None:
    case_folder("a", STEP)
    case_folder("b", STEP, matrix={"n": [1, 2]})
    assert cli("validate", "--root", tmp_path) == ("", "3 cases valid, 0 invalid\n")


def test_what_is_discarded_is_not_checked(case_folder: MakeCase, tmp_path: Path, cli: Cli) -> None:
    def step(discards: str, **parameters: object) -> dict[str, object]:
        given = {"arguments": ["true"], "discard": [discards], **parameters}
        return {**STEP, "parameters": given}

    check, metrics = {"rows": 1}, {"a": "b"}
    named = step("stdout", output_file="made")
    case_folder("a", {**step("stdout"), "check": check}, {**named, "check": check})
    case_folder("b", {**step("stdout"), "@id": "it"}, {**STEP, "check": {"equal_to": "it"}})
    case_folder("c", step("stdout", metrics=metrics))
    case_folder("d", {**step("stderr", metrics=metrics), "check": check})
    said = cli("validate", "--root", tmp_path, code=2)
    assert [line.removeprefix(f"{tmp_path}/cases/") for line in said.out.splitlines()] == [
        "a/metadata.json: $.steps[0].check.file: is needed here: the step discards its stdout, "
        "and makes no other output",
        "b/metadata.json: $.steps[1].check.equal_to: the step 'it' discards its stdout, so it "
        "gives no answer",
        "c/metadata.json: $.steps[0].parameters.discard: 'stdout' is discarded, and 'metrics' "
        "needs it",
    ]


def test_defect_27_every_problem_of_every_case_at_once(
    case_folder: MakeCase, tmp_path: Path, cli: Cli
) -> None:
    case_folder("a", {**STEP, "resource": "Proces"}, {"resource": "Process", "command": "execute"})
    case_folder("b", {**STEP, "paramters": {}})
    case_folder("c", STEP)
    (tmp_path / "cases" / "d").mkdir()
    (tmp_path / "cases" / "d" / "metadata.json").write_text("{")
    said = cli("validate", "--root", tmp_path, code=2)
    for line, problem in zip(
        said.out.splitlines(),
        (
            "a/metadata.json: $.steps[0].resource: unknown resource 'Proces'; did you mean",
            "a/metadata.json: $.steps[1].parameters: Process.execute lacks 'arguments'",
            "b/metadata.json: $.steps[0].paramters: unknown key 'paramters'; did you mean",
            "d/metadata.json: $: not JSON: Expecting property name enclosed in double quotes",
        ),
        strict=True,
    ):
        assert line.startswith(f"{tmp_path}/cases/{problem}")
    assert said.err == "1 case valid, 3 invalid\n"


def test_json_is_one_document(case_folder: MakeCase, tmp_path: Path, cli: Cli) -> None:
    folder = case_folder("a", {**STEP, "resource": "Zzz"})
    said = cli("validate", "--json", "--root", tmp_path, code=2)
    assert said.err == ""
    document = json.loads(said.out)
    [problem] = document.pop("problems")
    assert (document["valid"], document["invalid"]) == (0, 1)
    place = (str(folder / "metadata.json"), "$.steps[0].resource")
    assert (problem["file"], problem["path"]) == place
    assert problem["message"].startswith("unknown resource 'Zzz'; known: ")


def test_the_schema_is_printed_for_editors(cli: Cli) -> None:
    schema = json.loads(cli("validate", "--schema").out)
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == "Benchyard case"


def test_further_resources_are_taken_into_account(
    case_folder: MakeCase, tmp_path: Path, cli: Cli
) -> None:
    case_folder("a", {"resource": "Mine", "command": "play"})
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "mine.py").write_text(
        "from benchyard.resource import Resource, command\n"
        "class Mine(Resource):\n"
        "    def version(self) -> str:\n"
        "        return '1'\n"
        "    @command\n"
        "    def play(self) -> None: ...\n"
    )
    words = ["validate", "--root", tmp_path / "cases"]
    cli(*words, code=2)
    cli(*words, "--resources", mine)
    absent = cli(*words, "--resources", tmp_path / "absent", code=2).err
    assert "there is no folder" in absent


@pytest.mark.parametrize("arguments", [["--root"], ["--wrong"], ["--json=x"], ["--tag"]])
def test_wrong_options_are_wrong_input(arguments: list[str], cli: Cli) -> None:
    said = cli("validate", *arguments, code=2)
    assert said.out == ""
    assert "Error: " in said.err
