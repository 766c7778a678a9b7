"""Explain jobs by the calls of MindInsight's ``ExplainManager``, kept as long as memory lasts."""

import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats.mindspore import MindsporeExplain
from benchyard.catalogue.mindspore.explain_job import ExplainJob, read_job
from benchyard.catalogue.query import EntryQuery, Page
from benchyard.core.errors import BenchyardError, InputError, NotFoundError, RecordError

#: Memory for loaded jobs, by default.
LIMIT_BYTES = 128 * 2**20
#: What the pool itself needs for an entry, about.
_OWN_BYTES = 2048
#: So many of the newest jobs are loaded before anybody asks. Source: MindInsight.
NEWEST = 3
_COUNTS = ("summary_files", "lineage_files", "explain_files", "graph_files")


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What loading an entry gave: a job, or why there is none.

    Args:
        stamp: What changes with any of its files, as it was before; None if they were gone.
    """

    entry: Entry
    stamp: int | None
    job: ExplainJob | None = None
    failure: str = ""

    @property
    def size_bytes(self) -> int:
        return _OWN_BYTES + (self.job.size_bytes if self.job else len(self.failure))


class LoaderPool:
    """Loads explain jobs, keeps them within bounds, and reads on when their files change.

    The least recently used goes first. All methods may be called by several threads: a job is
    loaded by one of them, and who wants another does not wait.

    Args:
        limit_bytes: Of all that is kept. A job that is larger alone is loaded, and not kept.
    """

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._lock = Lock()
        self._kept: OrderedDict[str, _Loaded] = OrderedDict()
        self._loading: defaultdict[str, Lock] = defaultdict(Lock)

    @property
    def size_bytes(self) -> int:
        """Of all that is kept."""
        return sum(loaded.size_bytes for loaded in self._kept.values())

    @property
    def ids(self) -> list[str]:
        """Of the jobs that are kept, the one that goes first at the beginning."""
        with self._lock:
            return [key for key, loaded in self._kept.items() if loaded.job]

    @property
    def failures(self) -> dict[str, str]:
        """Why entries could not be loaded, by id; they are tried again when their files change."""
        with self._lock:
            return {key: loaded.failure for key, loaded in self._kept.items() if loaded.failure}

    def get(self, entry: Entry) -> ExplainJob:
        """Return a job, as its files are now.

        Raises:
            RecordError: If it cannot be loaded, with the reason.
        """
        with self._lock:
            loading = self._loading[entry.id]
            if entry.id in self._kept:
                self._kept.move_to_end(entry.id)
        with loading:
            loaded = self._up_to_date(entry)
        if loaded.job is None:
            raise RecordError(loaded.failure)
        return loaded.job

    def reload(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Load again what changed; drop what is gone. What is just being loaded is passed over.

        Args:
            stopped: Asked between two entries.
        """
        with self._lock:
            kept = [(loaded.entry, self._loading[key]) for key, loaded in self._kept.items()]
        for entry, loading in kept:
            if not stopped() and loading.acquire(blocking=False):
                try:
                    if entry.id in self._kept:
                        self._up_to_date(entry)
                finally:
                    loading.release()

    def _up_to_date(self, entry: Entry) -> _Loaded:
        """Load an entry unless it is kept as it is now; its lock is held meanwhile."""
        stamp = _stamp(entry.place)
        loaded = self._kept.get(entry.id)
        if loaded is None or stamp is None or loaded.stamp != stamp:
            loaded = _load(entry, stamp, loaded.job if loaded else None)
        with self._lock:
            self._kept[entry.id] = loaded
            if stamp is None or loaded.size_bytes > self._limit_bytes:
                del self._kept[entry.id]
            while self.size_bytes > self._limit_bytes:
                self._kept.popitem(last=False)
        return loaded


def _load(entry: Entry, stamp: int | None, before: ExplainJob | None) -> _Loaded:
    try:
        return _Loaded(entry, stamp, read_job(entry.place, before))
    except BenchyardError as error:
        return _Loaded(entry, stamp, failure=str(error))
    except Exception as error:  # noqa: BLE001 - one odd file must not end the thread of all
        return _Loaded(entry, stamp, failure=f"{entry.path}: {type(error).__name__}: {error}")


def _stamp(folder: Path) -> int | None:
    try:
        with os.scandir(folder) as found:
            files = {file.name: file.stat() for file in found if file.is_file()}
    except OSError:
        return None
    return hash(
        frozenset((name, at.st_mtime_ns, at.st_size, at.st_ino) for name, at in files.items())
    )


class ExplainStatus(StrEnum):
    """How far an ``ExplainManager`` is."""

    INIT = "INIT"
    LOADING = "LOADING"
    DONE = "DONE"
    INVALID = "INVALID"


def explain_jobs(catalogue: Catalogue, offset: int = 0, limit: int | None = None) -> Page:
    """Return a page of the explain jobs, those that changed last first.

    Raises:
        InputError: If ``offset`` is negative or ``limit`` less than 1.
    """
    if offset < 0 or (limit is not None and limit < 1):
        raise InputError("offset must be 0 or more, and limit 1 or more")
    # Jobs do not say when they began, so this is by their last change; the index has this order.
    query = EntryQuery(
        formats=(MindsporeExplain.name,), sort="-started_s", offset=offset, limit=limit
    )
    return catalogue.page(query)


