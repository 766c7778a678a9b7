"""Problems of a case, in words that help to mend it."""

from dataclasses import dataclass
from pathlib import Path

from benchyard.core.files import shown
from benchyard.core.wording import printable

JsonPath = tuple[str | int, ...]
#: Where something is wrong in a document, and what.
Finding = tuple[JsonPath, str]

#: Most problems that are reported of one file; there may be millions.
MOST_PROBLEMS = 500


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Args:
        file: The file that says it.
        path: JSON path inside the file, ``$`` for the whole.
        message: What is wrong and what to do, without a full stop.
    """

    file: Path
    path: str
    message: str

    def __str__(self) -> str:
        return printable(f"{shown(self.file)}: {self.path}: {self.message}")


def json_path(parts: JsonPath) -> str:
    """Write a path as ``$.steps[1].parameters.file``."""
    return "$" + "".join(_part(part) for part in parts)


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() else f"[{part!r}]"
