"""The catalogue: what there is below its roots, asked by id or by query."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast

from benchyard.catalogue.entry import RUN, CaseEntry, Entry, identified
from benchyard.catalogue.formats.contract import Found, Listing
from benchyard.catalogue.formats.mindspore import MINDSPORE
from benchyard.catalogue.query import Page, Query
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.results.folders import RunFolder, run_number
from benchyard.results.record import RunRecord, read_record


class Catalogue:
    """Entries below some folders. All methods may be called by several threads.

    Args:
        roots: Folders to search.
        index: The file that remembers what was found; None keeps it in memory.
    """

    def __init__(self, roots: Sequence[Path], index: Path | None = None) -> None:
        self.roots = [root.resolve() for root in roots]
        self._index = index
        self._entries: dict[str, Entry] = {}
        #: Grows whenever anything changes; answers of one generation are the same.
        self.generation = 0
        self.refresh()

    def refresh(self) -> None:
        """See what is new, changed and gone."""
        self._entries = {entry.id: entry for root in self.roots for entry in _found(root)}
        self.generation += 1

    def page(self, query: Query) -> Page:
        """Return a page of the entries that are asked for."""
        found = [entry for entry in self._entries.values() if _matches(entry, query)]
        found.sort(
            key=lambda entry: entry.started_s or entry.updated_s, reverse=query.sort.startswith("-")
        )
        end = None if query.limit is None else query.offset + query.limit
        return Page(found[query.offset : end], len(found))

    def entry(self, entry_id: str) -> Entry:
        """Return one entry.

        Raises:
            NotFoundError: If there is none with this id.
        """
        try:
            return self._entries[entry_id]
        except KeyError:
            raise NotFoundError(f"there is no entry {entry_id!r} in the catalogue") from None

    def cases(self, query: Query | None = None) -> list[CaseEntry]:
        """Return the cases of the runs that are asked for, the one with the newest run first."""
        query = query or Query()
        by_folder: dict[Path, list[Entry]] = {}
        for entry in self._entries.values():
            if entry.format == RUN and _matches(entry, query):
                by_folder.setdefault(entry.place.parent, []).append(entry)
        cases = [_case(entries) for entries in by_folder.values()]
        return sorted(cases, key=lambda case: -(case.newest_s or 0))

    def case(self, case_id: str) -> CaseEntry:
        """Return one case.

        Raises:
            NotFoundError: If there is none with this id.
        """
        for case in self.cases():
            if case.id == case_id:
                return case
        raise NotFoundError(f"there is no case {case_id!r} in the catalogue")

    def values(self, field: str, query: Query | None = None) -> dict[str, int]:
        """Return the values of a field among the runs, with their number, most frequent first.

        Args:
            field: ``host``, ``case``, ``tag``, ``outcome``, ``commit``, ``version`` or ``format``.
        """
        found = self.page(replace(query or Query(), offset=0, limit=None, after=None)).entries
        return dict(Counter(one for entry in found for one in _values(entry, field)).most_common())


def _identified(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _values(entry: Entry, field: str) -> Sequence[str]:
    if field == "tag":
        return entry.tags
    if field == "version":
        return [f"{name}={version}" for name, version in entry.versions.items()]
    return [str(getattr(entry, field) or "")]


def _matches(entry: Entry, query: Query) -> bool:
    return (
        all(word.lower() in f"{entry.title} {entry.path}".lower() for word in query.text.split())
        and (not query.formats or entry.format in query.formats)
        and (not query.outcomes or entry.outcome in query.outcomes)
        and (query.since_s is None or (entry.started_s or entry.updated_s) >= query.since_s)
        and (not query.hosts or entry.host in query.hosts)
        and (not query.results or _identified(entry.place.parent) in query.results)
    )


def _found(root: Path) -> Iterator[Entry]:
    for folder, names, files in os.walk(root):
        yield from _mindspore(root, Path(folder), names, files)
        for name in names:
            if run_number(name):
                run = RunFolder(Path(folder) / name)
                if run.record.is_file():
                    yield _entry(root, run)


def _mindspore(root: Path, folder: Path, names: list[str], files: list[str]) -> Iterator[Entry]:
    path = folder.relative_to(root).as_posix()
    for one in MINDSPORE:
        for _ in one.detect(Listing(folder, frozenset(files), frozenset(names))):
            entry = one.describe(Found(identified(folder, one.name), root, path))
            if entry is not None:
                yield entry


def _entry(root: Path, run: RunFolder) -> Entry:
    status = run.record.stat()
    place = (_identified(run.path), RUN, root, run.path.relative_to(root).as_posix())
    times = (status.st_mtime, status.st_mtime)
    try:
        record = read_record(run.path)
    except RecordError as error:
        return Entry(*place, *times, title=run.path.name, broken=str(error))
    return Entry(
        *place,
        *times,
        title=str(record.case.get("title") or ""),
        case=str(record.case.get("name") or ""),
        point=cast("dict[str, str]", record.case.get("point") or {}),
        run=record.run,
        outcome=record.outcome,
        started_s=datetime.fromisoformat(record.started_at).timestamp(),
        duration_s=record.duration_s,
        host=str(record.environment.get("host") or ""),
        counts=_counts(record),
    )


def _counts(record: RunRecord) -> dict[str, int]:
    return {"steps": len(record.steps), "attempts": sum(len(s.attempts) for s in record.steps)}


def _case(entries: Sequence[Entry]) -> CaseEntry:
    newest = max(entries, key=lambda entry: entry.started_s or 0)
    folder = newest.place.parent
    return CaseEntry(
        id=_identified(folder),
        root=newest.root,
        path=folder.relative_to(newest.root).as_posix(),
        title=newest.title,
        case=newest.case,
        point=newest.point,
        tags=newest.tags,
        runs=len(entries),
        failed=sum(entry.outcome != "completed" for entry in entries),
        newest_s=newest.started_s,
        hosts=tuple(sorted({entry.host for entry in entries if entry.host})),
    )
