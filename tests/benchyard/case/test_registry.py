"""Which resource classes there are, and why others are not."""

import importlib.metadata
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock

import pytest

import resources
from benchyard.case import registry
from benchyard.case.loading import load
from benchyard.case.problems import Problem
from benchyard.case.registry import ENTRY_POINTS, Registry
from benchyard.case.resource import commands_of
from benchyard.core.errors import InputError
from tests.benchyard.case.toys import Toy

TOY = """
from benchyard.case.resource import NoSettings, Resource, command

class {name}(Resource[NoSettings]):
    "A toy."

    def version(self) -> str:
        return "1"

    @command
    def play(self, text: str = "") -> None:
        "Play."

    def helper(self) -> None:
        "Not for cases."

    def _clear_tables(self) -> None:
        "Not for cases either."
"""


@pytest.fixture
def empty(tmp_path: Path) -> ModuleType:
    """Stand in for the shipped package, without modules."""
    package = ModuleType("no_resources")
    (tmp_path / "package").mkdir()
    package.__path__ = [str(tmp_path / "package")]
    return package


@pytest.fixture
def find(
    empty: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Registry]:
    """Write modules into a folder of the user's and find what is there."""

    monkeypatch.setattr(importlib.metadata, "entry_points", Mock(return_value=[]))

    def found(folder: str = "mine", /, **modules: str) -> Registry:
        (tmp_path / folder).mkdir(exist_ok=True)
        for name, text in modules.items():
            (tmp_path / folder / f"{name}.py").write_text(text)
        return registry.find(empty, [tmp_path / folder])

    return found


def toy(name: str) -> str:
    return TOY.format(name=name)


# -- what is found


def test_defect_46_only_classes_of_the_module_itself_are_resources(
    find: Callable[..., Registry],
) -> None:
    module = """
import threading
from abc import abstractmethod
from concurrent.futures import Executor
from csv import DictWriter
from resources.process import Process, ProgramResource
from benchyard.case.resource import NoSettings, Resource, command

Thread = threading.Thread

class Helper:
    pass

class Base(Resource[NoSettings]):
    @abstractmethod
    def connect(self) -> None: ...

class _Private(Resource[NoSettings]):
    def version(self) -> str:
        return "1"

class Real(_Private):
    @command
    def play(self) -> None: ...

Alias = Real
"""
    found = find(module=module)
    assert list(found.classes) == ["Real"]
    assert found.unavailable == {}


def test_defect_46_only_marked_methods_are_commands(find: Callable[..., Registry]) -> None:
    found = find(module=toy("Toy"))
    assert list(commands_of(found.classes["Toy"])) == ["play"]
    shipped = resources.find().classes
    assert {"Process", "SQLite", "DuckDB", "TPCH"} <= set(shipped)
    for name, resource in shipped.items():
        assert resource.__module__.startswith("resources.")
        for word in commands_of(resource):
            assert not word.startswith("_"), name
        assert not {"start", "stop", "version", "initialize"} & set(commands_of(resource))


def test_modules_may_be_named_like_others(
    find: Callable[..., Registry], empty: ModuleType, tmp_path: Path
) -> None:
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").write_text(toy(f"Class{name}"))
    found = registry.find(empty, [tmp_path / "A", tmp_path / "B"])
    assert {"ClassA", "ClassB"} <= set(found.classes)
    assert "Other" in find(json=toy("Other")).classes
    assert sys.modules["json"] is json


def test_a_folder_that_is_not_there_is_an_error(empty: ModuleType, tmp_path: Path) -> None:
    for name in ("absent", "file"):
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match=r"there is no folder .*; give --resources a folder"):
            registry.find(empty, [tmp_path / name])


def test_two_classes_of_one_name_are_an_error_that_names_both(
    find: Callable[..., Registry], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="two resource classes are named 'Same'") as raised:
        find(one=toy("Same"), two=toy("Same"))
    for name in ("one.py", "two.py"):
        assert str(tmp_path / "mine" / name) in str(raised.value)
    (tmp_path / "mine.py").write_text(toy("Process"))
    with pytest.raises(InputError, match=r"named 'Process': one in .*process\.py, one in .*mine"):
        resources.find([tmp_path])


