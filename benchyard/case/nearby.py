"""Classes that lie near a case and were not asked for: a forgotten ``--resources``."""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from benchyard.core.files import content, shown

_FOLDER = "resources"


def hint_at_class(name: str, case: Path, known: Collection[str]) -> str | None:
    """Say how a class becomes known that stands in a folder ``resources`` in or above a case.

    Args:
        case: The case's folder.
        known: Files whose classes are known: their folders need no hint.

    Returns:
        The end of a sentence; None if no such folder has the class.
    """
    if not name.isidentifier():
        return None
    begin = re.compile(rb"^class\s+" + name.encode() + rb"\s*\(", re.MULTILINE)
    asked = {os.path.dirname(os.path.realpath(file)) for file in known}  # noqa: PTH120 - fast
    for folder in dict.fromkeys(_folders(case)):
        if os.path.realpath(folder) not in asked:
            for file in sorted(folder.glob("[!_]*.py")):
                with suppress(OSError):
                    if begin.search(content(file)):
                        return _told(name, file)
    return None


def _folders(case: Path) -> Iterator[Path]:
    """Yield folders that may hold classes: in the case, above it up to its repository, and here."""
    for place in (case, *case.parents):
        yield place / _FOLDER
        if (place / ".git").exists():
            break
    with suppress(OSError):
        yield Path.cwd() / _FOLDER


def _told(name: str, file: Path) -> str:
    folder = shown(file.parent)
    return (
        f"; class {name} is in {shown(file)}: add --resources {folder}, or "
        f'resources = ["{folder}"] to benchyard.toml'
    )
