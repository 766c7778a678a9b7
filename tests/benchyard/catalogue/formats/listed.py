"""What the formats of other programs find, each asked for each file."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.formats.measurements import BenchmarkFile


def described(root: Path) -> Iterator[Entry]:
    """Yield what the formats find below a folder, each once for each that describes it.

    So are the files of formats that the explorer does not look for.
    """
    for folder, folders, files in os.walk(root):
        listing = FolderListing(Path(folder), frozenset(files), frozenset(folders))
        for one in OTHERS:
            names = one.detect(listing)
            if isinstance(one, BenchmarkFile) and not one.listed:
                names = sorted(name for name in files if name.endswith(one.endings))
            for name in names:
                path = (Path(folder) / name).relative_to(root).as_posix()
                entry = one.describe(Candidate(identified(Path(folder) / name), root, path))
                if entry:
                    yield entry
