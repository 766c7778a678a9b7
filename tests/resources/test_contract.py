"""Every resource class keeps the contract that the lab relies on."""

import inspect
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import resources
from benchyard.case.parameters import schema_of, signature_of
from benchyard.case.resource import CommandResult, Resource, Workspace, commands_of
from benchyard.core.errors import ResourceError
from resources import bases

CLASSES = resources.find().classes
every_class = pytest.mark.parametrize("name", sorted(CLASSES))

#: Those that need nothing but this machine.
LOCAL = ("DuckDB", "Process", "PythonFunction", "SQLite", "Service", "TPCH")

#: What the lab itself calls.
CONTRACT = {name for name in dir(Resource) if not name.startswith("_")} | {"settings", "workspace"}


#: What a case must set at least.
NEEDED: dict[str, dict[str, Any]] = {
    "Container": {"image": "benchyard-test/none"},
    "Service": {"arguments": ["sleep", "600"]},
}


def settings(name: str) -> Any:
    return CLASSES[name].Settings(**NEEDED.get(name, {}))


def make(name: str, workspace: Workspace) -> Resource[Any]:
    return CLASSES[name](settings(name), workspace)


@pytest.fixture
def untouched(tmp_path: Path) -> Workspace:
    """Give a workspace whose folders are not even there."""
    return Workspace(tmp_path / "inputs", tmp_path / "shared", tmp_path / "own", tmp_path / "kept")


@every_class
def test_nothing_is_touched_before_a_start(name: str, untouched: Workspace, tmp_path: Path) -> None:
    resource = make(name, untouched)
    assert list(resource.pids()) == []
    assert list(resource.cgroups()) == []
    resource.abort()
    resource.stop()
    resource.stop()
    assert list(tmp_path.iterdir()) == []


@every_class
def test_settings_are_a_frozen_dataclass_with_defaults(name: str) -> None:
    found = CLASSES[name].Settings
    assert settings(name) == settings(name)
    assert found.__dataclass_params__.frozen
    for annotation in signature_of(found).annotations.values():
        assert schema_of(annotation), f"{annotation} says nothing to the case's schema"


@every_class
def test_every_command_is_annotated_and_documented(name: str) -> None:
    commands = commands_of(CLASSES[name])
    assert commands
    for label, method in commands.items():
        signature = signature_of(method)
        documented = inspect.getdoc(method) or ""
        assert signature.summary.endswith("."), label
        assert get_type_hints(method)["return"] is CommandResult
        for parameter, annotation in signature.annotations.items():
            assert schema_of(annotation), f"{label}: {parameter}"
            assert f"{parameter}:" in documented, f"{label}: {parameter} is not documented"


@every_class
def test_nothing_else_is_public(name: str) -> None:
    public = {label for label in dir(CLASSES[name]) if not label.startswith("_")}
    assert public - CONTRACT - set(commands_of(CLASSES[name])) == set()


@every_class
def test_the_version_is_told_without_a_start(name: str, workspace: Workspace) -> None:
    try:
        told = make(name, workspace).version()
    except ResourceError as error:
        # What is not on this machine cannot be asked; it must say so in words.
        assert name not in LOCAL
        told = str(error)
    assert told.strip()
    assert told == told.strip()


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("is_waited_for", [True, False])
def test_stop_ends_all_and_may_be_called_twice(
    name: str, workspace: Workspace, is_waited_for: bool
) -> None:
    resource = make(name, workspace)
    resource.initialize()
    resource.start()
    if is_waited_for:
        resource.wait_until_ready()
    pids = list(resource.pids())
    resource.stop()
    resource.stop()
    assert list(resource.pids()) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


# -- base classes for others: the example of the page that leads classes of KROWN's here

#: A list that grows has no type that pyright knows.
_OFFERED: list[str] = vars(bases)["__all__"]
PAGE = (Path(__file__).parents[2] / "docs" / "integrations" / "krown.md").read_text()


def test_the_example_is_a_class_with_krowns_commands(tmp_path: Path) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_engine.py").write_text(example)
    registry = resources.find([tmp_path])
    assert "MyEngine" not in registry.unavailable
    commands = commands_of(registry.classes["MyEngine"])
    assert sorted(commands) == ["execute", "execute_mapping"]
    signature = signature_of(commands["execute_mapping"])
    assert list(signature.required) == ["mapping_file", "output_file", "serialization"]


def test_the_page_names_what_there_is() -> None:
    assert set(_OFFERED) <= set(re.findall(r"`(\w+)`", PAGE))
