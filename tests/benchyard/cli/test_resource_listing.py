"""``benchyard resources``."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from tests.benchyard.cli.conftest import Cli

BROKEN = """
import a_module_that_nobody_has
from benchyard.case.resource import NoSettings, Resource

class Gone(Resource[NoSettings]):
    pass
"""


def test_classes_commands_and_parameters_are_listed(cli: Cli) -> None:
    said = cli("resources")
    lines = said.out.splitlines()
    assert "Process  Any program of this host, as a child process." in lines
    own = lines[lines.index("Process  Any program of this host, as a child process.") :]
    execute = next(line for line in own if line.startswith("  execute(arguments"))
    assert "exit_code" in execute
    assert said.err == ""


def test_json_is_one_document_with_schemas(cli: Cli) -> None:
    said = cli("resources", "--json")
    document = json.loads(said.out)
    names = [resource["name"] for resource in document["resources"]]
    assert names == sorted(names)
    assert {"DuckDB", "Process", "SQLite"} <= set(names)
    for resource in document["resources"]:
        Draft202012Validator.check_schema(resource["settings"])
        assert resource["origin"].endswith(".py")
        assert resource["commands"]
        for described in resource["commands"].values():
            Draft202012Validator.check_schema(described["parameters"])
    assert said.err == ""


def test_one_class_may_be_asked_for_if_there_is_one(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(cli("resources", "--json", "Process").out)
    assert [resource["name"] for resource in document["resources"]] == ["Process"]
    said = cli("resources", "Proces", code=2)
    assert said.out == ""
    assert "unknown resource 'Proces'; did you mean 'Process'?" in said.err
    assert "there is no folder" in cli("resources", "--resources", tmp_path / "absent", code=2).err


def test_defect_31_what_is_unavailable_is_listed_with_its_reason(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    out = cli("resources", "--resources", tmp_path).out
    reason = "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"
    assert f"Gone: unavailable: {tmp_path}/broken.py: {reason}" in out
    assert "Process  Any program" in out
    document = json.loads(cli("resources", "--json", "--resources", tmp_path, "Gone").out)
    assert document["resources"] == []
    assert [gone["name"] for gone in document["unavailable"]] == ["Gone"]


def test_two_classes_of_one_name_are_wrong_input(tmp_path: Path, cli: Cli) -> None:
    text = BROKEN.replace("import a_module_that_nobody_has", "").replace("Gone", "Process")
    (tmp_path / "mine.py").write_text(text.replace("pass", "def version(self): return '1'"))
    said = cli("resources", "--resources", tmp_path, code=2)
    assert said.out == ""
    assert "two resource classes are named 'Process'" in said.err
