"""Scanning several files with all cores: each reads parts of them, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple, cast

from benchyard.errors import RecordError
from benchyard.krown import scanning
from benchyard.krown.scanning import Scan, merged

#: Bytes of one part: small enough that no core waits long for another at the end.
_PART = 16 << 20
#: Bytes that this process reads faster itself than another one starts (about 30 ms).
_ALONE = 8 << 20


class _Job(NamedTuple):
    """A part of a file, from the beginning of a row to the end of one."""

    place: int
    path: str
    start: int
    end: int


def scan_files(paths: Sequence[Path]) -> list[Scan]:
    """Scan whole files, and return what each holds, in order.

    Raises:
        RecordError: If one cannot be read or is no metrics.csv of KROWN's.
    """
    jobs = list(_jobs(paths))
    if sum(job.end - job.start for job in jobs) <= _ALONE:
        found = {job: _scanned(job) for job in jobs}
    else:
        found = _side_by_side(jobs, min(len(os.sched_getaffinity(0)), len(jobs)))
    whole: list[Scan] = [{"parts": [], "damaged": 0} for _ in paths]
    for job in jobs:
        whole[job.place]["parts"] += found[job]["parts"]
        whole[job.place]["damaged"] += found[job]["damaged"]
    return [{"parts": merged(one["parts"]), "damaged": one["damaged"]} for one in whole]


def _jobs(paths: Iterable[Path]) -> Iterator[_Job]:
    for place, path in enumerate(paths):
        try:
            size, start = path.stat().st_size, 0
            with path.open("rb") as stream:
                while start < size:
                    stream.seek(min(start + _PART, size))
                    stream.readline()
                    yield _Job(place, str(path), start, stream.tell())
                    start = stream.tell()
        except OSError as error:
            raise _unreadable(str(path), error.strerror) from error


def _unreadable(path: str, why: object) -> RecordError:
    return RecordError(f"{path}: not readable as KROWN's metrics.csv: {why}; move its run away")


def _scanned(job: _Job) -> Scan:
    try:
        return scanning.scan(job.path, job.start, job.end)
    except (OSError, ValueError) as error:
        raise _unreadable(job.path, error) from error


def _side_by_side(jobs: Sequence[_Job], processes: int) -> dict[_Job, Scan]:
    """Let processes take the jobs as they have time for them."""
    waiting: SimpleQueue[_Job] = SimpleQueue()
    for job in jobs:
        waiting.put(job)
    answers: dict[_Job, str] = {}
    threads = [Thread(target=_feed, args=(waiting, answers)) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {job: _answer(job, answers.get(job)) for job in jobs}


def _feed(waiting: "SimpleQueue[_Job]", answers: dict[_Job, str]) -> None:
    """Start a process and hand it one job after the other; a dead one gives no answer."""
    command = [sys.executable, "-I", "-S", scanning.__file__]
    pipe = subprocess.PIPE
    with (
        suppress(Empty, BrokenPipeError),
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as child,
    ):
        while child.stdin is not None and child.stdout is not None:
            job = waiting.get_nowait()
            child.stdin.write(json.dumps(job[1:]) + "\n")
            child.stdin.flush()
            answers[job] = child.stdout.readline()


def _answer(job: _Job, line: str | None) -> Scan:
    if not line:
        raise _unreadable(job.path, "the process that read it ended early")
    answer = json.loads(line)
    if "error" in answer:
        raise _unreadable(job.path, answer["error"])
    return cast("Scan", answer)
