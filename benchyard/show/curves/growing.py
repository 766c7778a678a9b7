"""Curves of a run that goes on, read from what its sampler writes; nothing is written or asked.

Memory and work do not grow with the run: of many samples fewer and fewer are decoded.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from benchyard.core.clock import seconds
from benchyard.core.files import opened
from benchyard.host.counters.host import disk_numbers
from benchyard.host.sampler import COLUMNS, HOST, owned
from benchyard.host.sampler.process import MAGIC
from benchyard.host.sampler.raw import Gone, Opened, Tick, records
from benchyard.host.sampler.rows import HostColumns
from benchyard.results.samples import COUNTERS, Source, make_source

#: So many samples are kept; of more every second one is left out.
_MOST = 2000
#: Clocks of one host tell the age of a file so well (s).
_APART = 30.0

_Row: TypeAlias = "list[float | None]"
_Update: TypeAlias = "Callable[[bytes | None], None]"


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
        self._host = HostColumns()
        self._curves = owned.RunCurves(disk_numbers() or None)
        self._updates: dict[int, _Update] = {}
        self._waiting: dict[int, bytes] = {}
        self._classes = 0
        self._due_ns = self._apart_ns = 0
        self._sums = _Sums()
        self._rows: dict[str, list[tuple[int, _Row]]] = {}

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
            match record:
                case Tick():
                    ticks += 1
                    self._take(record)
                case Opened():
                    self._open(record)
                case Gone(ident):
                    self._waiting.pop(ident, None)
                    self._updates.pop(ident, _ignore)(None)
                case _:
                    pass
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

    def _open(self, record: Opened) -> None:
        host, name = self._host, record.name
        if record.what == COLUMNS:
            self._updates[record.ident] = lambda content: host.update(name, content)
            return
        curve = self._curves.curve(record.owner, record.what, name)
        if curve is not None:
            self._updates[record.ident] = lambda content: curve.update(name, content)

    def _take(self, tick: Tick) -> None:
        self._waiting.update(tick.changed)
        self._classes |= tick.classes
        if tick.at_ns < self._due_ns:
            return
        self._due_ns = tick.at_ns + self._apart_ns
        for ident, content in self._waiting.items():
            self._updates.get(ident, _ignore)(content)
        self._keep(tick.at_ns)
        self._waiting.clear()
        self._classes = 0

    def _keep(self, at_ns: int) -> None:
        cpu, memory, disks, network = self._host.parts
        user, system = cpu[:2]
        busy = None if user is None or system is None else user + system
        read, written, received, sent = disks[2], disks[3], network[2], network[3]
        found = {HOST: [busy, read, written, received, sent, memory[0]]}
        found.update(self._sums.taken(self._curves.read(self._classes)))
        for name, row in found.items():
            self._rows.setdefault(name, []).append((at_ns, row))
        if len(self._rows[HOST]) > _MOST:
            self._thin()

    def _thin(self) -> None:
        self._rows = {name: rows[::2] for name, rows in self._rows.items()}
        times = [at_ns for at_ns, _ in self._rows[HOST]]
        self._apart_ns = (times[-1] - times[0]) // len(times)

    def sources(self) -> list[Source]:
        """Return what is known so far, the host first."""
        rows = self._rows.get(HOST)
        if not rows:
            return []
        origin = self._origin_s(rows[0][0], rows[-1][0])
        return [self._source(name, origin) for name in self._rows]

    def _source(self, name: str, origin_s: float) -> Source:
        rows = self._rows[name]
        at_s = np.array([seconds(at_ns) - origin_s for at_ns, _ in rows])
        values = np.array([row for _, row in rows], np.float64).T
        lengths = np.diff(at_s)
        interval = float(np.median(lengths)) if len(lengths) else 0.1
        return make_source(
            name, at_s, dict(zip(COUNTERS, values, strict=False)), values[-1], interval
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


class _Sums:
    """Adds up what belongs to a resource: its groups and processes come and go."""

    def __init__(self) -> None:
        self._last: dict[owned.Curve, owned.OwnedUsage] = {}
        self._totals: dict[str, list[float]] = {}

    def taken(self, curves: list[owned.Curve]) -> dict[str, _Row]:
        """Take in readings; return the totals, and the memory now, of each resource."""
        memory: dict[str, float | None] = {}
        for curve in curves:
            if curve.owner == HOST:
                continue
            now = curve.usage(curve.files)
            before = self._last.get(curve, now)
            self._last[curve] = now
            totals = self._totals.setdefault(curve.owner, [0.0, 0.0, 0.0])
            for place, name in enumerate(("cpu_s", "disk_read_bytes", "disk_write_bytes")):
                one, other = getattr(now, name), getattr(before, name)
                if one is not None and other is not None:
                    totals[place] += max(one - other, 0)
            held = now.memory_bytes
            known = memory.get(curve.owner)
            memory[curve.owner] = held if known is None else known + (held or 0)
        return {name: [*self._totals[name], None, None, held] for name, held in memory.items()}


def _ignore(content: bytes | None) -> None:
    """Ignore what belongs to no curve."""
