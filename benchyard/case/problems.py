"""What is wrong with a case, in words that help to mend it."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

#: Similarity from which a name counts as a slip of the pen (``difflib`` ratio, 0 to 1).
NEAR = 0.8
#: Similarity from which a name is worth suggesting when the given one is certainly wrong.
WORTH_SUGGESTING = 0.5


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
        return f"{self.file}: {self.path}: {self.message}"


def json_path(parts: Iterable[str | int]) -> str:
    """Write a path as ``$.steps[1].parameters.file``."""
    return "$" + "".join(_part(part) for part in parts)


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isidentifier() else f"[{part!r}]"


def near_miss(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``word`` was most likely meant to be, or None."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=NEAR)), None)


def hint(word: str, known: Iterable[str]) -> str:
    """Return what to write instead of an unknown name, with a leading space."""
    names = sorted(known)
    lower = {name.lower(): name for name in names}
    found = get_close_matches(word.lower(), list(lower), n=1, cutoff=WORTH_SUGGESTING)
    if found:
        return f"; did you mean '{lower[found[0]]}'?"
    return f"; known: {', '.join(names)}" if names else ""
