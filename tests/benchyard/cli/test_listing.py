"""``benchyard list``."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase

STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}


@pytest.fixture
def root(case_folder: MakeCase, tmp_path: Path) -> Path:
    case_folder("first", STEP, tags=["quick"], description="The first.")
    case_folder("points", STEP, STEP, matrix={"n": [1, 2]})
    case_folder("wrong", {**STEP, "resource": "Proces"}, {**STEP, "command": "exec"})
    return tmp_path / "cases"


def finish(folder: Path, run: int) -> None:
    (folder / f"run_{run}").mkdir(parents=True)
    (folder / f"run_{run}" / ".done").touch()
    (folder / f"run_{run}" / "run.json").write_text("{}")


def listed(cli: Cli, *arguments: str | Path) -> list[dict[str, Any]]:
    said = cli("list", "--json", *arguments)
    assert said.err == ""
    return json.loads(said.out)


def test_the_table_shows_state_and_place(root: Path, cli: Cli) -> None:
    finish(root / "first" / "results", 1)
    finish(root / "first" / "results", 3)
    said = cli("list", "--root", root)
    rows = [line.split() for line in said.out.splitlines()]
    assert [(*row[:3], *row[-2:]) for row in rows] == [
        ("CASE", "STEPS", "DONE", "TAGS", "FOLDER"),
        ("first", "1", "2", "quick", "first"),
        ("points[n=1]", "2", "0", "-", "points"),
        ("points[n=2]", "2", "0", "-", "points"),
        ("wrong", "-", "-", "invalid", "wrong"),
    ]


def test_runs_that_krown_made_are_shown_as_its_own(root: Path, cli: Cli) -> None:
    finish(root / "first" / "results", 2)
    theirs = root / "first" / "results" / "run_1"
    theirs.mkdir()
    (theirs / "metrics.csv").touch()
    (theirs / ".done").write_text("2024-01-01T10:00:00")
    [first] = listed(cli, "--root", root, "first")
    assert (first["runs_done"], first["runs_of_krown"]) == ([2], [1])
    assert "  1 (KROWN's: 1)  " in cli("list", "--root", root, "first").out


def test_defect_27_what_is_invalid_is_listed_with_its_reason(root: Path, cli: Cli) -> None:
    [reason, summary] = cli("list", "--root", root).err.splitlines()
    assert reason.startswith(f"invalid: {root}/wrong/metadata.json: $.steps[0].resource: ")
    assert reason.endswith("did you mean 'Process'? (and 1 more)")
    assert summary == "3 cases, 1 invalid; benchyard validate shows all problems"


def test_json_has_everything_and_stdout_nothing_else(root: Path, cli: Cli) -> None:
    finish(root / "points" / "results" / "n=2", 1)
    first, *points, wrong = listed(cli, "--root", root)
    folder = root / "first"
    known = {"name": "first", "valid": True, "description": "The first.", "tags": ["quick"]}
    known |= {"file": str(folder / "metadata.json"), "results": str(folder / "results")}
    assert first | known | {"point": {}, "steps": 1, "runs_done": []} == first
    told = [(one["name"], one["point"], one["runs_done"]) for one in points]
    assert told == [("points[n=1]", {"n": 1}, []), ("points[n=2]", {"n": 2}, [1])]
    assert (wrong["name"], wrong["valid"]) == ("wrong", False)
    paths = [problem["path"] for problem in wrong["problems"]]
    assert paths == ["$.steps[0].resource", "$.steps[1].command"]


def test_results_may_lie_elsewhere(root: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    finish(out / "first", 1)
    [first] = listed(cli, "--root", root, "--results", out, "first")
    assert (first["runs_done"], first["results"]) == ([1], str(out / "first"))
    assert cli("list", "--root", out).err == f"no cases below {out}\n"
    assert listed(cli, "--root", out) == []


def test_an_unreadable_run_is_shown_and_the_rest_is_listed(root: Path, cli: Cli) -> None:
    for run in (1, 2):
        finish(root / "first" / "results", run)
    (root / "first" / "results" / "run_2" / "run.json").write_bytes(b"\x00\xff")
    [first, *rest] = listed(cli, "--root", root)
    assert (first["runs_done"], first["runs_unreadable"]) == ([1], [2])
    assert rest
    assert "1 (unreadable: 1)" in cli("list", "--root", root).out


def test_a_selection_of_nothing_is_wrong_input(root: Path, cli: Cli) -> None:
    for arguments in (["frist"], ["--tag", "absent"], ["x" * 5_000], [""], ["--root", "/absent"]):
        said = cli("list", "--root", root, *arguments, code=2)
        assert said.out == ""
        assert said.err.startswith("benchyard: ")
        assert "Traceback" not in said.err


def test_names_that_are_no_text_are_listed(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9\n\x1b[31m")
    folder.mkdir()
    (folder / "metadata.json").write_text(json.dumps({"name": "fine", "steps": [STEP]}))
    [entry] = listed(cli, "--root", tmp_path)
    assert entry["file"] == str(folder / "metadata.json")
    (folder / "metadata.json").write_text('{"name": "bad\\u001b[31m\\n", "steps": []}')
    said = cli("list", "--root", tmp_path)
    assert "bad\\x1b[31m\\n" in said.out
    assert "\x1b" not in said.err


def test_links_to_folders_are_said_to_be_passed_over(root: Path, cli: Cli, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "linked").symlink_to(root / "first")

    for arguments in ((), ("--json",)):
        said = cli("list", "--root", links, *arguments)
        assert "1 link to folders passed over, such as " in said.err
        assert str(links / "linked") in said.err
    assert "passed over" not in cli("list", links / "linked").err
