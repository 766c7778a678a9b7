"""What was loaded of entries, kept as long as the memory for it lasts."""

import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Format
from benchyard.core.errors import BenchyardError, RecordError
from benchyard.core.memory import memory_of

#: As long as nothing else is asked for.
LIMIT_BYTES = 128 * 2**20
#: What the pool itself needs for an entry, about.
_OWN_BYTES = 2048


@runtime_checkable
class Reloading(Protocol):
    """A format that can read on in what has grown."""

    def reload(self, entry: Entry, before: Any) -> Any:
        """Read all of it, given what it was; ``before`` stays as it is.

        Raises:
            BenchyardError: If it cannot be read: what, where and why.
        """
        ...


@dataclass(slots=True)
class _Kept:
    """An entry in the pool.

    Args:
        lock: Held while it is loaded.
        stamp: Of its files when it was loaded; None if it was not, or they are gone.
        failure: Why it could not be loaded; empty if it could.
        size_bytes: Of it; 0 as long as it was never loaded.
    """

    entry: Entry
    lock: Lock = field(default_factory=Lock)
    stamp: int | None = None
    loaded: Any = None
    failure: str = ""
    size_bytes: int = 0


class LoaderPool:
    """Loads entries, keeps them within bounds, and reads on when their files change.

    What was not asked for the longest time goes first. All methods may be called by several
    threads: an entry is loaded by one of them, and who asks for another does not wait.

    Args:
        limit_bytes: Of all that is kept. What is larger alone is loaded, and not kept. A loaded
            value may tell its size as ``size_bytes``; else it is counted.
    """

    def __init__(self, formats: Iterable[Format], limit_bytes: int = LIMIT_BYTES) -> None:
        self._formats = {one.name: one for one in formats}
        self._limit_bytes = limit_bytes
        self._lock = Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    @property
    def size_bytes(self) -> int:
        """Of all that is kept."""
        return sum(kept.size_bytes for kept in self._kept.values())

    @property
    def ids(self) -> list[str]:
        """Of what is kept, the one that goes first at the beginning."""
        with self._lock:
            return [key for key, kept in self._kept.items() if kept.loaded is not None]

    @property
    def failures(self) -> dict[str, str]:
        """Why entries could not be loaded, by id; they are tried again when their files change."""
        with self._lock:
            return {key: kept.failure for key, kept in self._kept.items() if kept.failure}

    def get(self, entry: Entry) -> Any:
        """Return all of an entry, as its files are now.

        Raises:
            RecordError: If it cannot be loaded, with the reason.
        """
        with self._lock:
            kept = self._kept.setdefault(entry.id, _Kept(entry))
            kept.entry = entry
            self._kept.move_to_end(entry.id)
        with kept.lock:
            self._bring_up_to_date(kept)
            loaded, failure = kept.loaded, kept.failure
        self._make_room(kept)
        if failure:
            raise RecordError(failure)
        return loaded

    def reload(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Load again what changed; drop what is gone. What is just being loaded is passed over.

        Args:
            stopped: Asked between two entries.
        """
        with self._lock:
            all_kept = list(self._kept.values())
        for kept in all_kept:
            if stopped():
                return
            if kept.lock.acquire(blocking=False):
                try:
                    self._bring_up_to_date(kept)
                finally:
                    kept.lock.release()
                self._make_room(kept)

    def _make_room(self, used: _Kept) -> None:
        """Drop what is gone or too large, and the oldest; not what is being loaded just now."""
        with self._lock:
            if used.stamp is None or used.size_bytes > self._limit_bytes:
                self._kept.pop(used.entry.id, None)
            excess = self.size_bytes - self._limit_bytes
            for kept in [one for one in self._kept.values() if one.size_bytes]:
                if excess <= 0:
                    return
                excess -= self._kept.pop(kept.entry.id).size_bytes

    def _bring_up_to_date(self, kept: _Kept) -> None:
        stamp = _stamp(kept.entry.place)
        if stamp is not None and stamp == kept.stamp:
            return
        try:
            kept.loaded = self._load(kept.entry, kept.loaded)
            kept.failure = ""
        except BenchyardError as error:
            kept.loaded, kept.failure = None, str(error)
        except Exception as error:  # noqa: BLE001 - one odd file must not end the thread of all
            why = f"{kept.entry.path}: {type(error).__name__}: {error}"
            kept.loaded, kept.failure = None, why
        kept.stamp = stamp
        kept.size_bytes = _OWN_BYTES + _size(kept.failure if kept.failure else kept.loaded)

    def _load(self, entry: Entry, before: Any) -> Any:
        one = self._formats.get(entry.format)
        if one is None:
            raise RecordError(f"{entry.path}: no format {entry.format!r} is known")
        if before is not None and isinstance(one, Reloading):
            return one.reload(entry, before)
        return one.load(entry)


def _size(loaded: Any) -> int:
    told = getattr(loaded, "size_bytes", None)
    return told if isinstance(told, int) else memory_of(loaded)


def _stamp(place: Path) -> int | None:
    """Return what changes with a file, or with one of the files of a folder; None if it is gone."""
    try:
        status = place.stat()
        if not stat.S_ISDIR(status.st_mode):
            return hash(_signature("", status))
        with os.scandir(place) as found:
            files = [_signature(one.name, one.stat()) for one in found if one.is_file()]
    except OSError:
        return None
    return hash((status.st_ino, *sorted(files)))


def _signature(name: str, status: os.stat_result) -> tuple[str, int, int, int]:
    return name, status.st_mtime_ns, status.st_size, status.st_ino
