"""A run that goes on: what is known of it, watched by many, as server-sent events."""

import asyncio
import os
import re
import threading
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from benchyard.core.errors import InputError, RecordError
from benchyard.core.json_text import encoded
from benchyard.core.table import NUMBER, SECONDS, TEXT, Field
from benchyard.core.wording import printable
from benchyard.results.attempts import RunAttempt, read_tries
from benchyard.results.folders import LOG_FILE, RunFolder
from benchyard.results.record import read_record
from benchyard.show.curves.sources import GrowingCurves
from benchyard.show.curves.thinning import thinned
from benchyard.web.explorer import keep_fresh
from benchyard.web.pages.curves import document_of
from benchyard.web.runs import Shown, open_in, plain_text
from benchyard.web.tables import DataTable, table_of

#: Points of each curve; lines of the log.
_POINTS, _LINES = 400, 200
#: Bytes of the log that are read at a look; a longer line is cut into such parts.
_LOG_PART = 1 << 20
_LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ %s run \d+ step (\d+) (.*)"
_STATE = re.compile(r"(.*?): (?:(started)|attempt (failed),|[✓✗~-] ([a-z_]+))")

UNDER_WAY = "under way"


def newest_try(folder: Path) -> RunAttempt | None:
    """Return the newest try of a run; None if none was noted."""
    with suppress(ValueError):
        found, _ = read_tries(folder.parent, RunFolder(folder).number)
        return found[-1] if found else None
    return None


class LiveLog:
    """The log of a run that goes on, and what it tells of the steps.

    Args:
        case: Title of the case, which each line begins with; None if it is not known.
    """

    def __init__(self, folder: Path, case: str | None) -> None:
        self._folder = folder
        self._line = re.compile(_LINE % (re.escape(printable(case)) if case else ".*?"))
        self._stream: IO[bytes] | None = None
        self._rest = b""
        self._first: datetime | None = None
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.steps: dict[int, dict[str, Any]] = {}

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def look(self) -> bool:
        """Take in what is new; tell whether there was anything."""
        if self._stream is None:
            with suppress(InputError):
                self._stream = open_in(self._folder, LOG_FILE)
        if self._stream is None:
            return False
        *lines, self._rest = (self._rest + self._stream.read(_LOG_PART)).split(b"\n")
        if len(self._rest) > _LOG_PART:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._take(plain_text(line.decode(errors="replace")))
        return bool(lines)

    def _take(self, line: str) -> None:
        self.lines.append(line)
        with suppress(ValueError):
            at = datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007 - as logged
            self._first = self._first or at
            found = self._line.match(line)
            if found is not None:
                self._note(int(found[1]), found[2], (at - self._first).total_seconds())

    def _note(self, index: int, told: str, at_s: float) -> None:
        state = _STATE.match(told)
        if state is None:
            return
        name, began, failed, outcome = state.groups()
        known = self.steps.setdefault(
            index,
            {
                "index": index,
                "name": name,
                "start_s": at_s,
                "end_s": None,
                "outcome": UNDER_WAY,
                "failed_attempts": 0,
            },
        )
        if outcome:
            known.update(outcome=outcome, end_s=at_s)
        elif failed:
            known["failed_attempts"] += 1
        elif began and known["end_s"] is not None:
            known.update(outcome=UNDER_WAY, end_s=None)


