"""The samples of a run as columns: ``metrics.csv`` and ``resources.csv``, read once.

``read_samples`` reads any columns of a file, ``read_sources`` what curves show of the host and of
the resources. numpy takes its time to import: whoever measures leaves this module alone.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from benchyard.core.files import opened
from benchyard.results.folders import RunFolder

Values = NDArray[np.float64]
Times = NDArray[np.int64]
#: Rows that are texts at the same time: more leave the processor's caches, and take longer.
_ROWS = 512
#: No run lasts longer (s, 30 years).
_LATEST = 1e9
#: No counter is larger: sums would leave the floats.
_LARGEST = 1e100
_TIME = "timestamp"

HOST = "host"
#: Counters that only grow, in KROWN's words and in those of resources.csv.
COUNTERS: Mapping[str, tuple[str, str]] = {
    "cpu_s": ("cpu_user_system", "cpu_s"),
    "disk_read_bytes": ("disk_read_bytes", "disk_read_bytes"),
    "disk_write_bytes": ("disk_write_bytes", "disk_write_bytes"),
    "network_received_bytes": ("network_received_bytes", ""),
    "network_sent_bytes": ("network_sent_bytes", ""),
}
_PLACES = {name: 1 + 2 * place for place, name in enumerate(COUNTERS)}
_MEMORY_PLACE = 1 + 2 * len(COUNTERS)
#: So many resources have curves of their own, those that used most CPU.
_MOST_RESOURCES = 5


class Lost(NamedTuple):
    """Rows that could not be read: why, how many, and where the first of them is."""

    reason: str
    rows: int
    where: str


@dataclass(frozen=True, slots=True, eq=False)
class SampleTable:
    """Samples, ordered by time.

    Args:
        times: When each was taken, in nanoseconds from the run's start.
        values: Shape (columns, rows); NaN is not known.
        key: Which of ``keys`` each row is of.
        keys: What the rows are of: the texts in the columns that were asked for.
        losses: Which rows were left out.
    """

    times: Times
    values: Values
    key: NDArray[np.int32]
    keys: Sequence[tuple[str, ...]]
    losses: Sequence[Lost] = ()


def read_samples(file: Path, columns: Sequence[str], texts: Sequence[str] = ()) -> SampleTable:
    """Read a file of samples; of one that is cut off or damaged all rows that can be read.

    Args:
        file: With a header; its column ``timestamp`` has seconds from the run's start.
        columns: Names of those with numbers; one that is not there is unknown in each row.
        texts: Names of those that tell what a row is of.

    Raises:
        OSError: If it cannot be opened or read.
    """
    reading = _SampleReader(file.name, columns, texts)
    with TextIOWrapper(opened(file), encoding="utf-8", errors="replace", newline="") as stream:
        rows = reading.rows(stream)
        reading.begin(next(rows, list[str]()))
        while chunk := list(islice(rows, _ROWS)):
            reading.take(chunk)
    return reading.samples()


class _SampleReader:
    def __init__(self, file: str, columns: Sequence[str], texts: Sequence[str]) -> None:
        self._file = file
        self._columns, self._texts = (_TIME, *columns), texts
        self._places, self._named = list[int | None](), list[int | None]()
        self._width = 0
        self._rows = 1
        self._parts: list[Values] = []
        self._keys: dict[tuple[str, ...], int] = {}
        self._key: list[int] = []
        self._damaged: tuple[int, int] = (0, 0)
        self._losses: list[Lost] = []

    def rows(self, stream: TextIO) -> Iterator[list[str]]:
        """Yield the rows as far as there are any."""
        reader = csv.reader(stream)
        try:
            yield from reader
        except csv.Error as error:
            self.lose(f"{self._file} is no table from there on: {error}", reader.line_num)

    def begin(self, header: Sequence[str]) -> None:
        """Take the header."""
        where = {name: place for place, name in enumerate(header)}
        self._width = len(header)
        self._places = [where.get(name) for name in self._columns]
        self._named = [where.get(name) for name in self._texts]
        if _TIME not in where:
            self._width = -1
            self.lose(f"{self._file} has no header with 'timestamp'", 1)

    def take(self, chunk: list[list[str]]) -> None:
        """Take rows that follow each other."""
        whole = [row for row in chunk if len(row) == self._width]
        first, self._rows = self._rows + 1, self._rows + len(chunk)
        if whole:
            cells = list(zip(*whole, strict=True))
            unknown = ("",) * len(whole)
            found = np.array([_numbers(unknown if p is None else cells[p]) for p in self._places])
            good = (found[0] >= 0) & (found[0] <= _LATEST)
            self._parts.append(found[:, good])
            names = zip(*(unknown if p is None else cells[p] for p in self._named), strict=True)
            self._book(names if self._named else iter([()] * len(whole)), good)
            whole = [row for row, kept in zip(whole, good.tolist(), strict=True) if kept]
        if len(whole) < len(chunk) and self._width > 0:
            count, earliest = self._damaged
            self._damaged = count + len(chunk) - len(whole), earliest or first

    def _book(self, names: Iterator[tuple[str, ...]], good: NDArray[np.bool_]) -> None:
        keys = self._keys
        key = [keys.setdefault(name, len(keys)) for name in names]
        self._key.extend(key if good.all() else np.array(key)[good].tolist())

    def lose(self, reason: str, line: int) -> None:
        """Note what is missing."""
        self._losses.append(Lost(reason, 1, f"line {line:,}"))

    def samples(self) -> SampleTable:
        """Return all that was taken."""
        none = np.empty((len(self._columns), 0))
        values = np.concatenate([none, *self._parts], axis=1)
        key = np.array(self._key, np.int32)
        times = np.rint(values[0] * 1e9).astype(np.int64)
        if (np.diff(times) < 0).any():
            order = np.argsort(times, kind="stable")
            times, values, key = times[order], values[:, order], key[order]
        count, first = self._damaged
        if count:
            why = f"rows of {self._file} that are cut off or no numbers"
            self._losses.append(Lost(why, count, f"line {first:,} or soon after"))
        return SampleTable(times, values[1:], key, list(self._keys), self._losses)


def _numbers(texts: Sequence[str]) -> Values:
    """Return a column's numbers; NaN for what is none."""
    if not any(texts):
        return np.full(len(texts), math.nan)
    try:
        found = np.array([*map(float, texts)])
    except ValueError:
        found = np.array([*map(_number, texts)])
    found[~(np.abs(found) <= _LARGEST)] = math.nan
    return found


