"""Writes a trace in Chrome's format, some thousand events at a time."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.core.outputs import writing
from benchyard.traces.model import Counter, Details, Times, Trace, microseconds

#: Of our counters: their only argument is named by their unit, which Perfetto shows.
UNIT_CATEGORY = "unit"
_BATCH = 10_000
_BETWEEN = b",\n"
_END = b"}" + _BETWEEN
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
        out.write(b'{"displayTimeUnit":"ns","otherData":' + _other(trace) + b',"traceEvents":[\n')
        between = b""
        for events in _batches(trace):
            out.write(between)
            out.write(events)
            between = _BETWEEN
        out.write(b"\n]}\n")


def _other(trace: Trace) -> bytes:
    known: dict[str, Json] = {} if trace.zero is None else {"zero_unix_ns": str(trace.zero)}
    if trace.losses:
        known["losses"] = [str(loss) for loss in trace.losses]
    return encoded(known).encode()


def _batches(trace: Trace) -> Iterator[bytes]:
    """Yield some thousand events at a time."""
    names = [one.process for one in (*trace.tracks, *trace.counters)]
    pids = {name: number for number, name in enumerate(dict.fromkeys(names), 1)}
    # No track has the number of a process, which would make it "main".
    tids = range(len(pids) + 1, len(pids) + 1 + len(trace.tracks))
    ids = [
        f'"pid":{pids[track.process]},"tid":{tid}'
        for track, tid in zip(trace.tracks, tids, strict=True)
    ]
    yield from _joined(map(str.encode, _named(trace, pids, ids)))
    yield from _slices(trace, ids)
    for counter in trace.counters:
        yield from _joined(_counts(counter, pids[counter.process]))
    yield from _joined(map(str.encode, _single_events(trace, ids)))


def _joined(events: Iterator[bytes]) -> Iterator[bytes]:
    while batch := list(islice(events, _BATCH)):
        yield _BETWEEN.join(batch)


def _single_events(trace: Trace, ids: Sequence[str]) -> Iterator[str]:
    for one in trace.instants:
        yield (
            f'{{"ph":"i","s":"t",{ids[one.track]},"ts":{microseconds(one.time)},'
            f'"name":{encoded(one.name)},"args":{encoded(dict(one.details))}}}'
        )
    for number, one in enumerate(trace.flows, 1):
        shared = f'"id":{number},"cat":"flow","name":{encoded(one.name)}'
        begin, end = microseconds(one.from_time), microseconds(one.to_time)
        yield f'{{"ph":"s",{ids[one.from_track]},"ts":{begin},{shared}}}'
        yield f'{{"ph":"f","bp":"e",{ids[one.to_track]},"ts":{end},{shared}}}'


def _named(trace: Trace, pids: Mapping[str, int], ids: Sequence[str]) -> Iterator[str]:
    for order, (name, pid) in enumerate(pids.items()):
        yield _meta("process_name", f'"pid":{pid}', "name", encoded(name))
        yield _meta("process_sort_index", f'"pid":{pid}', "sort_index", str(order))
    for place, track in enumerate(trace.tracks):
        yield _meta("thread_name", ids[place], "name", encoded(track.thread))
        yield _meta("thread_sort_index", ids[place], "sort_index", str(place))


def _meta(kind: str, whose: str, member: str, value: str) -> str:
    return f'{{"ph":"M",{whose},"name":"{kind}","args":{{"{member}":{value}}}}}'


def _slices(trace: Trace, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield slices as JSON, joined in C: a trace may have millions."""
    heads = [f'{{"ph":"X",{track},"ts":'.encode() for track in ids]
    names = [f',"name":{encoded(name)}'.encode() for name in trace.names]
    slices = trace.slices
    for first in range(0, len(slices), _BATCH):
        part = slice(first, first + _BATCH)
        tracks = slices.track[part].tolist()
        # An event has six texts; of these, the third is the same in all, the last parts events.
        texts = [b',"dur":'] * (6 * len(tracks))
        texts[0::6] = map(heads.__getitem__, tracks)
        texts[1::6] = _us(slices.start[part])
        texts[3::6] = _us(slices.duration[part])
        texts[4::6] = map(names.__getitem__, slices.name[part].tolist())
        texts[5::6] = (
            [_end(slices.details.get(place)) for place in range(first, first + len(tracks))]
            if slices.details
            else [_END] * len(tracks)
        )
        yield b"".join(texts).removesuffix(_BETWEEN)


def _end(args: Details | None) -> bytes:
    return f',"args":{encoded(dict(args))}}},\n'.encode() if args else _END


def _counts(counter: Counter, pid: int) -> Iterator[bytes]:
    unit = f'"cat":"{UNIT_CATEGORY}",' if counter.unit else ""
    head = f'{{"ph":"C","pid":{pid},{unit}"name":{encoded(counter.name)},"ts":'.encode()
    args = f',"args":{{{encoded(counter.unit or "value")}:'.encode()
    kept = _corners(counter)
    for time, value in zip(_us(counter.times[kept]), _texts(counter.values[kept]), strict=True):
        yield b"%b%b%b%b}}" % (head, time, args, value)


def _corners(counter: Counter) -> Times:
    """Return where a counter changes, where its last equal value is, and its ends."""
    values = counter.values
    changes = np.flatnonzero(np.isfinite(values[1:]) & (values[1:] != values[:-1])) + 1
    ends = [0, len(values) - 1] if len(values) else []
    kept = np.unique(np.concatenate((changes, changes - 1, np.array(ends, np.int64))))
    return kept[np.isfinite(values[kept])].astype(np.int64)


def _us(nanoseconds: Times) -> list[bytes]:
    if np.abs(nanoseconds).max(initial=0) > _EXACT_NS:
        return [microseconds(one).encode() for one in nanoseconds.tolist()]
    return _texts(nanoseconds / 1000)


def _texts(numbers: NDArray[np.float64]) -> list[bytes]:
    """Return each number as the shortest text that means it, some times faster than ``str``."""
    listed = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)
    return listed[1:-1].split(b",") if len(numbers) else []
