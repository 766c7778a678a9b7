"""The counters of a run: rates and levels out of its samples, pressure out of what was used."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchyard.results.folders import RunFolder
from benchyard.results.record import PhaseRecord, Repetition, RunRecord, interval_of
from benchyard.results.samples import SampleTable, Values, read_samples
from benchyard.traces.model import Counter, Loss, Times

#: What the curves of a host are called that belong to none of its resources.
HOST = "the host"
#: In shorter intervals, pressure is that of the lab's own work at their edges (ns).
_SHORTEST_NS = 10_000_000
#: Digits behind the point that a rate has: fewer than the noise of sums.
_DECIMALS = 6
_PRESSURES = {"cpu": "CPU pressure", "memory": "memory pressure", "io": "I/O pressure"}

#: Times and values that hold from then on.
_Course = tuple[Times, Values]


class _Column(NamedTuple):
    """A column of samples, and the counter that is made of it.

    Args:
        factor: So many of the counter's units make one of the column's.
        grows: Whether the column only grows; then the counter is its rate.
    """

    column: str
    name: str
    unit: str
    factor: float = 1.0
    grows: bool = True


_OF_HOST = (
    _Column("cpu_user_system", "CPU", "cores"),
    _Column("cpu_iowait", "CPU waiting for disks", "cores"),
    _Column("memory_ram", "memory", "B", grows=False),
    _Column("memory_swap", "swap", "B", grows=False),
    _Column("disk_read_bytes", "disk reads", "B/s"),
    _Column("disk_write_bytes", "disk writes", "B/s"),
    _Column("network_received_bytes", "network received", "B/s"),
    _Column("network_sent_bytes", "network sent", "B/s"),
)
_OF_RESOURCES = (
    _Column("cpu_s", "CPU", "cores"),
    _Column("memory_bytes", "memory", "B", grows=False),
    _Column("disk_read_bytes", "disk reads", "B/s"),
    _Column("disk_write_bytes", "disk writes", "B/s"),
    _Column("process_count", "processes", "", grows=False),
    _Column("energy_j", "power", "W"),
    _Column("power_w", "power", "W", grows=False),
    _Column("utilisation_ratio", "utilisation", "%", 100.0, grows=False),
)


def counters_of_run(
    folder: Path, process: str, record: RunRecord | None
) -> tuple[list[Counter], Sequence[Loss]]:
    """Return the counters of a run, and what is missing of them.

    A value holds from its time until the next one, and those that only repeat the one before are
    left out. The samples of several programs of a resource are added up. Pressure is the share of
    its time that a command or phase was delayed; where several overlap, of the one begun last.

    Args:
        folder: Of the run.
        process: What the counters belong to.
        record: Of the run, if it can be read.
    """
    interval = round(interval_of(record) * 1e9)
    host, losses = _read(RunFolder(folder).metrics, _OF_HOST)
    owned, lost = _read(RunFolder(folder).resources, _OF_RESOURCES, ("resource", "what", "name"))
    named = record.collector.get("files") if record else None
    if len(owned.times) or (isinstance(named, list) and RunFolder(folder).resources.name in named):
        losses = [*losses, *lost]
    counters = [*_of_host(host, process, interval), *_of_resources(owned, process, interval)]
    if record is not None:
        counters += _pressures(record, process)
    return counters, losses


def _read(
    file: Path, columns: Sequence[_Column], texts: Sequence[str] = ()
) -> tuple[SampleTable, Sequence[Loss]]:
    names = [one.column for one in columns]
    try:
        found = read_samples(file, names, texts)
    except OSError as error:
        nothing = np.empty(0, np.int64), np.empty((len(names), 0)), np.empty(0, np.int32)
        why = f"there are no samples: {error.strerror or error}"
        return SampleTable(*nothing, []), [Loss(why, 1, file.name)]
    return found, [Loss(*lost) for lost in found.losses]


# -- from samples to what holds from then on


def _of_host(samples: SampleTable, process: str, interval: int) -> Iterator[Counter]:
    # Where a command begins or ends, a row may follow so soon that the kernel's ticks, 10 ms
    # each, would make a peak of nothing.
    apart = _spaced(samples.times, interval // 2)
    for column, values in zip(_OF_HOST, samples.values, strict=True):
        rows = apart if column.grows else slice(None)
        times, numbers = samples.times[rows], values[rows] * column.factor
        course = _rates(times, numbers) if column.grows else _levels(times, numbers, None)
        yield from _counter(process, f"{column.name} of {HOST}", course, column.unit)


def _of_resources(samples: SampleTable, process: str, interval: int) -> Iterator[Counter]:
    order = np.argsort(samples.key, kind="stable")
    cuts = np.searchsorted(samples.key[order], np.arange(len(samples.keys) + 1))
    parts: dict[tuple[str, _Column], list[_Course]] = defaultdict(list)
    for place, key in enumerate(samples.keys):
        rows = order[cuts[place] : cuts[place + 1]]
        times = samples.times[rows]
        gone = _gone(samples.times, int(times[-1]), interval)
        for column, values in zip(_OF_RESOURCES, samples.values, strict=True):
            numbers = values[rows] * column.factor
            if np.isnan(numbers).all():
                continue
            course = _rates(times, numbers) if column.grows else _levels(times, numbers, gone)
            parts[_whose(*key), column].append(course)
    for (whose, column), courses in parts.items():
        yield from _counter(process, f"{column.name} of {whose}", _summed(courses), column.unit)


def _gone(times: Times, last: int, interval: int) -> int | None:
    """Return when something was no longer seen that was at ``last``; none if it stayed."""
    after = int(np.searchsorted(times, last, side="right"))
    if after == len(times):
        return None
    return min(int(times[after]), last + 3 * interval // 2)


def _whose(resource: str, what: str, name: str) -> str:
    """Return what a row is drawn for: a resource, or a thing of the host by its own name."""
    return name if resource in ("", "host") or what in ("gpu", "energy") else resource


def _spaced(times: Times, least: int) -> NDArray[np.int64]:
    """Return the places of times that are so far apart; the last one is among them."""
    kept: list[int] = []
    due = -math.inf
    for place, at in enumerate(times.tolist()):
        if at >= due:
            kept.append(place)
            due = at + least
    if kept and kept[-1] != len(times) - 1:
        if len(kept) > 1:
            kept.pop()
        kept.append(len(times) - 1)
    return np.array(kept, np.int64)


def _rates(times: Times, totals: Values) -> _Course:
    """Return how fast a counter grew; nothing where it fell or is not known, and 0 at its end."""
    length = np.diff(times)
    grown = np.diff(totals)
    known = (length > 0) & (grown >= 0)
    rates = grown[known] / (length[known] / 1e9)
    if not len(rates):
        return times[:0], totals[:0]
    ends = times[1:][known][-1:]
    return np.append(times[:-1][known], ends), np.append(np.round(rates, _DECIMALS), 0.0)


def _levels(times: Times, values: Values, gone: int | None) -> _Course:
    """Return what was seen; 0 from the moment on when it was gone, if it was."""
    known = ~np.isnan(values)
    times, values = times[known], values[known]
    if gone is None or not len(times):
        return times, values
    return np.append(times, gone), np.append(values, 0.0)


def _summed(courses: Sequence[_Course]) -> _Course:
    """Return the sum of values of which each holds until the next one of its own."""
    if len(courses) == 1:
        return courses[0]
    times, which = np.unique(np.concatenate([one for one, _ in courses]), return_inverse=True)
    steps = np.concatenate([np.diff(values, prepend=0.0) for _, values in courses])
    added = np.bincount(which, weights=steps, minlength=len(times))
    return times, np.maximum(np.round(np.cumsum(added), _DECIMALS), 0.0)


def _counter(process: str, name: str, course: _Course, unit: str) -> Iterator[Counter]:
    times, values = course
    if len(times):
        changed = np.append(True, np.diff(values) != 0)
        changed[-1] = True
        yield Counter(process, name, times[changed], values[changed], unit)


# -- pressure


class _Pressed(NamedTuple):
    """When a command or phase was under way, in nanoseconds, and what it used."""

    start: int
    end: int
    used: Mapping[str, float | None]


def _pressures(record: RunRecord, process: str) -> Iterator[Counter]:
    spans: dict[tuple[str, str], list[_Pressed]] = defaultdict(list)
    for resource, span in sorted(_spans(record), key=lambda one: one[1].start):
        spans[HOST, "host"].append(span)
        spans[resource, "resource"].append(span)
    for (whose, prefix), own in spans.items():
        for kind, name in _PRESSURES.items():
            metric = f"{prefix}_psi_{kind}_some_s"
            known = [
                (span.start, span.end, min(100 * value / ((span.end - span.start) / 1e9), 100.0))
                for span in own
                if (value := span.used.get(metric)) is not None and value >= 0
            ]
            yield from _counter(process, f"{name} of {whose}", _of_latest(known), "%")


def _spans(record: RunRecord) -> Iterator[tuple[str, _Pressed]]:
    executed: list[tuple[str, PhaseRecord | Repetition]] = [
        *((phase.resource, phase) for phase in record.phases),
        *(
            (step.resource, made)
            for step in record.steps
            for attempt in step.attempts
            for made in attempt.repetitions
        ),
    ]
    for resource, one in executed:
        if 0 <= one.start_s <= 1e9 and _SHORTEST_NS / 1e9 <= one.duration_s <= 1e9:
            start = round(one.start_s * 1e9)
            yield resource, _Pressed(start, start + round(one.duration_s * 1e9), one.used)


def _of_latest(spans: Sequence[tuple[int, int, float]]) -> _Course:
    """Return the value of the span begun last of those under way; 0 where none is.

    Args:
        spans: Start, end and value.
    """
    edges = np.array(sorted({edge for start, end, _ in spans for edge in (start, end)}), np.int64)
    values = np.zeros(len(edges))
    # Each is drawn over those begun before it; of those begun together, the one that ends first.
    for start, end, value in sorted(spans, key=lambda one: (one[0], -one[1], -one[2])):
        first, last = np.searchsorted(edges, (start, end))
        values[first:last] = value
    return edges, np.round(values, _DECIMALS)
