"""The cases that a form offers."""

from pathlib import Path

import pytest

from benchyard.case.loading import one_case
from benchyard.core.errors import InputError
from resources import find
from tasks.parameters import choices, reference
from tests.conftest import MakeCase, process


def test_each_valid_case_is_offered_by_a_name_that_selects_it(
    case_folder: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = process("work", "echo ${matrix.x}")
    case_folder("b", step, matrix={"x": ["1", "[2]"]})
    case_folder("a", process("work", "true"))
    case_folder("broken", process("work", "true", timeout=-1))

    offered = choices(tmp_path / "cases", tmp_path)

    assert offered == ["cases/a", "cases/b[x=1]", "cases/b[x=[2]]"]
    monkeypatch.chdir(tmp_path)
    for name in offered:
        case = one_case(Path("cases"), name, find())
        assert reference(case, tmp_path) == name


def test_a_case_outside_of_the_checkout_is_named_by_its_whole_path(
    case_folder: MakeCase, tmp_path: Path
) -> None:
    folder = case_folder("a", process("work", "true"))

    assert choices(tmp_path / "cases", tmp_path / "checkout") == [str(folder)]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        choices(tmp_path / "nothing", tmp_path)
