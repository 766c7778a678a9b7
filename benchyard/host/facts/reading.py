"""Reading what a kernel tells in files: what is missing, refused or strange is None."""

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.model import Json

#: What asking a host can end in: it is not there or not installed, is refused, or is not as
#: documented.
UNTOLD = (OSError, ImportError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
#: More CPUs than any kernel has; a longer list is damaged. Source: Linux, NR_CPUS of x86 is 8192.
_MOST_CPUS = 65_536


@dataclass(frozen=True, slots=True)
class Host:
    """A host, as its kernel's files show it.

    Args:
        root: Where these files lie; another one than ``/`` is a recorded host.
    """

    root: Path = Path("/")

    def at(self, path: str) -> Path:
        """Return where a file of the host lies; ``path`` may begin with a slash."""
        return self.root / path.lstrip("/")

    def text(self, path: str, most: int = -1) -> str | None:
        """Return a file's content without blanks around it; None if there is none.

        Args:
            most: Bytes to read in one go; all of the file if negative.
        """
        return self.content(path, most).decode(errors="replace").strip() or None

    def content(self, path: str, most: int = -1) -> bytes:
        """Return a file's content; nothing if there is none."""
        try:
            with self.at(path).open("rb", buffering=0) as stream:
                return stream.read(most) or b""
        except (OSError, ValueError):
            return b""

    def number(self, path: str) -> int | None:
        """Return the integer that is all of a file's content."""
        return integer(self.text(path))

    def flag(self, path: str) -> bool | None:
        """Return what a file says with 0 or 1."""
        return {"0": False, "1": True}.get(self.text(path) or "")

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; none if it cannot be listed."""
        try:
            return sorted(entry.name for entry in os.scandir(self.at(folder)))
        except (OSError, ValueError):
            return []

    def has(self, path: str) -> bool:
        """Tell whether there is such a file or folder."""
        return os.access(self.at(path), os.F_OK)

    def cpus(self, path: str) -> set[int] | None:
        """Return the CPUs that a file lists like ``0-3,8``; None if it lists none."""
        text = self.text(path)
        return cpu_list(text) if text else None


def integer(text: str | None) -> int | None:
    """Read an integer as a kernel writes it; None if it is none."""
    try:
        return int(text or "")
    except ValueError:
        return None


def cpu_list(text: str) -> set[int] | None:
    """Read a list of CPUs like ``0-3,8``; None if it is no such list."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = integer(first), integer(last or first)
        if low is None or high is None or not 0 <= low <= high < _MOST_CPUS:
            return None
        found.update(range(low, high + 1))
    return found


def as_list(cpus: Collection[int]) -> str:
    """Write CPUs as a kernel does: ``0-3,8``."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][-1] == cpu - 1:
            parts[-1] = [parts[-1][0], cpu]
        else:
            parts.append([cpu])
    return ",".join("-".join(map(str, part)) for part in parts)


def chosen(text: str | None) -> str | None:
    """Return the word in brackets of ``always [madvise] never``; a lone word is its own choice."""
    words = (text or "").split()
    marked = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
    return next(iter(marked), words[0] if len(words) == 1 else None)


def pairs(text: str | None, separator: str = ":") -> Iterator[tuple[str, str]]:
    """Yield name and value of each line like ``MemTotal:  16 kB``."""
    for line in (text or "").splitlines():
        name, found, value = line.partition(separator)
        if found:
            yield name.strip(), value.strip()


def or_null(fact: Callable[[], Json]) -> Json:
    """Ask for one fact; what is not told is null."""
    try:
        value = fact()
    except UNTOLD:
        return None
    return None if value == "" else value
