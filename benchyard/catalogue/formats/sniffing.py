"""What a file of others begins with: enough to tell its format, however long it is."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Found
from benchyard.core.errors import InputError
from benchyard.traces.sources import unpacked

#: So much is read of each file to tell its format.
HEAD_BYTES = 1 << 14
#: So much, unpacked, is read whole to describe a file in a list.
DESCRIBED_BYTES = 1 << 22
#: So much, unpacked, is read whole to show a file.
LOADED_BYTES = 1 << 26
#: A format is looked at by several readers, one after the other.
_REMEMBERED = 16
#: A text that the head breaks off is one too: to look for its end at each quote takes seconds.
_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(?:\s*(:))?|\\?\Z)|[\[\]{}]', re.DOTALL)
_DEEPEST = 3

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """How a file begins.

    Args:
        content: Its first bytes, unpacked.
    """

    content: bytes

    @cached_property
    def text(self) -> bytes:
        """The same without byte order mark and leading space."""
        return self.content.removeprefix(b"\xef\xbb\xbf").lstrip()

    @cached_property
    def keys(self) -> frozenset[Keys]:
        """The keys of JSON down to the third level, each behind those that lead to it.

        ``[]`` stands for an item of a list. A file that is no JSON has some keys or none.
        """
        return frozenset(_keys(self.text)) if self.text[:1] in (b"{", b"[") else frozenset()

    def has(self, *keys: str) -> bool:
        """Tell whether all of these keys are there, written as ``results.[].command``."""
        return all(tuple(key.split(".")) in self.keys for key in keys)


def _keys(text: bytes) -> set[Keys]:
    found: set[Keys] = set()
    # The key or [] of each level that is open, the outermost first.
    way: list[str] = []
    for token in _TOKEN.finditer(text):
        sign = token[0][:1]
        if sign in (b"{", b"["):
            way.append("" if sign == b"{" else "[]")
        elif sign in (b"}", b"]"):
            if way:
                way.pop()
        elif token[2] and way and len(way) <= _DEEPEST:
            way[-1] = token[1].decode(errors="replace")
            found.add(tuple(way))
    return found


def head_of(path: Path) -> Head | None:
    """Return how a file begins; None if it cannot be read."""
    try:
        status = path.stat()
        return _head(path, status.st_mtime_ns, status.st_size)
    except (OSError, InputError):
        return None


@lru_cache(_REMEMBERED)
def _head(path: Path, _changed: int, _size: int) -> Head:
    return Head(unpacked(path, HEAD_BYTES))


class TooLongError(InputError):
    """A file is longer than what is read of it."""


def content_of(path: Path, most: int) -> bytes:
    """Read a whole file, unpacked.

    Raises:
        TooLongError: If it is longer than ``most`` bytes.
        InputError: If it cannot be read.
    """
    read = unpacked(path, most + 1)
    if len(read) > most:
        raise TooLongError(f"{path.name} is longer than {most >> 20} MiB, the most that is read")
    return read


def entry_of(found: Found, name: str, broken: str = "") -> Entry | None:
    """Return an entry of which only the place is known; None if it is gone.

    Args:
        name: Of the format.
        broken: Why it cannot be read.
    """
    try:
        changed = found.place.stat().st_mtime
    except OSError:
        return None
    about = (found.id, name, found.root, found.path, changed, changed)
    return Entry(*about, title=found.place.name, broken=broken)
