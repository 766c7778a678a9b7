"""The sources of curves: large files of samples, whose columns are kept, and runs that go on.

Large files are read once, in a process of its own (so that whoever asks neither waits for other
work nor keeps the memory), into a folder that is kept: columns of floats, which are mapped. Of a
run that goes on what its sampler writes is read, and nothing is written or asked; memory and work
do not grow with the run: of many samples fewer and fewer are decoded.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from benchyard.core.clock import seconds
from benchyard.core.errors import RecordError
from benchyard.core.files import opened, remove_tree, write_json
from benchyard.host.sampler import HOST
from benchyard.host.sampler.owned import Curve, Decoded
from benchyard.host.sampler.process import MAGIC
from benchyard.host.sampler.raw import Gone, Opened, Tick, records
from benchyard.results.folders import RunFolder
from benchyard.results.samples import (
    COUNTERS,
    SampledSource,
    SampleTable,
    Values,
    make_source,
    read_sources,
    sources_of_resources,
)

#: Bytes of samples that are read anew each time, in some 30 ms.
_SMALL = 1_000_000
#: Bytes that all kept columns may have together.
_ROOM = 2 * 2**30
_NAMES = "sources.json"

_reading = threading.Lock()


def sources_of(folder: Path, interval_s: float, kept: Path) -> list[SampledSource]:
    """Return the sources of a run, read from its files or mapped from what is kept of them.

    Args:
        kept: Folder for what is kept; it is made, and old things in it are removed.

    Raises:
        RecordError: If the samples cannot be read.
    """
    run = RunFolder(folder)
    try:
        states = [file.stat() for file in (run.metrics, run.resources) if file.exists()]
        if sum(state.st_size for state in states) < _SMALL:
            return read_sources(folder, interval_s)
        told = [os.fspath(folder), interval_s, *((s.st_mtime_ns, s.st_size) for s in states)]
        place = kept / hashlib.sha256(repr(told).encode()).hexdigest()[:32]
        if not (place / _NAMES).is_file():
            with _reading:
                if not (place / _NAMES).is_file():
                    with ProcessPoolExecutor(1, get_context("spawn"), os.nice, (10,)) as apart:
                        apart.submit(_keep, folder, interval_s, place).result()
                    with suppress(FileNotFoundError):  # another server may make room, too
                        _make_room(kept, place)
        os.utime(place)
        return [*_mapped(place)]
    except (OSError, ValueError, BrokenExecutor) as error:
        raise RecordError(f"{folder}: its curves cannot be read: {error}") from error


def _mapped(place: Path) -> Iterator[SampledSource]:
    names: list[str] = json.loads((place / _NAMES).read_bytes())
    for number, name in enumerate(names):
        yield SampledSource(name, np.load(place / f"{number}.npy", mmap_mode="r"))


def _make_room(kept: Path, newest: Path) -> None:
    """Remove what was looked at least recently, if all together is too much."""
    places = sorted(kept.iterdir(), key=lambda place: -place.stat().st_mtime)
    size = 0
    for place in places:
        size += sum(file.stat().st_size for file in place.iterdir())
        if size > _ROOM and place != newest:
            remove_tree(place)


def _keep(folder: Path, interval_s: float, place: Path) -> None:
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    beside.mkdir(parents=True)
    try:
        sources = read_sources(folder, interval_s)
        for number, source in enumerate(sources):
            np.save(beside / f"{number}.npy", source.table)
        write_json(beside / _NAMES, [source.name for source in sources])
        beside.rename(place)
    finally:
        if beside.exists():
            remove_tree(beside)


# -- of a run that goes on


#: So many samples are kept; of more every second one is left out.
_MOST = 2000
#: Clocks of one host tell the age of a file so well (s).
_APART = 30.0

_Row: TypeAlias = "list[float | None]"


class GrowingCurves:
    """What has been sampled so far.

    Args:
        raw: The sampler's file; it may come later.
        began_s: When the run began, in seconds since the epoch; None if that is not known.
    """

    def __init__(self, raw: Path, began_s: float | None) -> None:
        self._raw = raw
        self._began_s = began_s
        self._stream: IO[bytes] | None = None
        self._decoded = Decoded()
        self._waiting: dict[int, bytes] = {}
        self._classes = 0
        self._due_ns = self._apart_ns = 0
        #: When, the host's row, and that of each thing which a resource owns.
        self._ticks: list[tuple[int, _Row, dict[Curve, _Row]]] = []

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def look(self) -> bool:
        """Take in what is new; tell whether there was anything.

        Raises:
            OSError: If the file cannot be read.
        """
        ticks = 0
        for record in self._records():
            if isinstance(record, Tick):
                ticks += 1
                self._take(record)
            elif isinstance(record, Opened):
                self._decoded.open(record)
            elif isinstance(record, Gone):
                self._waiting.pop(record.ident, None)
                self._decoded.close(record)
        return ticks > 0

    def _records(self) -> Iterator[object]:
        if self._stream is None:
            with suppress(FileNotFoundError):
                self._stream = opened(self._raw)
        stream = self._stream
        if stream is None:
            return
        if not stream.tell() and stream.read(len(MAGIC)) != MAGIC:
            stream.seek(0)
            return
        yield from records(stream)

    def _take(self, tick: Tick) -> None:
        self._waiting.update(tick.changed)
        self._classes |= tick.classes
        if tick.at_ns < self._due_ns:
            return
        self._due_ns = tick.at_ns + self._apart_ns
        self._decoded.take(self._waiting.items())
        self._ticks.append((tick.at_ns, self._host_row(), dict(self._owned_rows())))
        self._waiting.clear()
        self._classes = 0
        if len(self._ticks) > _MOST:
            self._ticks = self._ticks[::2]
            self._apart_ns = (self._ticks[-1][0] - self._ticks[0][0]) // len(self._ticks)

    def _host_row(self) -> _Row:
        (user, system, *_), memory, disks, network = self._decoded.host.parts
        busy = None if user is None or system is None else user + system
        return [busy, disks[2], disks[3], network[2], network[3], memory[0]]

    def _owned_rows(self) -> Iterator[tuple[Curve, _Row]]:
        for curve in self._decoded.curves.read(self._classes):
            used = curve.usage(curve.files)
            amounts = (used.cpu_s, used.disk_read_bytes, used.disk_write_bytes, used.memory_bytes)
            yield curve, [*amounts]

    def sources(self) -> list[SampledSource]:
        """Return what is known so far, the host first."""
        if not self._ticks:
            return []
        origin = self._origin_s(self._ticks[0][0], self._ticks[-1][0])
        at_s = np.array([seconds(at_ns) - origin for at_ns, _, _ in self._ticks])
        values = np.array([row for _, row, _ in self._ticks], np.float64).T
        interval = float(np.median(np.diff(at_s))) if len(at_s) > 1 else 0.1
        counters = dict(zip(COUNTERS, values, strict=False))
        host = make_source(HOST, at_s, counters, values[-1], interval)
        return [host, *sources_of_resources(self._owned(at_s), interval)]

    def _owned(self, at_s: Values) -> SampleTable:
        rows = [
            (round(at * 1e9), curve, row)
            for at, (_, _, owned) in zip(at_s.tolist(), self._ticks, strict=True)
            for curve, row in owned.items()
        ]
        numbers = {curve: number for number, curve in enumerate({curve: 0 for _, curve, _ in rows})}
        return SampleTable(
            np.array([at_ns for at_ns, _, _ in rows], np.int64),
            np.array([row for _, _, row in rows], np.float64).reshape(len(rows), 4).T,
            np.array([numbers[curve] for _, curve, _ in rows], np.int32),
            [(curve.owner,) for curve in numbers],
        )

    def _origin_s(self, first_ns: int, last_ns: int) -> float:
        """Return the run's start on the sampler's clock; the first sample if that cannot be told.

        Of a run on another host the clock is another one: its last sample is not as old as the
        file.
        """
        ahead = time.time() - time.monotonic()
        with suppress(OSError):
            written = self._raw.stat().st_mtime
            begun = None if self._began_s is None else self._began_s - ahead
            if begun is not None and abs(seconds(last_ns) + ahead - written) < _APART:
                return min(begun, seconds(first_ns))
        return seconds(first_ns)
