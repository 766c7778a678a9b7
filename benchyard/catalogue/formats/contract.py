"""What a format is: how its entries are found, described, loaded; how files of others are read."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate

from benchyard.catalogue.entry import Entry
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.recognising import MOST_BYTES, unpacked


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What one folder contains.

    Args:
        folder: Absolute.
        files: Names of regular files; symbolic links are left out.
        folders: Names of folders; symbolic links are left out.
    """

    folder: Path
    files: frozenset[str]
    folders: frozenset[str]


def listing_of(folder: Path) -> FolderListing:
    """List a folder.

    Raises:
        OSError: If it cannot be listed.
    """
    with os.scandir(folder) as found:
        every = [*found]
    files = frozenset(one.name for one in every if one.is_file(follow_symlinks=False))
    folders = frozenset(one.name for one in every if one.is_dir(follow_symlinks=False))
    return FolderListing(folder, files, folders)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be an entry.

    Args:
        id: Of the entry that it becomes.
        path: Below the root, with ``/``; ``.`` is the root itself.
    """

    id: str
    root: Path
    path: str

    @property
    def place(self) -> Path:
        """The file or folder."""
        return self.root / self.path

    @property
    def changed_s(self) -> float:
        """When it last changed, in seconds since the epoch; 0 if it is gone."""
        try:
            return self.place.stat().st_mtime
        except OSError:
            return 0.0

    def entry(self, kind: str, created_s: float, updated_s: float, **told: Any) -> Entry:
        """Return an entry of this place.

        Args:
            kind: Name of its format.
            told: What else is known of it.
        """
        return Entry(self.id, kind, self.root, self.path, created_s, updated_s, **told)


class Format(Protocol):
    """A format of results. Instances keep no state, and may be called by several threads."""

    @property
    def name(self) -> str:
        """As ``Entry.format`` says it."""
        ...

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return what in a folder looks like an entry, by names alone; ``.`` is the folder."""
        ...

    def describe(self, found: Candidate) -> Entry | None:
        """Read what a list shows of it; None if a look inside tells that it is something else.

        What is of this format and cannot be read is described as broken, with the reason.
        """
        ...

    def load(self, entry: Entry) -> Any:
        """Read all of it.

        Raises:
            BenchyardError: If it cannot be read: what, where and why.
        """
        ...


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


def text_of(content: bytes) -> str:
    """Return a text without the mark that some tools begin it with.

    Raises:
        InputError: If it is not in UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"it is no text in UTF-8: {error}") from error


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


def elements(content: bytes) -> Element:
    """Return the outermost element of a document, with all that are in it.

    What a document type names elsewhere is not fetched. One that declares something itself is
    refused: entities and default attributes turn a small file into gigabytes.

    Raises:
        InputError: If it is no XML, with the line and the column, or declares something.
    """
    builder = TreeBuilder()
    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _without_declarations
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.ParseFile(BytesIO(content))
    # The two last are of an encoding that is unknown, or has characters of several bytes.
    except (ExpatError, LookupError, ValueError) as error:
        raise InputError(f"it is no XML: {error}") from error
    return builder.close()


def _without_declarations(*doctype: object) -> None:
    *_, declares = doctype
    if declares:
        raise InputError("its document type declares entities or attributes, which are not read")
