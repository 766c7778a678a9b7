"""Explain jobs that were loaded, kept as long as the memory for them lasts."""

import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.mindspore.explain_job import ExplainJob, read_job
from benchyard.core.errors import BenchyardError, RecordError

#: Memory for loaded jobs, by default.
LIMIT_BYTES = 128 * 2**20
#: What the pool itself needs for an entry, about.
_OWN_BYTES = 2048


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What loading an entry gave: a job, or why there is none.

    Args:
        stamp: Of its files before it was loaded; None if they were gone.
    """

    entry: Entry
    stamp: int | None
    job: ExplainJob | None
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
        read: Reads a folder, given the job as it was before.
    """

    def __init__(
        self,
        limit_bytes: int = LIMIT_BYTES,
        read: Callable[[Path, ExplainJob | None], ExplainJob] = read_job,
    ) -> None:
        self._limit_bytes = limit_bytes
        self._read = read
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
            if stopped():
                return
            if loading.acquire(blocking=False):
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
            loaded = self._load(entry, stamp, loaded.job if loaded else None)
        with self._lock:
            self._kept[entry.id] = loaded
            if stamp is None or loaded.size_bytes > self._limit_bytes:
                del self._kept[entry.id]
            while self.size_bytes > self._limit_bytes:
                self._kept.popitem(last=False)
        return loaded

    def _load(self, entry: Entry, stamp: int | None, before: ExplainJob | None) -> _Loaded:
        try:
            return _Loaded(entry, stamp, self._read(entry.place, before))
        except BenchyardError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - one odd file must not end the thread of all
            why = f"{entry.path}: {type(error).__name__}: {error}"
        return _Loaded(entry, stamp, None, why)


def _stamp(folder: Path) -> int | None:
    """Return what changes with any of a folder's files; None if it is gone."""
    try:
        with os.scandir(folder) as found:
            files = sorted(
                (file.name, *_signature(file.stat())) for file in found if file.is_file()
            )
    except OSError:
        return None
    return hash(tuple(files))


def _signature(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino
