"""``benchyard validate``."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from benchyard.cli import call

MakeCase = Callable[..., Path]
STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}


def test_valid_cases_are_counted(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_folder("a", STEP)
    case_folder("b", STEP, matrix={"n": [1, 2]})
    assert call(["validate", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "3 cases valid, 0 invalid\n")


def test_defect_27_every_problem_of_every_case_at_once(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_folder("a", {**STEP, "resource": "Proces"}, {"resource": "Process", "command": "execute"})
    case_folder("b", {**STEP, "paramters": {}})
    case_folder("c", STEP)
    (tmp_path / "cases" / "d").mkdir()
    (tmp_path / "cases" / "d" / "metadata.json").write_text("{")
    assert call(["validate", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert [line.removeprefix(f"{tmp_path}/cases/") for line in said.out.splitlines()] == [
        "a/metadata.json: $.steps[0].resource: unknown resource 'Proces'; did you mean 'Process'?",
        "a/metadata.json: $.steps[1].parameters: Process.execute lacks 'arguments'",
        "b/metadata.json: $.steps[0].paramters: unknown key 'paramters'; "
        "did you mean 'parameters'?",
        "d/metadata.json: $: not JSON: Expecting property name enclosed in double quotes at "
        "line 1, column 2",
    ]
    assert said.err == "1 case valid, 3 invalid\n"


def test_run_tells_the_same_problems(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["cat", "absent"]
    case_folder(
        "a",
        {**STEP, "@id": "x", "resource": "Proces", "parameters": {"argumnts": arguments}},
        {**STEP, "@id": "x", "command": "exceute", "timeout": 0},
        {**STEP, "parameters": {"arguments": arguments, "stdin_file": "../../../secret"}},
        tags="fast",
    )
    assert call(["validate", "--root", str(tmp_path)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 7
    assert call(["run", "--direct", "--root", str(tmp_path)]) == 2
    assert capsys.readouterr().err.removeprefix("benchyard: ").splitlines() == told


def test_json_is_one_document(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = case_folder("a", {**STEP, "resource": "Zzz"})
    assert call(["validate", "--json", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.err == ""
    document = json.loads(said.out)
    assert (document["valid"], document["invalid"]) == (0, 1)
    [problem] = document["problems"]
    assert problem["file"] == str(folder / "metadata.json")
    assert problem["path"] == "$.steps[0].resource"
    assert problem["message"].startswith("unknown resource 'Zzz'; known: ")


def test_only_what_is_selected_is_checked(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_folder("good", STEP)
    case_folder("bad", {**STEP, "resource": "Zzz"})
    assert call(["validate", "--root", str(tmp_path), "good"]) == 0
    assert call(["validate", "--root", str(tmp_path), "bad"]) == 2
    capsys.readouterr()


def test_the_schema_is_printed_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["validate", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == "Benchyard case"


def test_further_resources_are_taken_into_account(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case_folder("a", {"resource": "Mine", "command": "play"})
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "mine.py").write_text(
        "from benchyard.case.resource import NoSettings, Resource, command\n"
        "class Mine(Resource[NoSettings]):\n"
        "    def version(self) -> str:\n"
        "        return '1'\n"
        "    @command\n"
        "    def play(self) -> None: ...\n"
    )
    root = ["--root", str(tmp_path / "cases")]
    assert call(["validate", *root]) == 2
    assert call(["validate", *root, "--resources", str(mine)]) == 0
    assert call(["validate", *root, "--resources", str(tmp_path / "absent")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_names_that_are_no_text_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    (folder / "metadata.json").write_text("{")
    assert call(["validate", "--root", str(tmp_path)]) == 2
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{tmp_path}/\\udcff/metadata.json: $: not JSON")
    assert call(["validate", "--json", "--root", str(tmp_path)]) == 2
    [problem] = json.loads(capsys.readouterr().out)["problems"]
    assert problem["file"] == str(folder / "metadata.json")


@pytest.mark.parametrize("arguments", [["--root"], ["--wrong"], ["--json=x"], ["--tag"]])
def test_wrong_options_are_wrong_input(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["validate", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Error: " in said.err
