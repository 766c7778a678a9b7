"""Files of others: what is read of them, and what their entry says where they are broken."""

from pathlib import Path

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Candidate
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.recognising import HEAD_BYTES, MOST_BYTES, Head, head_of
from benchyard.traces.unpacking import unpacked

__all__ = ["HEAD_BYTES", "Head", "content_of", "entry_of", "head_of"]

#: So much, unpacked, is read whole to describe a file in a list.
DESCRIBED_BYTES = 1 << 22
#: So much, unpacked, is read whole to show a file.
LOADED_BYTES = MOST_BYTES


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


def entry_of(found: Candidate, name: str, broken: str = "") -> Entry | None:
    """Return an entry of which only the place is known; None if it is gone.

    Args:
        name: Of the format.
        broken: Why it cannot be read.
    """
    try:
        changed = found.place.stat().st_mtime
    except OSError:
        return None
    told = without_folder(broken, found.place)
    return found.entry(name, changed, changed, title=found.place.name, broken=told)


def without_folder(text: str, place: Path) -> str:
    """Return a message with a file's name in place of its path, which is the server's own."""
    return text.replace(str(place), place.name).replace(shown(place), place.name)
