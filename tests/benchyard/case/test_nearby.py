"""A class that lies near its case, and was not asked for."""

from pathlib import Path

import pytest

from tests.conftest import MakeCase, process
from tests.here import RunHere, runner

CLASS = """
from benchyard.resource import Resource

class Mine(Resource):
    def command_go(self) -> None:
        pass
"""


@pytest.fixture
def run_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> RunHere:
    return runner(capsys, monkeypatch, tmp_path)


@pytest.fixture
def case(case_folder: MakeCase) -> Path:
    return case_folder("needs-mine", {**process("a", "true"), "resource": "Mine"})


@pytest.mark.parametrize("place", ["cases/needs-mine", "cases", "."])
def test_an_unknown_class_is_found_in_and_above_its_case(
    case: Path, run_here: RunHere, tmp_path: Path, place: str
) -> None:
    folder = tmp_path / place / "resources"
    folder.mkdir()
    (folder / "x.py").write_text(CLASS)
    where = (Path(place) / "resources").as_posix()
    told = run_here("validate", case).stdout
    assert (
        f"unknown resource 'Mine'; class Mine is in {where}/x.py: add --resources {where}, or "
        f'resources = ["{where}"] to benchyard.toml'
    ) in told
    (tmp_path / "benchyard.toml").write_text(f'resources = ["{where}"]')
    assert "unknown resource" not in run_here("validate", case).stdout


def test_the_search_ends_at_the_root_of_a_repository(
    case: Path, run_here: RunHere, tmp_path: Path
) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "x.py").write_text(CLASS)
    (tmp_path / "cases" / ".git").mkdir()
    assert "class Mine is in" not in run_here("validate", ".", cwd=case).stdout


@pytest.mark.parametrize("content", ["class Mine:\n", "# class Mine(\n", "class Mines(x):\n", ""])
def test_only_a_class_of_that_name_is_offered(case: Path, run_here: RunHere, content: str) -> None:
    (case / "resources").mkdir()
    (case / "resources" / "x.py").write_text(content)
    (case / "resources" / "folder.py").mkdir()
    told = run_here("validate", case).stdout
    assert "unknown resource 'Mine'" in told
    assert "class Mine is in" not in told
