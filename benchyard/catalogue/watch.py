"""Looking at what changes, as it happens, in a thread of its own.

The kernel tells what happens in the folders that runs and files lie in, and what is under way is
looked at every second. What is changed inside of a finished run is seen by the full look, which
comes about once a minute: to watch every run's folder would take more than kernels allow.
Where the kernel cannot tell, full looks come as often as they are cheap.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

from benchyard.process.cgroups import read_mounts

logger = logging.getLogger(__name__)

#: Seconds between two looks at what is under way.
_PAUSE = 1.0
#: A full look comes after so many seconds, or so many times as long as it takes.
_FULL_PAUSE, _FULL_SHARE = 60.0, 50
#: The same where nothing tells what happens.
_BLIND_PAUSE, _BLIND_SHARE = 1.0, 10
#: Events are gathered for so long (ms).
_STEP, _GATHERED = 100, 400
#: File systems whose other hosts change files without an event here.
_SILENT = ("nfs", "cifs", "smb", "fuse", "9p", "ceph", "lustre", "glusterfs", "afs", "virtiofs")
_MOUNTS = Path("/proc/self/mountinfo")


class Watched(Protocol):
    """What a watcher keeps up to date: a catalogue."""

    roots: list[Path]

    def refresh(self, stopped: Callable[[], bool]) -> None:
        """Look at everything."""

    def refresh_folders(self, stopped: Callable[[], bool]) -> None:
        """Look at what is new and gone."""

    def refresh_around(self, paths: Collection[Path], stopped: Callable[[], bool]) -> None:
        """Look at the folders of paths, and at what is under way."""

    def folders(self) -> dict[Path, int]:
        """Return the folders to be watched, with their inodes."""
        ...


class Watcher:
    """Keeps a catalogue up to date until it is stopped.

    Attributes:
        note: Why changes are not seen as they happen; empty while they are.
    """

    def __init__(self, watched: Watched) -> None:
        self.note = ""
        self._watched = watched
        self._stop = Event()
        self._full_at = 0.0
        self._has_looked = Event()
        self._thread = Thread(target=self._run, name="benchyard-catalogue", daemon=True)

    def start(self, wait_s: float) -> None:
        """Begin, and wait for so many seconds at most for the end of the first full look."""
        self._thread.start()
        self._has_looked.wait(wait_s)

    def stop(self) -> None:
        """End; returns when the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._keep_up()
            except Exception as error:  # noqa: BLE001 - a thread that died would tell nobody
                self._say(f"looking at what changes failed ({error}): it is tried again")
                self._stop.wait(_PAUSE)

    def _keep_up(self) -> None:
        silent = silent_root(self._watched.roots)
        if silent is not None:
            self._say(f"{silent} tells of no changes by others: it is looked at again and again")
            return self._look_again_and_again()
        self._full_look()
        try:
            while not self._stop.is_set():
                with suppress(FileNotFoundError):  # a folder vanished before it was watched
                    self._follow_events()
        except OSError as error:
            self._say(f"changes cannot be watched ({error}): folders are looked at again and again")
            self._look_again_and_again()
        return None

    def _say(self, note: str) -> None:
        if note != self.note:
            logger.warning("%s", note)
        self.note = note

    def _look_again_and_again(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            self._watched.refresh(self._stop.is_set)
            self._has_looked.set()
            took = time.monotonic() - began
            self._stop.wait(max(_BLIND_PAUSE, _BLIND_SHARE * took))

    def _full_look(self) -> None:
        began = time.monotonic()
        self._watched.refresh(self._stop.is_set)
        self._has_looked.set()
        end = time.monotonic()
        self._full_at = end + max(_FULL_PAUSE, _FULL_SHARE * (end - began))

    def _follow_events(self) -> None:
        """Look where something happens, until the folders to be watched are others.

        Raises:
            OSError: If the kernel cannot watch so many.
        """
        folders = self._watched.folders()
        is_first = True
        for paths in self._events(folders):
            if is_first:  # what happened before the kernel watched
                self._watched.refresh_folders(self._stop.is_set)
                self.note, is_first = "", False
            if time.monotonic() >= self._full_at:
                self._full_look()
            else:
                self._watched.refresh_around(paths, self._stop.is_set)
                if not paths:
                    continue
            if self._watched.folders() != folders:
                return

    def _events(self, folders: Iterable[Path]) -> Iterator[set[Path]]:
        """Yield what changed, and nothing about once a second.

        The library knows names in UTF-8 only. Other folders are seen by the full look; where
        something of another name changes, whatever is watched is looked at.
        """
        from watchfiles import watch  # noqa: PLC0415 - only who watches needs it

        there = [folder for folder in folders if folder.is_dir() and _is_utf8(folder)]
        if not there:
            self._stop.wait(_PAUSE)
            yield set()
            return
        changes = watch(
            *there,
            watch_filter=None,
            debounce=_GATHERED,
            step=_STEP,
            stop_event=self._stop,
            rust_timeout=int(_PAUSE * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            force_polling=False,
            ignore_permission_denied=True,
        )
        try:
            yield from ({Path(path) for _, path in changed} for changed in changes)
        except RuntimeError:  # what the library raises for such a name
            self._stop.wait(_PAUSE)
            yield set(there)


def _is_utf8(path: Path) -> bool:
    try:
        return bool(str(path).encode())
    except UnicodeEncodeError:
        return False


def silent_root(roots: Iterable[Path]) -> Path | None:
    """Return the first folder on a file system that does not tell what others change; else None."""
    try:
        mounts = read_mounts(_MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return None
    for root in roots:
        above = [mount for mount in mounts if root.is_relative_to(mount.point)]
        nearest = max(above, key=lambda mount: len(str(mount.point)), default=None)
        if nearest is not None and nearest.fstype.startswith(_SILENT):
            return root
    return None
