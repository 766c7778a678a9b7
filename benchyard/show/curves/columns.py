"""The curves of a run as columns, however many samples there are.

Large files are read once, in a process of its own (so that whoever asks neither waits for other
work nor keeps the memory), into a folder that is kept: columns of floats, which are mapped.
"""

import csv
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import RecordError
from benchyard.core.files import opened, remove_tree, write_json
from benchyard.results.folders import RunFolder
from benchyard.traces.run_samples import read_samples

Values = NDArray[np.float64]

HOST = "host"
#: Counters that only grow, in KROWN's words and in those of resources.csv.
COUNTERS: Mapping[str, tuple[str, str]] = {
    "cpu_s": ("cpu_user_system", "cpu_s"),
    "disk_read_bytes": ("disk_read_bytes", "disk_read_bytes"),
    "disk_write_bytes": ("disk_write_bytes", "disk_write_bytes"),
    "network_received_bytes": ("network_received_bytes", ""),
    "network_sent_bytes": ("network_sent_bytes", ""),
}
MEMORY = ("memory_ram", "memory_bytes")
_PLACES = {name: 1 + 2 * place for place, name in enumerate(COUNTERS)}
_MEMORY_PLACE = 1 + 2 * len(COUNTERS)
#: So many resources have curves of their own, those that used most CPU.
_MOST_RESOURCES = 5
#: Bytes of samples that are read anew each time, in some 30 ms.
_SMALL = 1_000_000
#: Bytes that all kept columns may have together.
_ROOM = 2 * 2**30
_TIMEOUT = 300.0
_NAMES = "sources.json"
#: No run lasts longer (s, 30 years).
_LATEST = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Source:
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
) -> Source:
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
    return Source(name, table)


def _grown(readings: Values, known: NDArray[np.bool_]) -> Values:
    """Return how far a counter grew since its first reading; where it fell it began anew."""
    increases = np.zeros(len(readings))
    increases[np.flatnonzero(known)[1:]] = np.maximum(np.diff(readings[known]), 0.0)
    return np.cumsum(increases)


# -- from files


def read_sources(folder: Path, interval_s: float) -> list[Source]:
    """Read the host's samples, and those of the resources that used most CPU.

    Raises:
        OSError: If the host's cannot be opened.
    """
    run = RunFolder(folder)
    at_s, columns = _host(run.metrics, [*(krowns for krowns, _ in COUNTERS.values()), MEMORY[0]])
    counters = dict(zip(COUNTERS, columns, strict=False))
    # KROWN's first row has zeros for what it did not read: no host uses no memory.
    memory = np.where(columns[-1] > 0, columns[-1], np.nan)
    sources = [make_source(HOST, at_s, counters, memory, interval_s)]
    if run.resources.is_file():
        sources += _of_resources(run.resources, interval_s)
    return sources


def _host(file: Path, names: Sequence[str]) -> tuple[Values, Values]:
    try:
        return _plain(file, names)
    except ValueError:
        # Something is cut off, damaged or out of order: slower, and all that can be read.
        read = read_samples(file, names)
        return read.times / 1e9, read.values


def _plain(file: Path, names: Sequence[str]) -> tuple[Values, Values]:
    """Read a file in which each row is whole and each column is known everywhere or nowhere.

    Raises:
        ValueError: If it is not like that.
    """
    with TextIOWrapper(opened(file), encoding="utf-8", errors="replace", newline="") as stream:
        head = next(csv.reader([stream.readline()]), list[str]())
        start = stream.tell()
        first = next(csv.reader([stream.readline()]), list[str]())
        stream.seek(start)
        known = {name for name, text in zip(head, first, strict=True) if text}
        places = {name: head.index(name) for name in ("timestamp", *names) if name in known}
        if "timestamp" not in places:
            raise ValueError("there are no times")
        read = np.loadtxt(
            stream,
            delimiter=",",
            usecols=list(places.values()),
            comments=None,
            quotechar='"',
            unpack=True,
            ndmin=2,
        )
    at_s = read[0]
    if not (at_s[0] >= 0 and at_s[-1] <= _LATEST and (np.diff(at_s) >= 0).all()):
        raise ValueError("the times are not in order")
    columns = dict(zip(places, read, strict=True))
    unknown = np.full(len(at_s), np.nan)
    return at_s, np.array([columns.get(name, unknown) for name in names])


def _of_resources(file: Path, interval_s: float) -> list[Source]:
    names = [name for _, name in COUNTERS.values() if name]
    read = read_samples(file, [*names, MEMORY[1]], ("resource", "what", "name"))
    keys: dict[str, list[int]] = {}
    for place, (resource, *_) in enumerate(read.keys):
        if resource not in ("", HOST):
            keys.setdefault(resource, []).append(place)
    times = read.times / 1e9
    made = [
        _of_resource(name, times, read.values, read.key, several, interval_s)
        for name, several in keys.items()
    ]
    made.sort(key=lambda source: -np.nan_to_num(source.total("cpu_s")[-1]))
    return made[:_MOST_RESOURCES]


def _of_resource(
    name: str, times: Values, values: Values, key: NDArray[np.int32], keys: list[int], every: float
) -> Source:
    """Add up what belongs to a resource: its groups and processes come and go."""
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
    return make_source(name, at_s, counters, memory, every)


# -- kept

_reading = threading.Lock()


def sources_of(folder: Path, interval_s: float, kept: Path) -> list[Source]:
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
                    _read_apart(folder, interval_s, place)
                    with suppress(FileNotFoundError):  # another server may make room, too
                        _make_room(kept, place)
        os.utime(place)
        return [*_mapped(place)]
    except (OSError, ValueError) as error:
        raise RecordError(f"{folder}: its curves cannot be read: {error}") from error


def _read_apart(folder: Path, interval_s: float, place: Path) -> None:
    arguments = [os.fspath(folder), repr(interval_s), os.fspath(place)]
    ended = subprocess.run(
        [sys.executable, "-m", __name__, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
    )
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(said[-1] if said else f"exit code {ended.returncode}")


def _mapped(place: Path) -> Iterator[Source]:
    names: list[str] = json.loads((place / _NAMES).read_bytes())
    for number, name in enumerate(names):
        yield Source(name, np.load(place / f"{number}.npy", mmap_mode="r"))


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


if __name__ == "__main__":
    os.nice(10)
    _keep(Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]))
