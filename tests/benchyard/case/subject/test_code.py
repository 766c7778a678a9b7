"""The code of a class: its modules, what these import from beside them, and nothing else."""

import sys
from pathlib import Path
from typing import Any

import pytest

import resources
from benchyard.case.resource import Resource
from benchyard.case.subject.contents import code_of

CLASS = """
from benchyard.case.resource import Resource
{imports}

class Mine(Resource):
    def version(self):
        return "1"
"""


def load(folder: Path, imports: str) -> type[Resource[Any]]:
    (folder / "mine.py").write_text(CLASS.format(imports=imports))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(folder), *sys.path])
        return resources.find([folder]).classes["Mine"]


def names(folder: Path, imports: str) -> list[str]:
    found = code_of(load(folder, imports)).files
    return [str(file.relative_to(folder)) for file in found]


def test_what_is_imported_from_beside_belongs_to_a_class(tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text("import json\nimport deeper.inside\n")
    (tmp_path / "other.py").write_text("")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "__init__.py").write_text("")
    (tmp_path / "deeper" / "inside.py").write_text("from . import near\n")
    (tmp_path / "deeper" / "near.py").write_text("")
    assert names(tmp_path, "import helping") == [
        "deeper/__init__.py",
        "deeper/inside.py",
        "deeper/near.py",
        "helping.py",
        "mine.py",
    ]


def test_a_script_that_a_class_names_belongs_to_it(tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text("")
    assert names(tmp_path, 'WORKER = "worker.py"') == ["mine.py", "worker.py"]


def test_packages_from_elsewhere_are_named(tmp_path: Path) -> None:
    found = code_of(load(tmp_path, "import json, numpy.linalg\nfrom click import echo\n"))
    assert found.packages == ("click", "numpy")


def test_an_installed_class_has_its_own_package_only(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "other.py").write_text("")
    found = code_of(load(site, "import other"))
    assert [file.name for file in found.files] == ["mine.py"]
    assert found.packages == ("other",)


def test_long_and_odd_texts_name_no_file(tmp_path: Path) -> None:
    texts = ("的" * 3000, "a" * 3000, "a" * 3000 + ".py", "\0.py", "../mine.py")
    assert names(tmp_path, f"TEXTS = {texts!r}") == ["mine.py"]


@pytest.mark.parametrize("place", ["mine.py", "helping.py"])
def test_the_digest_sees_every_change(tmp_path: Path, place: str) -> None:
    (tmp_path / "helping.py").write_text("X = 1\n")
    code = code_of(load(tmp_path, "import helping"))
    before = code.digest
    assert code.digest == before
    with (tmp_path / place).open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    assert code.digest != before