def _number(text: str) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError:
        return math.nan


# -- what curves show


@dataclass(frozen=True, slots=True, eq=False)
class SampledSource:
    """What was sampled of the host, or of a resource.

    Args:
        name: ``host``, or the resource's.
        table: Shape (columns, samples): seconds since the run's start, ascending; of each counter
            what it counted since the first sample, and its rate (1/s) up to this sample; memory
            (B). NaN is not known.
    """

    name: str
    table: Values

    @property
    def at_s(self) -> Values:
        """When each sample was taken (s since the run's start)."""
        return self.table[0]

    def total(self, counter: str) -> Values:
        """Return what a counter counted since the first sample; it never falls."""
        return self.table[_PLACES[counter]]

    def rate(self, counter: str) -> Values:
        """Return the rates of a counter (1/s)."""
        return self.table[_PLACES[counter] + 1]

    @property
    def memory(self) -> Values:
        """Memory in use (B)."""
        return self.table[_MEMORY_PLACE]


def make_source(
    name: str, at_s: Values, counters: Mapping[str, Values], memory: Values, interval_s: float
) -> SampledSource:
    """Make a source of what was read.

    Args:
        at_s: Ascending.
        counters: Name to readings; one that is left out is not known.
        interval_s: Between two samples: a rate over much less would tell of the kernel's ticks.
    """
    table = np.full((_MEMORY_PLACE + 1, len(at_s)), np.nan)
    table[0] = at_s
    table[_MEMORY_PLACE] = memory
    before = np.maximum(np.searchsorted(at_s, at_s - interval_s / 2, "right") - 1, 0)
    lengths = np.maximum(at_s - at_s[before], interval_s / 2)
    for counter, readings in counters.items():
        known = np.isfinite(readings)
        if known.sum() < 2:
            continue
        total = _grown(readings, known)
        rate = (total - total[before]) / lengths
        rate[~known] = np.nan
        rate[: int(np.argmax(known)) + 1] = np.nan
        table[_PLACES[counter]], table[_PLACES[counter] + 1] = total, rate
    return SampledSource(name, table)


