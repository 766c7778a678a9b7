"""What a format is: how its entries are found, described and loaded."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchyard.catalogue.entry import Entry


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
