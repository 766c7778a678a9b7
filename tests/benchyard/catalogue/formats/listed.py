"""What the formats of other programs find, each asked for each file."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.contract import Candidate, FolderListing


def described(root: Path) -> Iterator[Entry]:
    """Yield what the formats find below a folder, each once for each that describes it."""
    for folder, folders, files in os.walk(root):
        listing = FolderListing(Path(folder), frozenset(files), frozenset(folders))
        for one in OTHERS:
            for name in one.detect(listing):
                path = (Path(folder) / name).relative_to(root).as_posix()
                entry = one.describe(Candidate(identified(Path(folder) / name), root, path))
                if entry:
                    yield entry
