"""What the repository says of itself: decisions, versions, workflows, forms, hooks."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchyard

ROOT = Path(__file__).parents[2]
FORMS = [
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
    *(ROOT / ".github").rglob("*.yml"),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPT = (ROOT / ".ci/run").read_text()


def parsed(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def first(pattern: str, text: str) -> str:
    return re.findall(pattern, text, re.MULTILINE)[0]


def test_the_index_of_decisions_has_each_by_its_title() -> None:
    folder = ROOT / "docs/decisions"
    index = (folder / "README.md").read_text()
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", index, re.MULTILINE)
    pages = {page.name: page.read_text() for page in folder.glob("[!R]*.md")}
    assert {name: f"# {title}" for title, name in listed} == {
        name: text.partition("\n")[0] for name, text in pages.items()
    }


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_is_yaml_and_the_scripts_that_it_names_exist(form: Path) -> None:
    assert isinstance(parsed(str(form)), dict)
    for script in re.findall(r"\.ci/\w+", form.read_text()):
        assert (ROOT / script).exists()


def test_the_workflow_executes_each_part_of_the_script() -> None:
    matrix = parsed(".github/workflows/ci.yml")["jobs"]["check"]["strategy"]["matrix"]
    parts = {*matrix["part"], *(each["part"] for each in matrix["include"])}
    assert parts == set(first(r"^  all \| (.+)\) ;;$", SCRIPT).split(" | "))
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def test_hooks_are_the_linters_of_the_script() -> None:
    script = SCRIPT.replace('"', "").replace("$programs", ".venv/bin")
    for hook in parsed(".pre-commit-config.yaml")["repos"][0]["hooks"]:
        assert f"\n  {hook['entry']}\n" in script


def test_one_version_is_named_everywhere() -> None:
    newest = first(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text())
    named = {PROJECT["version"], parsed("CITATION.cff")["version"], newest}
    assert named == {benchyard.__version__}