def _grown(readings: Values, known: NDArray[np.bool_]) -> Values:
    """Return how far a counter grew since its first reading; where it fell it began anew."""
    increases = np.zeros(len(readings))
    increases[np.flatnonzero(known)[1:]] = np.maximum(np.diff(readings[known]), 0.0)
    return np.cumsum(increases)


def read_sources(folder: Path, interval_s: float) -> list[SampledSource]:
    """Read the host's samples, and those of the resources that used most CPU.

    Raises:
        OSError: If the host's cannot be opened.
    """
    run = RunFolder(folder)
    host = read_samples(run.metrics, [*(krowns for krowns, _ in COUNTERS.values()), "memory_ram"])
    *columns, held = host.values
    counters = dict(zip(COUNTERS, columns, strict=True))
    # KROWN's first row has zeros for what it did not read: no host uses no memory.
    memory = np.where(held > 0, held, np.nan)
    sources = [make_source(HOST, host.times / 1e9, counters, memory, interval_s)]
    if run.resources.is_file():
        names = [*(name for _, name in COUNTERS.values() if name), "memory_bytes"]
        owned = read_samples(run.resources, names, ("resource", "what", "name"))
        sources += sources_of_resources(owned, interval_s)
    return sources


def sources_of_resources(read: SampleTable, interval_s: float) -> list[SampledSource]:
    """Return the resources that used most CPU.

    Args:
        read: Of each key the first text is the resource; the values are the counters of
            ``resources.csv``, and memory.
    """
    keys: dict[str, list[int]] = {}
    for place, (resource, *_) in enumerate(read.keys):
        if resource not in ("", HOST):
            keys.setdefault(resource, []).append(place)
    made = [_of_resource(name, read, several, interval_s) for name, several in keys.items()]
    made.sort(key=lambda source: -np.nan_to_num(source.total("cpu_s")[-1]))
    return made[:_MOST_RESOURCES]


def _of_resource(name: str, read: SampleTable, keys: list[int], interval_s: float) -> SampledSource:
    """Add up what belongs to a resource: its groups and processes come and go."""
    times, values, key = read.times / 1e9, read.values, read.key
    at_s = np.unique(times[np.isin(key, keys)])
    grown = np.zeros((len(values) - 1, len(at_s)))
    told = np.zeros(len(values) - 1, np.bool_)
    memory = np.full(len(at_s), np.nan)
    for one in keys:
        rows = np.flatnonzero(key == one)
        where = np.searchsorted(at_s, times[rows])
        for place, readings in enumerate(values[:-1, rows]):
            known = np.isfinite(readings)
            told[place] |= known.sum() > 1
            np.add.at(grown[place], where, np.diff(_grown(readings, known), prepend=0.0))
        held = np.isfinite(values[-1, rows])
        memory[where[held]] = np.nan_to_num(memory[where[held]]) + values[-1, rows[held]]
    names = [counter for counter, (_, theirs) in COUNTERS.items() if theirs]
    counters = {n: np.cumsum(g) for n, g, known in zip(names, grown, told, strict=True) if known}
    return make_source(name, at_s, counters, memory, interval_s)