# -- what is unavailable


BROKEN: list[tuple[str, str]] = [
    ("import a_module_that_nobody_has\n" + toy("Gone"), "ModuleNotFoundError"),
    (toy("Gone") + "\nraise RuntimeError('no licence')\n", "RuntimeError: no licence"),
    (toy("Gone") + "\nraise SystemExit(0)\n", "SystemExit: 0"),
    (toy("Gone") + "\nthis is no Python\n", "SyntaxError"),
    (toy("Gone").replace("text: str", "text: Undefined"), "NameError"),
    (toy("Gone").replace("text: str", 'text: "Undefined"'), "NameError"),
]


@pytest.mark.parametrize(("module", "reason"), BROKEN)
def test_defect_31_a_module_that_cannot_be_imported_takes_only_itself_away(
    find: Callable[..., Registry], tmp_path: Path, module: str, reason: str
) -> None:
    found = find(broken=module, fine=toy("Fine"), _helper="raise RuntimeError")
    assert list(found.classes) == ["Fine"]
    assert list(found.unavailable) == ["Gone"]
    assert found.unavailable["Gone"].startswith(f"{tmp_path}/mine/broken.py: ")
    assert reason in found.unavailable["Gone"]


def test_a_file_that_is_no_text_is_unavailable_under_its_own_name(
    empty: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x00\xff" * 50)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "dangling.py").symlink_to("nowhere")
    found = registry.find(empty, [tmp_path])
    assert {"binary", "folder", "dangling"} <= set(found.unavailable)


def test_a_module_that_failed_is_tried_again(find: Callable[..., Registry]) -> None:
    assert "Later" in find("late", late="import not_yet_there\n" + toy("Later")).unavailable
    assert "Later" in find("late", late=toy("Later")).classes


def test_defect_31_only_cases_that_need_it_are_invalid(
    find: Callable[..., Registry], tmp_path: Path
) -> None:
    found = find(broken="import absent_module\n" + toy("Gone"), fine=toy("Fine"))

    def problems(resource: str) -> tuple[Problem, ...]:
        steps = [{"resource": resource, "command": "play"}]
        (tmp_path / "metadata.json").write_text(json.dumps({"name": "n", "steps": steps}))
        return load(tmp_path / "metadata.json", found).problems

    assert problems("Fine") == ()
    [problem] = problems("Gone")
    assert problem.path == "$.steps[0].resource"
    assert problem.message.startswith("the resource 'Gone' is unavailable: ")
    assert "No module named 'absent_module'" in problem.message


# -- entry points


@pytest.fixture
def plug(
    empty: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Registry]:
    """Find what entry points of these names load."""
    (tmp_path / "a_module_that_leaves.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def found(**values: str) -> Registry:
        def entry_points(*, group: str) -> list[importlib.metadata.EntryPoint]:
            assert group == ENTRY_POINTS == "benchyard.resources"
            return [importlib.metadata.EntryPoint(*each, group) for each in values.items()]

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        return registry.find(empty)

    return found


PLUGGED = "tests.benchyard.case.toys:Toy"


def test_classes_of_entry_points_are_found_once(plug: Callable[..., Registry]) -> None:
    found = plug(again=PLUGGED, Toy=PLUGGED)
    assert found.classes == {"Toy": Toy}
    assert found.origins == {"Toy": f"entry point {PLUGGED}"}


def test_an_entry_point_that_cannot_be_loaded_takes_only_itself_away(
    plug: Callable[..., Registry],
) -> None:
    broken = {
        "a_module_that_nobody_has:X": ": ModuleNotFoundError: No module named 'a_module_that_no",
        "a_module_that_leaves:X": ": SystemExit: 3",
        "math:pi": " is not a resource class",
        "builtins:dict": " is not a resource class",
        "benchyard.case.resource:Resource": " is not a resource class",
    }
    found = plug(**{value: value for value in broken}, Toy=PLUGGED)
    assert list(found.classes) == ["Toy"]
    assert found.unavailable.keys() == broken.keys()
    for value, said in broken.items():
        assert found.unavailable[value].startswith(value + said)
