"""Scanning several files with all cores: each reads parts of them, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from stat import S_ISREG
from threading import Thread
from typing import NamedTuple, cast

from benchyard.core.errors import RecordError
from benchyard.results.krown import scanning
from benchyard.results.krown.scanning import (
    LONGEST_LINE,
    MOST_STEPS,
    NotMetricsError,
    Scan,
    check_number,
    merged,
    nothing,
)

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
    most: int


def scan_files(paths: Sequence[Path], most: int = MOST_STEPS) -> list[Scan | RecordError]:
    """Scan whole files, and return what each holds, in order.

    A file that cannot be read, or is no metrics.csv of KROWN's, yields the error that says so.

    Args:
        most: The largest step that there can be.
    """
    planned = [_planned(place, path, most) for place, path in enumerate(paths)]
    jobs = [job for one in planned if isinstance(one, list) for job in one]
    if sum(job.end - job.start for job in jobs) <= _ALONE:
        found = {job: _scanned(job) for job in jobs}
    else:
        found = _side_by_side(jobs, min(len(os.sched_getaffinity(0)), len(jobs)))
    return [
        one if isinstance(one, RecordError) else _whole(path, [found[job] for job in one])
        for path, one in zip(paths, planned, strict=True)
    ]


def _planned(place: int, path: Path, most: int) -> list[_Job] | RecordError:
    try:
        return list(_jobs(place, path, most))
    except OSError as error:
        return unreadable(path, error.strerror or error)


def _jobs(place: int, path: Path, most: int) -> Iterator[_Job]:
    status, start = path.stat(), 0
    if not S_ISREG(status.st_mode):
        # Opening a pipe would wait for somebody to write.
        raise OSError(None, "it is no regular file")
    with path.open("rb") as stream:
        while start < status.st_size:
            stream.seek(min(start + _PART, status.st_size))
            # A line without an end in sight is refused by who scans it.
            stream.readline(LONGEST_LINE + 1)
            yield _Job(place, str(path), start, stream.tell(), most)
            start = stream.tell()


def unreadable(path: object, why: object) -> RecordError:
    """Return the error that says why a metrics.csv is left out."""
    return RecordError(f"{path}: not readable as KROWN's metrics.csv: {why}; move its run away")


def _whole(path: Path, found: Sequence[Scan | RecordError]) -> Scan | RecordError:
    for one in found:
        if isinstance(one, RecordError):
            return one
    try:
        return together(one for one in found if not isinstance(one, RecordError))
    except NotMetricsError as error:
        return unreadable(path, error)


def together(scans: Iterable[Scan]) -> Scan:
    """Join what the parts of a file hold, given in their order.

    Raises:
        NotMetricsError: If the steps change too often to be steps.
    """
    whole, cut = nothing(), False
    for one in scans:
        if one["starts_cut"]:
            cut = True
            if whole["parts"]:
                whole["parts"][-1]["cut_after"] = True
            else:
                whole["starts_cut"] = True
        if one["parts"]:
            one["parts"][0]["cut_before"] |= cut
            cut = one["parts"][-1]["cut_after"]
        whole["parts"][-1:] = merged([*whole["parts"][-1:], *one["parts"]])
        whole["damaged"] += one["damaged"]
        check_number(whole["parts"])
    return whole


def _scanned(job: _Job) -> Scan | RecordError:
    try:
        return scanning.scan(*job[1:])
    except (OSError, ValueError) as error:
        return unreadable(job.path, error)


def _side_by_side(jobs: Sequence[_Job], processes: int) -> dict[_Job, Scan | RecordError]:
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


def _answer(job: _Job, line: str | None) -> Scan | RecordError:
    if line is None or not line.endswith("\n"):
        return unreadable(job.path, "the process that read it ended early")
    answer = json.loads(line)
    if "error" in answer:
        return unreadable(job.path, answer["error"])
    return cast("Scan", answer)
