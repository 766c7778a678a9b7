"""Writes a trace in Chrome's format, some thousand events at a time."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.core.outputs import writing
from benchyard.traces.model import Counter, Times, Trace, microseconds

#: Of our counters: their only argument is named by their unit, which Perfetto shows.
UNIT_CATEGORY = "unit"
_BATCH = 10_000
#: Text of events shrinks to a tenth; more effort takes three times as long for a fifth less.
_GZIP_LEVEL = 1
#: A double of microseconds keeps the nanoseconds of less: 15 digits.
_EXACT_NS = 10**15


def write_chrome(trace: Trace, path: Path) -> None:
    """Write a trace as an object with ``traceEvents``; gzipped if the name ends in ``.gz``.

    Times keep their nanoseconds. Of a counter that stays the same only the first and the last
    value of each such stretch are written, which draws the same line.

    Raises:
        OSError: If it cannot be written; what was there is then as it was.
    """
    with ExitStack() as stack:
        out: IO[bytes] = stack.enter_context(writing(path))
        if path.suffix.lower() == ".gz":
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, out, mtime=0)
            out = cast("IO[bytes]", stack.enter_context(packed))
        events = _events(trace)
        out.write(b'{"displayTimeUnit":"ns","otherData":' + _other(trace) + b',"traceEvents":[\n')
        out.write(next(events, "").encode())
        while batch := list(islice(events, _BATCH)):
            out.write((",\n" + ",\n".join(batch)).encode())
        out.write(b"\n]}\n")


def _other(trace: Trace) -> bytes:
    known: dict[str, Json] = {} if trace.zero is None else {"zero_unix_ns": str(trace.zero)}
    if trace.losses:
        known["losses"] = [str(loss) for loss in trace.losses]
    return encoded(known).encode()


@dataclass(frozen=True, slots=True)
class _Ids:
    """The numbers of processes and tracks; none has one of both, which would make it "main"."""

    process: Mapping[str, int]
    tracks: Sequence[tuple[int, int]]

    def of(self, track: int) -> str:
        pid, tid = self.tracks[track]
        return f'"pid":{pid},"tid":{tid}'


def _ids(trace: Trace) -> _Ids:
    names = [one.process for one in (*trace.tracks, *trace.counters)]
    process = {name: number for number, name in enumerate(dict.fromkeys(names), 1)}
    first = len(process) + 1
    tracks = [(process[one.process], first + place) for place, one in enumerate(trace.tracks)]
    return _Ids(process, tracks)


def _events(trace: Trace) -> Iterator[str]:
    ids = _ids(trace)
    yield from _named(trace, ids)
    yield from _slices(trace, ids)
    for counter in trace.counters:
        yield from _counts(counter, ids.process[counter.process])
    for one in trace.instants:
        yield (
            f'{{"ph":"i","s":"t",{ids.of(one.track)},"ts":{microseconds(one.time)},'
            f'"name":{encoded(one.name)},"args":{encoded(dict(one.details))}}}'
        )
    for number, one in enumerate(trace.flows, 1):
        shared = f'"id":{number},"cat":"flow","name":{encoded(one.name)}'
        begin, end = microseconds(one.from_time), microseconds(one.to_time)
        yield f'{{"ph":"s",{ids.of(one.from_track)},"ts":{begin},{shared}}}'
        yield f'{{"ph":"f","bp":"e",{ids.of(one.to_track)},"ts":{end},{shared}}}'


def _named(trace: Trace, ids: _Ids) -> Iterator[str]:
    for order, (name, pid) in enumerate(ids.process.items()):
        yield _meta("process_name", f'"pid":{pid}', "name", encoded(name))
        yield _meta("process_sort_index", f'"pid":{pid}', "sort_index", str(order))
    for place, track in enumerate(trace.tracks):
        yield _meta("thread_name", ids.of(place), "name", encoded(track.thread))
        yield _meta("thread_sort_index", ids.of(place), "sort_index", str(place))


def _meta(kind: str, whose: str, member: str, value: str) -> str:
    return f'{{"ph":"M",{whose},"name":"{kind}","args":{{"{member}":{value}}}}}'


def _slices(trace: Trace, ids: _Ids) -> Iterator[str]:
    names = [encoded(name) for name in trace.names]
    tracks = [ids.of(track) for track in range(len(trace.tracks))]
    slices = trace.slices
    for first in range(0, len(slices), _BATCH):
        part = slice(first, first + _BATCH)
        whose = zip(slices.track[part].tolist(), slices.name[part].tolist(), strict=True)
        times = zip(_us(slices.start[part]), _us(slices.duration[part]), strict=True)
        rows = zip(whose, times, strict=True)
        for place, ((track, name), (start, duration)) in enumerate(rows, first):
            args = slices.details.get(place)
            more = f',"args":{encoded(dict(args))}' if args else ""
            yield (
                f'{{"ph":"X",{tracks[track]},"ts":{start},"dur":{duration},'
                f'"name":{names[name]}{more}}}'
            )


def _counts(counter: Counter, pid: int) -> Iterator[str]:
    unit = f'"cat":"{UNIT_CATEGORY}",' if counter.unit else ""
    head = f'{{"ph":"C","pid":{pid},{unit}"name":{encoded(counter.name)},"ts":'
    key = counter.unit or "value"
    args = f',"args":{{{encoded(key)}:'
    kept = _corners(counter)
    for time, value in zip(_us(counter.times[kept]), _texts(counter.values[kept]), strict=True):
        yield f"{head}{time}{args}{value}}}}}"


def _corners(counter: Counter) -> Times:
    """Return where a counter changes, where its last equal value is, and its ends."""
    values = counter.values
    changes = np.flatnonzero(np.isfinite(values[1:]) & (values[1:] != values[:-1])) + 1
    ends = [0, len(values) - 1] if len(values) else []
    kept = np.unique(np.concatenate((changes, changes - 1, np.array(ends, np.int64))))
    return kept[np.isfinite(values[kept])].astype(np.int64)


def _us(nanoseconds: Times) -> list[str]:
    if np.abs(nanoseconds).max(initial=0) > _EXACT_NS:
        return [microseconds(one) for one in nanoseconds.tolist()]
    return _texts(nanoseconds / 1000)


def _texts(numbers: NDArray[np.float64]) -> list[str]:
    """Return each number as the shortest text that means it, some times faster than ``str``."""
    listed = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)
    return listed[1:-1].decode().split(",") if len(numbers) else []
