"""``benchyard new``."""

import json
from pathlib import Path

import pytest

from benchyard.case.new_case import TEMPLATES
from tests.benchyard.cli.conftest import Cli

ONCE = ("--direct", "--runs", "1", "--cooldown", "0")


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(name, marks=pytest.mark.requires("docker", "image:base"))
        if name == "container"
        else name
        for name in TEMPLATES
    ],
)
def test_a_new_case_is_valid_and_can_be_executed(run_here: Cli, template: str) -> None:
    made = run_here("new", "mine", "--template", template)
    _, _, advised = made.out.strip().partition("then: benchyard ")
    run_here("validate", *advised.split()[1:])
    if template != "container":
        run_here(*advised.split(), *ONCE)


def test_json_names_the_case_and_its_classes(run_here: Cli, tmp_path: Path) -> None:
    made = json.loads(run_here("new", "mine", "--template", "class", "--json").out)
    assert made == {"file": "mine/metadata.json", "resources": ["mine/resources"]}
    run_here("validate", "mine", "--resources", *made["resources"])
    plain = json.loads(run_here("new", "plain", "--json", "--from-command", "true").out)
    assert plain["resources"] == []
    assert (tmp_path / plain["file"]).is_file()


def test_commands_become_steps(run_here: Cli, tmp_path: Path) -> None:
    run_here("new", "mine", "--from-command", "true", "--from-command", "echo a b")
    assert '"echo a b"' in (tmp_path / "mine/metadata.json").read_text()
    run_here("run", "mine", *ONCE)
    again = run_here("new", "mine", "--from-command", "true", code=2)
    assert "something is there already" in again.err


def test_a_shell_is_for_commands(cli: Cli, tmp_path: Path) -> None:
    assert "--shell belongs to" in cli("new", tmp_path / "x", "--shell", code=2).err
    assert "add --shell" in cli("new", tmp_path / "x", "--from-command", "a | b", code=2).err
    assert not list(tmp_path.iterdir())


def test_files_that_commands_name_are_copied(run_here: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("words.txt", "in/more.txt", "patterns"):
        (tmp_path / name).write_text("a\n")
    lines = ("sort words.txt", f"grep --file=patterns in/more.txt {tmp_path}/words.txt")
    made = run_here("new", "mine", *(word for line in lines for word in ("--from-command", line)))
    assert "copied into mine/data/shared: in/more.txt, patterns, words.txt\n" in made.err
    assert "# mine\n" in (tmp_path / "mine/README.md").read_text()
    run_here("run", "mine", *ONCE)
    shell = run_here("new", "other", "--shell", "--from-command", "sort <words.txt >sorted")
    assert "shared: words.txt\n" in shell.err
