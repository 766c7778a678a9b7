"""Templates: complete, and never written over anything."""

from pathlib import Path

import pytest

from benchyard.case import new_case as module
from benchyard.case.new_case import TEMPLATES, new_case
from benchyard.core.errors import InputError


def test_each_folder_is_a_template() -> None:
    folders = {each.name for each in Path(module.__file__).parent.iterdir() if each.is_dir()}
    assert folders - {"__pycache__"} == set(TEMPLATES)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_case_has_its_name_and_a_page(tmp_path: Path, template: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    new_case(folder, template)
    assert '"name": "mine"' in (folder / "metadata.json").read_text()
    assert (folder / "README.md").read_text().startswith("# mine\n")
    assert any((folder / "data/shared").iterdir())
    assert not any("NAME" in file.read_text() for file in folder.rglob("*.*") if file.is_file())


@pytest.mark.parametrize("taken", ["file", "folder", "link"])
def test_nothing_is_written_over(tmp_path: Path, taken: str) -> None:
    folder = tmp_path / "mine"
    if taken == "file":
        folder.write_text("")
    elif taken == "link":
        folder.symlink_to("nowhere")
    else:
        (folder / "data").mkdir(parents=True)
    with pytest.raises(InputError, match="something is there already"):
        new_case(folder, "sql")


@pytest.mark.parametrize("name", ["a b", "ü", "-x", ".x", "x" * 101, "a[1]"])
def test_a_name_that_no_case_may_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="a case is named after its folder"):
        new_case(tmp_path / name, "sql")
    assert not list(tmp_path.iterdir())
