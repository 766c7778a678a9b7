"""Convert Scanner's intervals to Chrome trace events."""

import gzip
import io
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.files import writing_atomically
from benchyard.core.json_text import encoded
from benchyard.traces.model import microseconds

ENDINGS = (".trace", ".json", ".json.gz", ".tar.gz")
#: Intervals that are Python's numbers at the same time.
_AT_ONCE = 1 << 12
_COLOURS = {"idle": '"cname":"grey",'}
_GZIP_LEVEL = 1


@dataclass(frozen=True, slots=True, eq=False)
class ThreadOfTrace:
    """A thread and its intervals.

    Args:
        process: Its process's name.
        pid: Its process's number in the trace.
        tid: Its own number.
        name: Its own name.
        category: Of its events.
        names: Of intervals, one for each of the 256 keys.
        intervals: Columns ``key``, ``start``, ``end``; nanoseconds.
    """

    process: str
    pid: int
    tid: int
    name: str
    category: str
    names: Sequence[str]
    intervals: NDArray[np.void]


def write_threads(threads: Iterable[ThreadOfTrace], path: Path) -> Path:
    """Write threads as one array of events.

    Raises:
        InputError: If the path does not end in one of ``ENDINGS``.
        OSError: If it cannot be written; what was there is then as it was.
    """
    ending = next((one for one in ENDINGS if path.name.endswith(one)), None)
    if ending is None:
        raise InputError(f"{path}: a trace must end in {', '.join(ENDINGS)}")
    with ExitStack() as stack:
        out: IO[bytes] = stack.enter_context(writing_atomically(path))
        if ending == ".tar.gz":
            _write_tar(threads, out, path.name.removesuffix(ending) + ".trace")
            return path
        if ending == ".json.gz":
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, out, mtime=0)
            out = cast("IO[bytes]", stack.enter_context(packed))
        _write(threads, out)
    return path


def _write_tar(threads: Iterable[ThreadOfTrace], out: IO[bytes], name: str) -> None:
    with TemporaryFile() as whole:
        _write(threads, cast("IO[bytes]", whole))
        entry = tarfile.TarInfo(name)
        entry.size = whole.tell()
        whole.seek(0)
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=_GZIP_LEVEL) as tar:
            tar.addfile(entry, cast("io.BufferedIOBase", whole))


def _write(threads: Iterable[ThreadOfTrace], out: IO[bytes]) -> None:
    out.write(b"[")
    between = "\n"
    for event in chain.from_iterable(map(_events, threads)):
        out.write(f"{between}{event}".encode())
        between = ",\n"
    out.write(b"\n]\n")


def _events(thread: ThreadOfTrace) -> Iterator[str]:
    place = f'"pid":{thread.pid},"tid":{thread.tid}'
    yield f'{{"name":"thread_name","ph":"M",{place},"args":{{"name":{encoded(thread.name)}}}}}'
    heads = [
        f'{{"name":{encoded(name)},{_COLOURS.get(name, "")}"cat":{encoded(thread.category)},'
        f'"ph":"X",{place},"ts":'
        for name in thread.names
    ]
    for first in range(0, len(thread.intervals), _AT_ONCE):
        for key, start, end in thread.intervals[first : first + _AT_ONCE].tolist():
            yield f'{heads[key]}{microseconds(start)},"dur":{microseconds(end - start)}}}'
