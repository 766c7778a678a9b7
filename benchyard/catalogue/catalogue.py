"""The catalogue: what there is below its roots, asked by id or by query."""

import hashlib
import logging
import os
import sqlite3
import weakref
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache

from benchyard import __version__
from benchyard.catalogue.entry import CaseEntry, Entry, StepOfRun
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.index import Index, LookStoppedError, fact, is_damage
from benchyard.catalogue.query import EntryQuery, Page
from benchyard.catalogue.reading import IndexState
from benchyard.catalogue.scan import FolderScan
from benchyard.catalogue.watch import Watcher
from benchyard.core.errors import BenchyardError, NotFoundError
from benchyard.core.places import home
from benchyard.process.files import temporary_folder

logger = logging.getLogger(__name__)
T = TypeVar("T")

#: What finds entries: an index is of no use to others.
_READERS = " ".join((__version__, *(one.name for one in FORMATS)))

#: Asked by a look whether it shall end.
Stopped = Callable[[], bool]
#: Totals and lists of values that are remembered.
_MOST_REMEMBERED = 256
#: A watcher is waited for so long.
_FIRST_LOOK_SECONDS = 2.0


def _without_nested(roots: Sequence[Path]) -> list[Path]:
    """Return folders, sorted, without those that lie in another one."""
    resolved = sorted({root.resolve() for root in roots})
    return [one for one in resolved if not any(other in one.parents for other in resolved)]


def index_of(roots: Sequence[Path]) -> Path:
    """Return the file that remembers what is below folders."""
    digest = hashlib.sha256(b"\0".join(os.fsencode(root) for root in roots)).hexdigest()[:16]
    return home() / "catalogue" / f"{digest}.sqlite"


def _opened(path: Path) -> Index:
    """Open an index; one in a temporary folder, and tell so, where that cannot be used."""
    try:
        # SQLite may fail once for two processes that make the file at the same moment.
        with suppress(sqlite3.OperationalError):
            return Index(path, _READERS)
        return Index(path, _READERS)
    except (OSError, sqlite3.OperationalError) as error:
        stack = ExitStack()
        elsewhere = stack.enter_context(temporary_folder()) / path.name
        logger.warning("the index %s cannot be used (%s): %s instead", path, str(error), elsewhere)
        made = Index(elsewhere, _READERS)
        weakref.finalize(made, stack.close)
        return made


@dataclass(frozen=True, slots=True)
class Freshness:
    """How new what the catalogue knows is.

    Args:
        looked_s: When all folders were last looked at, in seconds since the epoch; 0 is never.
        looking: Whether they are being looked at now.
        watched: Whether changes are seen as they happen.
        note: Why they are not, and what is done instead; empty is right.
    """

    looked_s: float
    looking: bool
    watched: bool
    note: str


