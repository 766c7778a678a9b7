"""Runs that go on, watched by many: a reader for each run, server-sent events for each viewer.

A viewer is told the whole of what changed each time, never a part: who comes late, or is slow,
misses nothing and holds up nobody.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from benchyard.core.json_text import encoded
from benchyard.web.live_run import LiveRun

#: Seconds between two looks, and between signs of life where nothing changes.
LOOK_S, HEARTBEAT_S = 1.0, 15.0
_HEARTBEAT = b": the run goes on\n\n"


class _Watched:
    """A run with its viewers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.viewers = 0
        #: Kind of event to its number and itself, in the order of the latest change.
        self.told: dict[str, tuple[int, bytes]] = {}
        self.changed = asyncio.Event()
        self.ended = False
        self.task: asyncio.Task[None] | None = None

    async def look_on(self, reader: ThreadPoolExecutor) -> None:
        """Look at the run until it ends."""
        loop, live = asyncio.get_running_loop(), None
        try:
            live = await loop.run_in_executor(reader, LiveRun, self._folder)
            while not self.ended:
                found = await loop.run_in_executor(reader, _look, live)
                for kind, event in found.items():
                    number = self.told.get(kind, (0, b""))[0] + 1
                    self.told[kind] = (number, event)
                self.ended = "end" in found
                if found:
                    self.tell()
                await asyncio.sleep(LOOK_S)
        finally:
            self.ended = True
            self.tell()
            if live is not None:
                live.close()

    def tell(self) -> None:
        """Wake up all viewers."""
        self.changed.set()
        self.changed = asyncio.Event()


def _look(live: LiveRun) -> dict[str, bytes]:
    return {
        kind: f"event: {kind}\ndata: {encoded(value)}\n\n".encode(errors="backslashreplace")
        for kind, value in live.look().items()
        if value is not None
    }


def _be_humble() -> None:
    """Let the thread that looks come after everything else: runs are measured here, maybe."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


class LiveRuns:
    """All runs that are watched now."""

    def __init__(self) -> None:
        self._watched: dict[Path, _Watched] = {}
        self._reader = ThreadPoolExecutor(1, "live", initializer=_be_humble)

    @property
    def watched(self) -> list[Path]:
        """Their folders."""
        return list(self._watched)

    async def events(self, folder: Path) -> AsyncGenerator[bytes]:
        """Yield the events of a run, as they are sent, until it ends."""
        seen: dict[str, int] = {}
        async with self._viewing(folder) as run:
            while True:
                changed = run.changed
                for kind, (number, event) in list(run.told.items()):
                    if seen.get(kind) != number:
                        seen[kind] = number
                        yield event
                if run.ended:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield _HEARTBEAT

    @asynccontextmanager
    async def _viewing(self, folder: Path) -> AsyncGenerator[_Watched]:
        run = self._watched.get(folder)
        if run is None or run.ended:
            run = self._watched[folder] = _Watched(folder)
            run.task = asyncio.create_task(run.look_on(self._reader))
        run.viewers += 1
        try:
            yield run
        finally:
            run.viewers -= 1
            if not run.viewers:
                if run.task is not None:
                    run.task.cancel()
                if self._watched.get(folder) is run:
                    del self._watched[folder]