class LiveRun:
    """A run that goes on. Its methods block for files, and are called by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._run = RunFolder(folder)
        self._try = newest_try(folder)
        self._log = LiveLog(folder, self._try.case if self._try else None)
        began = self._try.began.timestamp() if self._try else None
        self._curves = GrowingCurves(self._run.raw, began)

    def close(self) -> None:
        """Close its files."""
        self._log.close()
        self._curves.close()

    def look(self) -> dict[str, Any]:
        """Return what changed: ``log``, ``steps``, ``curves``, and ``end`` once it is over."""
        changed: dict[str, Any] = {}
        # First, so that what was written until the end is looked at after it.
        end = self._end()
        if self._log.look():
            changed["log"] = {"lines": list(self._log.lines)}
            changed["steps"] = list(self._log.steps.values())
        with suppress(OSError):
            if self._curves.look():
                changed["curves"] = self.curves()
        return changed | ({"end": end} if end else {})

    def curves(self) -> dict[str, Any] | None:
        """Return the curves so far, as ``/run/ID/curves.json`` has them; None before the first."""
        sources = self._curves.sources()
        if not sources:
            return None
        length = max(float(source.at_s[-1]) for source in sources) or 1e-3
        thin = thinned(sources, 0.0, length, _POINTS)
        return {
            **document_of(thin, length, 0.0, length),
            "steps": list(self._log.steps.values()),
            "phases": [],
        }

    def _end(self) -> dict[str, Any] | None:
        with suppress(RecordError):
            if self._run.record.is_file():
                return {"outcome": read_record(self._run.path).outcome.value}
        if self._try is not None and not self._try.under_way:
            return {"outcome": None, "reason": "the process that executed it is gone"}
        if not self._run.path.is_dir():
            return {"outcome": None, "reason": "its folder is gone"}
        return None


def live_steps_table(folder: Path) -> DataTable:
    """Return a row for each step that has begun, as the log tells it."""
    known = newest_try(folder)
    log = LiveLog(folder, known.case if known else None)
    log.look()
    log.close()
    fields: Sequence[Field] = (
        ("index", "No.", NUMBER, itemgetter("index")),
        ("step", "Step", TEXT, itemgetter("name")),
        ("outcome", "Outcome", TEXT, itemgetter("outcome")),
        ("start_s", "Began after", SECONDS, itemgetter("start_s")),
        ("failed_attempts", "Failed attempts", NUMBER, itemgetter("failed_attempts")),
    )
    steps = log.steps.values()
    return table_of("live-steps", "Steps so far", fields, steps, empty="No step has begun.")


#: Seconds between two looks, and between signs of life where nothing changes.
LOOK_S, HEARTBEAT_S = 1.0, 15.0
_HEARTBEAT = b": the run goes on\n\n"


class _Watched:
    """A run with its viewers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.viewers = 0
        #: The latest event of each kind.
        self.told: dict[str, bytes] = {}
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
                self.told |= found
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
    """The runs that somebody watches now.

    Attributes:
        watched: By their folders.
    """

    def __init__(self) -> None:
        self.watched: dict[Path, _Watched] = {}
        self._reader = ThreadPoolExecutor(1, "live", initializer=_be_humble)

    async def events(self, folder: Path) -> AsyncGenerator[bytes]:
        """Yield the events of a run, as they are sent, until it ends."""
        seen: dict[str, bytes] = {}
        async with self._viewing(folder) as run:
            while True:
                changed = run.changed
                for kind, event in list(run.told.items()):
                    if seen.get(kind) is not event:
                        seen[kind] = event
                        yield event
                if run.ended:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield _HEARTBEAT

    @asynccontextmanager
    async def _viewing(self, folder: Path) -> AsyncGenerator[_Watched]:
        run = self.watched.get(folder)
        if run is None or run.ended:
            run = self.watched[folder] = _Watched(folder)
            run.task = asyncio.create_task(run.look_on(self._reader))
        run.viewers += 1
        try:
            yield run
        finally:
            run.viewers -= 1
            if not run.viewers:
                if run.task is not None:
                    run.task.cancel()
                if self.watched.get(folder) is run:
                    del self.watched[folder]


router = APIRouter()
_runs = LiveRuns()


class _Events(StreamingResponse):
    """Events as they come; a server that stops ends them in good order."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@router.get("/run/{run_id}/live", response_class=_Events)
async def live(request: Request, shown: Shown) -> Response:
    """Tell what happens in a run: events ``log``, ``steps``, ``curves``, and ``end`` at last."""
    keep_fresh(request)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return _Events(_runs.events(shown.entry.place), headers=headers)
