"""Publishers that die: run as a program, because pytest must not be forked.

python killing.py steps FOLDER COMPRESSION     dies before each step of publishing one file
python killing.py random FOLDER SEED           kill -9 at random moments, three at once
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchyard.publish.archive import LocalArchive
from benchyard.publish.compression import Compression
from benchyard.publish.publisher import Manner, publish
from benchyard.publish.sinks import open_sink
from benchyard.publish.sinks.contract import Sink
from benchyard.publish.sinks.local.store import file_of
from benchyard.publish.sinks.sending import RetryPolicy
from tests.benchyard.publish.fake_sinks import FolderSink

#: What changes the disk, or gives a lock back.
STEPS = ("link", "rename", "replace", "unlink", "fsync", "close", "utime", "mkdir", "write")
_DIED = 77


def child(act: Callable[[], None]) -> int:
    """Act in another process; return its id."""
    while Path("/proc/self/task").stat().st_nlink > 3:  # a joined thread is about to go
        time.sleep(0.001)
    process = os.fork()
    if process:
        return process
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - a fork must never go on as its parent
        sys.stderr.write(f"publisher: {error!r}\n")
        os._exit(1)
    os._exit(0)


def dying_before(step: int, act: Callable[[], None]) -> int:
    """Act, and die before the step of this number; return the exit code."""

    def counted() -> None:
        left = [step]
        for name in STEPS:
            setattr(os, name, _counting(getattr(os, name), left))
        act()

    _, status = os.waitpid(child(counted), 0)
    return os.waitstatus_to_exitcode(status)


def _counting(function: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def counted(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            os._exit(_DIED)
        return function(*arguments, **named)

    return counted


def steps(folder: Path, how: str) -> dict[str, Any]:
    """Publish a file, dying before each step in turn; tell what was where after the next one."""
    found: list[Any] = []
    code, step = _DIED, 0
    while code == _DIED:
        place = folder / str(step)
        (place / "spool").mkdir(parents=True)
        for name, content in (("a.json", "{}"), ("b.json", "reject me")):
            (place / "spool" / name).write_text(content)
            os.utime(place / "spool" / name, (1_700_000_000, 1_700_000_000))
        code = dying_before(step, lambda place=place: once(place, how))
        once(place, how)
        found.append([str(path.relative_to(place)) for path in sorted(place.rglob("*.*"))])
        step += 1
    return {"code": code, "found": found}


def once(place: Path, how: str) -> None:
    """Publish all that waits in a place."""
    archive = LocalArchive(place / "archive", Compression(how))
    publish(place / "spool", FolderSink(place / "sink"), archive)


class Journalling:
    """The real local store, with a journal of who is at which file."""

    def __init__(self, sink: Sink, folder: Path) -> None:
        self._sink = sink
        self._seen = FolderSink(folder)
        self.name, self.kind, self.parallel = sink.name, sink.kind, 2

    def check(self) -> None:
        self._sink.check()

    def store(self, spooled: Any) -> None:
        self._seen.before = self._sink.store
        self._seen.after = lambda _: time.sleep(0.08)
        self._seen.store(spooled)

    def close(self) -> None:
        self._sink.close()


def publisher(folder: Path) -> None:
    """Publish until nothing waits any more."""
    sink = Journalling(open_sink("local"), folder / "journal")
    archive = LocalArchive(folder / "archive", Compression.ZST)
    publish(folder / "spool", sink, archive, Manner(RetryPolicy(retries=20, first_s=0.05)))


def at_random(folder: Path, seed: int) -> dict[str, Any]:
    """Keep three publishers going, and kill 50 of them at random moments."""
    chance = random.Random(seed)  # noqa: S311 - a test's
    going = [child(lambda: publisher(folder)) for _ in range(3)]
    killed = 0
    while killed < 50 and any((folder / "spool").glob("*.json")):
        time.sleep(chance.uniform(0, 0.03))
        place = chance.randrange(3)
        os.kill(going[place], signal.SIGKILL)
        _, status = os.waitpid(going[place], 0)
        killed += os.WIFSIGNALED(status)
        going[place] = child(lambda: publisher(folder))
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in going]
    last = child(lambda: publisher(folder))
    codes.append(os.waitstatus_to_exitcode(os.waitpid(last, 0)[1]))
    return {"killed": killed, "codes": codes, "store": str(file_of(""))}


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        print(json.dumps(steps(Path(sys.argv[2]), sys.argv[3])))  # noqa: T201
    else:
        print(json.dumps(at_random(Path(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