class Catalogue:
    """Entries below some folders. All methods may be called by several threads.

    Args:
        roots: Folders to search.
        index: The file that remembers what was found; None takes one in the lab's own folder.
        look: Whether to look at the folders at once; else what was known before is told until the
            first ``refresh``.
    """

    def __init__(
        self, roots: Sequence[Path], index: Path | None = None, *, look: bool = True
    ) -> None:
        self.roots = _without_nested(roots)
        self._index = _opened(index or index_of(self.roots))
        self._remembered = LRUCache[Any, Any](_MOST_REMEMBERED)
        self._lock = Lock()
        self._looking = 0
        self._watcher: Watcher | None = None
        self._close = weakref.finalize(self, self._index.close)
        if look:
            self.refresh()

    # -- looking

    def refresh(self, stopped: Stopped = lambda: False) -> None:
        """See what is new, changed and gone.

        Args:
            stopped: Asked while it looks; what was found until then stays, and the next look goes
                on.
        """
        self._look(FolderScan.everywhere, stopped)

    def refresh_folders(self, stopped: Stopped = lambda: False) -> None:
        """See what is new and gone, but not what changed inside of runs and files."""
        self._look(FolderScan.in_folders, stopped)

    def refresh_around(self, paths: Collection[Path], stopped: Stopped = lambda: False) -> None:
        """Index what changed in the folders of these paths, and in all folders that are due.

        Folders are due where runs are under way, or where something had just changed.
        """
        if paths or self._ask(lambda index: FolderScan.is_due(index.connection)):
            self._look(lambda scan: scan.around(paths), stopped)

    def _look(self, how: Callable[[FolderScan], None], stopped: Stopped) -> None:
        with self._lock:
            self._looking += 1
        try:
            self._mended(lambda: self._look_once(how, stopped), self._make_anew)
        finally:
            with self._lock:
                self._looking -= 1

    def _look_once(self, how: Callable[[FolderScan], None], stopped: Stopped) -> None:
        with suppress(LookStoppedError), self._index.looking(stopped) as connection:
            how(FolderScan(connection, self.roots, FORMATS, stopped))

    def folders(self) -> dict[Path, int]:
        """Return the folders in which something may appear, with their inodes; no runs."""
        rows = self._ask(lambda index: FolderScan.folders(index.connection))
        return {Path(os.fsdecode(path)): inode for path, inode in rows}

    # -- watching

    def watch(self) -> None:
        """Begin to look at what changes, in the background.

        It returns when all folders were looked at once, or after some seconds: a first look at very
        many runs takes longer, and what it has found so far is told meanwhile.
        """
        if self._watcher is None:
            self._watcher = Watcher(self)
            self._watcher.start(_FIRST_LOOK_SECONDS)

    def stop_watching(self) -> None:
        """Stop that; returns when nothing is looked at any more."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    @contextmanager
    def watching(self) -> Generator["Catalogue"]:
        """Look at what changes as long as the block runs."""
        self.watch()
        try:
            yield self
        finally:
            self.stop_watching()

    def close(self) -> None:
        """Stop watching, and close the index."""
        self.stop_watching()
        self._close()

    @property
    def generation(self) -> int:
        """Grows whenever anything changes; answers of one generation are the same."""
        return self._ask(lambda index: int(fact(index.connection, "generation")))

    @property
    def freshness(self) -> Freshness:
        """How new what is known is."""
        looked_s = self._ask(lambda index: fact(index.connection, "looked_s"))
        watcher = self._watcher
        note = watcher.note if watcher else "nothing is watched: look again with a refresh"
        return Freshness(looked_s, bool(self._looking), watcher is not None and not note, note)

    # -- asking

    def page(self, query: EntryQuery) -> Page:
        """Return a page of the entries that are asked for.

        Raises:
            InputError: If the order or the cursor is none.
        """
        return self._ask(
            lambda index: index.page(query, self._remember(index, "total", query, IndexState.total))
        )

    def entry(self, entry_id: str) -> Entry:
        """Return one entry.

        Raises:
            NotFoundError: If there is none with this id.
        """
        found = self._ask(lambda index: index.entry(entry_id))
        if found is None:
            raise NotFoundError(f"there is no entry {entry_id!r} in the catalogue")
        return found

    def cases(
        self, query: EntryQuery | None = None, *, offset: int = 0, limit: int | None = None
    ) -> list[CaseEntry]:
        """Return the cases of the runs that are asked for, the one with the newest run first.

        Args:
            query: Of the runs; its order, offset and limit do not count.
            offset: Cases to skip.
            limit: At most so many cases; None is all.
        """
        return self._ask(lambda index: index.cases(query or EntryQuery(), _limits(offset, limit)))

    def count_cases(self, query: EntryQuery | None = None) -> int:
        """Return how many cases have runs that are asked for."""
        asked = query or EntryQuery()
        return self._ask(
            lambda index: self._remember(index, "cases", asked, IndexState.count_cases)
        )

    def case(self, case_id: str) -> CaseEntry:
        """Return one case.

        Raises:
            NotFoundError: If there is none with this id.
        """
        found = self._ask(lambda index: index.case(case_id))
        if found is None:
            raise NotFoundError(f"there is no case {case_id!r} in the catalogue")
        return found

    def changed_since(
        self, since_s: float, *, offset: int = 0, limit: int | None = None
    ) -> list[CaseEntry]:
        """Return the cases with a run that began at or after a time, the newest first.

        Args:
            since_s: Seconds since the epoch.
        """
        return self._ask(lambda index: index.changed_since(since_s, _limits(offset, limit)))

    def steps_of(self, case_id: str) -> list[StepOfRun]:
        """Return the steps of all runs of a case, in the order of their beginnings."""
        return self._ask(lambda index: index.steps_of(case_id))

    def values(self, field: str, query: EntryQuery | None = None) -> dict[str, int]:
        """Return the values of a field among the entries, with their number, most frequent first.

        Args:
            field: ``host``, ``case``, ``tag``, ``outcome``, ``commit``, ``version``, ``format``,
                ``parameter`` (names of parameters) or ``parameter:NAME``.

        Raises:
            InputError: If there is no such field.
        """
        return self.values_of((field,), query)[field]

    def values_of(
        self, fields: Sequence[str], query: EntryQuery | None = None
    ) -> dict[str, dict[str, int]]:
        """Return what ``values`` does for several fields, in one search.

        Raises:
            InputError: If there is no such field.
        """

        def asked(index: IndexState, given: EntryQuery) -> dict[str, dict[str, int]]:
            return index.values(fields, given)

        what = f"values of {', '.join(fields)}"
        counted = self._ask(lambda index: self._remember(index, what, query or EntryQuery(), asked))
        return {field: dict(numbers) for field, numbers in counted.items()}

    def _remember(
        self,
        index: IndexState,
        what: str,
        query: EntryQuery,
        answer: Callable[[IndexState, EntryQuery], T],
    ) -> T:
        """Return what does not depend on the page, once for each generation."""
        asked = repr(replace(query, sort="", offset=0, limit=None, after=None))
        key = (fact(index.connection, "generation"), what, asked)
        with self._lock:
            known: T | None = self._remembered.get(key)
        if known is not None:
            return known
        found = answer(index, query)
        with self._lock:
            self._remembered[key] = found
        return found

    def _ask(self, answer: Callable[[IndexState], T]) -> T:
        return self._mended(lambda: self._ask_once(answer), self.refresh, self._begin_anew)

    def _ask_once(self, answer: Callable[[IndexState], T]) -> T:
        with self._index.reading() as connection:
            return answer(IndexState(connection, self.roots))

    def _mended(self, work: Callable[[], T], *mends: Callable[[], None]) -> T:
        """Do it; again after each mend as long as the file turns out to be damaged."""
        for mend in mends:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise self._trouble(error) from error
            mend()
        return work()

    def _make_anew(self) -> None:
        logger.warning("%s was damaged, and is made anew", self._index.path)
        self._index.make_anew()

    def _begin_anew(self) -> None:
        self._index.make_anew()
        self.refresh()

    def _trouble(self, error: sqlite3.DatabaseError) -> BenchyardError:
        path = self._index.path
        return BenchyardError(f"the index {path} cannot be used: {error}; it may be removed")


def _limits(offset: int, limit: int | None) -> tuple[int, int]:
    return -1 if limit is None else max(limit, 0), max(offset, 0)