def train_id(entry: Entry) -> str:
    """Return what MindInsight calls a job: its path below the root, with ``./`` before it."""
    return "./" if entry.path == "." else f"./{entry.path}"


def listed(entry: Entry) -> dict[str, Any]:
    """Return what a list says of a job: MindInsight's keys, then ours."""
    return {
        "relative_path": train_id(entry),
        "create_time": datetime.fromtimestamp(entry.created_s, UTC),
        "update_time": datetime.fromtimestamp(entry.updated_s, UTC),
        **{kind: entry.counts.get(kind, 0) for kind in _COUNTS},
        "saliency_map": entry.parameters.get("saliency_map", True),
        "hierarchical_occlusion": entry.parameters.get("hierarchical_occlusion", False),
        "id": entry.id,
        "broken": entry.broken,
    }


class ExplainManager:
    """The explain jobs of a catalogue, or below a folder.

    Args:
        summary_base_dir: A folder, which is searched at any depth; one that is not there has no
            jobs until it is.
        limit_bytes: Memory for loaded jobs.
    """

    def __init__(
        self, summary_base_dir: Catalogue | Path | str, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        given = summary_base_dir
        self._catalogue = given if isinstance(given, Catalogue) else Catalogue([Path(given)])
        #: As it was given; of a catalogue its first root.
        self.summary_base_dir = str(given.roots[0] if isinstance(given, Catalogue) else given)
        self._pool = LoaderPool(limit_bytes)
        self._stop = Event()
        self._thread: Thread | None = None
        self._status = ExplainStatus.INIT
        self._trouble = ""
        self._newest: dict[str, float] = {}

    @property
    def status(self) -> ExplainStatus:
        """``INVALID`` says that the last round found no job that can be loaded."""
        return self._status

    @property
    def troubles(self) -> list[str]:
        """Why the last round failed, and why jobs cannot be loaded."""
        return [*filter(None, [self._trouble]), *self._pool.failures.values()]

    def start_load_data(self, reload_interval: float = 0) -> None:
        """Load the newest jobs, and reload what changed, in a thread.

        Args:
            reload_interval: Seconds from one round to the next; 0 makes one round.

        Raises:
            InputError: If it is negative.
        """
        if not reload_interval >= 0:
            raise InputError(f"the interval must be 0 or more seconds, not {reload_interval}")
        self.stop_load_data()
        self._stop = Event()
        arguments = (reload_interval, self._stop)
        self._thread = Thread(
            target=self._rounds, args=arguments, name="load explain jobs", daemon=True
        )
        self._thread.start()

    def stop_load_data(self) -> None:
        """Stop it: a thread that sleeps ends at once. What is loaded can still be asked for."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def get_job_list(
        self, offset: int = 0, limit: int | None = None, *, page_number: bool = False
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of all jobs, and some of them, those that changed last first.

        While rounds go on, it is as the last one found it; else each call looks anew.

        Args:
            offset: Jobs to skip.
            limit: At most so many; None is all, wherever the offset is.
            page_number: Whether ``offset`` counts pages of ``limit`` jobs, as in MindInsight.

        Raises:
            InputError: If ``offset`` is negative or ``limit`` less than 1.
        """
        if self._thread is None or not self._thread.is_alive():
            self._catalogue.refresh()
        skipped = offset * (limit or 0) if page_number or limit is None else offset
        page = explain_jobs(self._catalogue, skipped, limit)
        return page.total, [listed(entry) for entry in page.entries]

    def get_job(self, loader_id: str) -> ExplainJob | None:
        """Return a job as its file is now; None if there is none. It waits for no other job.

        Args:
            loader_id: ``relative_path`` or ``id`` of the list.

        Raises:
            RecordError: If it cannot be read.
        """
        entry = self._entry(loader_id)
        if entry is None:
            self._catalogue.refresh()
            entry = self._entry(loader_id)
        return None if entry is None else self._pool.get(entry)

    def _entry(self, name: str) -> Entry | None:
        places = (identified(root / name, MindsporeExplain.name) for root in self._catalogue.roots)
        with suppress(ValueError):  # of a name that no file can have
            for entry_id in (*places, name):
                with suppress(NotFoundError):
                    entry = self._catalogue.entry(entry_id)
                    if entry.format == MindsporeExplain.name:
                        return entry
        return None

    def _rounds(self, interval_s: float, stop: Event) -> None:
        self._load(stop.is_set)
        while interval_s and not stop.wait(interval_s):
            self._load(stop.is_set)

    def _load(self, stopped: Callable[[], bool]) -> None:
        self._status = ExplainStatus.LOADING
        self._trouble = ""
        try:
            self._catalogue.refresh()
            self._load_newest(stopped)
            self._pool.reload(stopped)
        except Exception as error:  # noqa: BLE001 - the next round may do better
            self._trouble = f"{type(error).__name__}: {error}"
        found = self._pool.ids and not self._trouble
        self._status = ExplainStatus.DONE if found else ExplainStatus.INVALID

    def _load_newest(self, stopped: Callable[[], bool]) -> None:
        """Load what became one of the newest; what was asked for keeps its place in the pool."""
        newest = explain_jobs(self._catalogue, limit=NEWEST).entries
        for entry in newest:
            if not stopped() and self._newest.get(entry.id) != entry.updated_s:
                with suppress(RecordError):  # told by whoever asks for this job
                    self._pool.get(entry)
        self._newest = {entry.id: entry.updated_s for entry in newest}
