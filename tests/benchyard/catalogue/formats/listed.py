"""A catalogue of other programs' results, by a walk that asks each format."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Found, Listing
from benchyard.catalogue.formats.others import OTHERS
from benchyard.catalogue.query import Page, Query


def described(root: Path) -> Iterator[Entry]:
    """Yield what the formats find below a folder, each once for each that describes it."""
    for folder, folders, files in os.walk(root):
        listing = Listing(Path(folder), frozenset(files), frozenset(folders))
        for one in OTHERS:
            for name in one.detect(listing):
                path = (Path(folder) / name).relative_to(root).as_posix()
                found = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
                entry = one.describe(Found(found, root, path))
                if entry:
                    yield entry


class Listed(Catalogue):
    """A catalogue of these alone."""

    def refresh(self) -> None:
        self._entries = {one.id: one for root in self.roots for one in described(root)}
        self.generation += 1

    def page(self, query: Query) -> Page:
        found = [
            one
            for one in self._entries.values()
            if (not query.formats or one.format in query.formats)
            and query.text.lower() in f"{one.title} {one.path}".lower()
            and (query.broken is None or bool(one.broken) == query.broken)
        ]
        end = None if query.limit is None else query.offset + query.limit
        return Page(found[query.offset : end], len(found))

    def values(self, field: str, query: Query | None = None) -> dict[str, int]:
        assert (field, query) == ("format", None)
        return dict(Counter(one.format for one in self._entries.values()))
