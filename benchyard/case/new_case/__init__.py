"""New cases, made of templates that are valid as they are.

A template is a folder beside this file: ``case.json``, which becomes ``metadata.json``, a page that
explains it, and inputs. ``NAME`` in its texts becomes the case's name.
"""

import re
import shutil
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.core.files import refuse_taken

_HERE = Path(__file__).parent
#: Template to what it is for, in the order in which they are offered.
TEMPLATES = {
    "command": "a program, with its input and a check of its answer",
    "sql": "queries on a database that is loaded from CSV",
    "container": "a program in a container, with limits",
    "service": "a program that serves, and another that asks it",
    "python": "functions of Python, as often as it takes",
    "class": "a system of your own, with a class that drives it",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_folder(folder: Path) -> None:
    """Refuse a folder in which no new case can be made.

    Raises:
        InputError: If something is there already, or its name is no name of a case.
    """
    name = folder.resolve().name
    if not _NAME.fullmatch(name):
        raise InputError(
            f"'{name}': a case is named after its folder; use letters, digits, '-', '_' and '.'"
        )
    refuse_taken(folder)


def new_case(folder: Path, template: str) -> None:
    """Make a case.

    Args:
        folder: The new case's, named as it.
        template: One of ``TEMPLATES``.

    Raises:
        InputError: As for ``check_folder``.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = _HERE / template
    for file in sorted(source.rglob("*")):
        place = file.relative_to(source)
        if file.is_file() and "__pycache__" not in place.parts:
            _copy(file, folder / place, folder.resolve().name)


def write_page(folder: Path) -> None:
    """Write beside a case the page that explains steps of commands."""
    _copy(_HERE / "command" / "README.md", folder / "README.md", folder.resolve().name)


def _copy(file: Path, target: Path, name: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.name == "case.json":
        target = target.with_name("metadata.json")
    if file.suffix in {".json", ".md"}:
        text = file.read_text(encoding="utf-8").replace("NAME", name)
        target.write_text(text, encoding="utf-8")
    else:
        shutil.copyfile(file, target)
