"""Reads a trace in Chrome's format."""

import re
from array import array
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.model import Json
from benchyard.core.wording import quote
from benchyard.traces.building import OpenSlices, TraceBuilder
from benchyard.traces.chrome.chunks import (
    BROKEN,
    ChromeEvent,
    Chunk,
    EventStream,
    Unreadable,
    elements,
    ns,
    times_of,
    tolerant,
)
from benchyard.traces.chrome.writing import UNIT_CATEGORY
from benchyard.traces.json_profiles import ProfileChunk, add_chunks
from benchyard.traces.model import MOST_NS, Flow, Trace, Track, microseconds
from benchyard.traces.recognising import unpacked_stream

_BEGINS, _ENDS, _NESTED_END = {*b"BbS"}, {*b"EeF"}, ord("E")
_OPEN = "begun and never ended; taken to last until the end of its track"
_CUT_OFF = "begun and never ended; taken to end with what contains it"
_OTHER = "ended under another name; taken as the end of what has its id"
_NEVER_BEGUN = "ended and never begun; shown as a moment"
_ALONE = "an arrow without its other end; shown as a moment"
_NO_NAME = -1


class Pairing:
    """Events that wait for their other half.

    All are paired at the end: even within a thread they need not stand in order of time.
    """

    def __init__(self, builder: TraceBuilder) -> None:
        """Begin without any; slices, moments and arrows go to the builder."""
        self._builder = builder
        # Only what has the same key is paired.
        self._keys: dict[Hashable, int] = {}
        self._key, self._phase = array("i"), array("b")
        self._track, self._name, self._time = array("i"), array("i"), array("q")
        self._arrows: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)

    def nested(self, event: ChromeEvent, time: int, track: int) -> None:
        """Take a beginning (B) or an end (E) on a thread."""
        self._add(track, event, time, track)

    def asynchronous(self, event: ChromeEvent, time: int, track: int) -> None:
        """Take a beginning (b, S), an end (e, F) or a moment (n, T, p) of what has an id."""
        local = event.id2.get("local")
        whose = str(local if local is not None else event.id2.get("global", event.id))
        pid = "" if local is None else str(event.pid)
        legacy = event.name if event.ph in "STpF" else ""
        self._add((pid, event.cat, event.scope, whose, legacy), event, time, track)

    def arrow(self, event: ChromeEvent, time: int, track: int) -> None:
        """Take the beginning (s), a step (t) or the end (f) of a flow."""
        self._arrows[event.cat, event.name, str(event.id)].append((time, track))

    def finish(self) -> None:
        """Pair all that was taken, and count what stays alone."""
        for (_, name, _), seen in self._arrows.items():
            steps = sorted(seen, key=lambda step: step[0])
            if len(steps) == 1:
                self._moment(steps[0][1], name, steps[0][0], _ALONE)
            for (start, from_track), (end, to_track) in pairwise(steps):
                self._builder.flow(Flow(name, from_track, start, to_track, end))
        self._finish_slices()

    def _add(self, key: Hashable, event: ChromeEvent, time: int, track: int) -> None:
        phase = ord(event.ph)
        unnamed = not event.name and phase in _ENDS
        self._key.append(self._keys.setdefault(key, len(self._keys)))
        self._phase.append(phase)
        self._track.append(track)
        self._name.append(_NO_NAME if unnamed else self._builder.name(event.name))
        self._time.append(time)

    def _finish_slices(self) -> None:
        track, name = np.array(self._track, np.int32), np.array(self._name, np.int32)
        time, phase = np.array(self._time, np.int64), np.array(self._phase, np.int8)
        # What contains others stands before them, also where both begin and end together.
        order = np.lexsort((time, np.array(self._key, np.int32)))
        ends, unsure = self._ends(order.tolist(), self._builder.lasts(track, time)[track].tolist())
        made = order[~np.isin(phase[order], [*_ENDS])]
        durations = np.maximum(np.array(ends, np.int64)[made] - time[made], 0)
        self._builder.slices(track[made], name[made], time[made], durations)
        names = self._builder.names
        for place, why in unsure.items():
            self._lose(why, names[self._name[place]], self._time[place])

    def _ends(self, order: list[int], ends: list[int]) -> tuple[list[int], dict[int, str]]:
        """Return when what begins at each place ends, and why that is unsure.

        Args:
            order: Of the places, by key and time.
            ends: When what is never ended is taken to end.
        """
        waiting: dict[int, OpenSlices[int]] = defaultdict(OpenSlices[int])
        unsure: dict[int, str] = {}
        names = self._builder.names
        for place in order:
            key, phase, time = self._key[place], self._phase[place], self._time[place]
            name = None if self._name[place] == _NO_NAME else self._name[place]
            if phase in _BEGINS:
                waiting[key].begin(name, place)
                unsure[place] = _OPEN
            elif phase not in _ENDS:
                ends[place] = time
            elif closed := waiting[key].end(name) or (phase != _NESTED_END and waiting[key].end()):
                for inside in closed:
                    ends[inside], unsure[inside] = time, _CUT_OFF
                # The id tells what ended, whatever the name says.
                if name in (None, self._name[closed[-1]]):
                    del unsure[closed[-1]]
                else:
                    unsure[closed[-1]] = _OTHER
            else:
                named = "" if name is None else f" of {names[name]}"
                self._moment(self._track[place], f"end{named}", time, _NEVER_BEGUN)
        return ends, unsure

    def _moment(self, track: int, name: str, time: int, why: str) -> None:
        self._builder.instant(track, name, time)
        self._lose(why, name, time)

    def _lose(self, reason: str, name: str, time: int) -> None:
        self._builder.lose(reason, f"{microseconds(time)} µs, {quote(name)}")


T = TypeVar("T")
#: Process and thread as they are numbered, in text; a process by itself has no thread.
_Key = tuple[str, str | None]

#: Nanoseconds since 1970 have no more until the year 2554, when 64 bits end.
_MOST_DIGITS = 20
_NUMBER = re.compile(r"0|-?[1-9][0-9]*")
_SAMPLE = "a sample of a profiler's stack; not read"
_ENDLESS = "no duration (dur); taken as none"


def read_chrome(path: Path) -> Trace:
    """Read a trace; the arguments of slices are left out.

    Both forms (an array, an object with ``traceEvents``), gzipped or not, with or without the
    closing bracket. What cannot be taken in is counted in ``Trace.losses``, with its offset.

    Raises:
        InputError: If the file cannot be read, or holds no list of events.
    """
    reader = _Reader()
    try:
        with unpacked_stream(path) as stream:
            source = EventStream(path, stream)
            for chunk in source.chunks():
                reader.take(chunk)
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be read: {error.strerror or error}") from error
    if source.cut_off:
        reader.builder.lose(source.cut_off, f"byte {source.offset:,}")
    return reader.trace(source.other)


class _Reader:
    def __init__(self) -> None:
        self.builder = TraceBuilder()
        self._pairing = Pairing(self.builder)
        self._track = cache(self._make_track)
        self._profiles: dict[tuple[str, str], tuple[str, list[ProfileChunk]]] = {}
        self._names: dict[_Key, str] = {}
        self._ranks: dict[_Key, float] = {}
        self._rare: dict[str, Callable[[ChromeEvent, int], None]] = defaultdict(
            lambda: self._moment,
            {
                "M": self._named,
                "C": self._counted,
                "P": self._sample,
                **dict.fromkeys("BE", partial(self._paired, self._pairing.nested)),
                **dict.fromkeys("bneSTpF", self._asynchronous),
                **dict.fromkeys("stf", partial(self._paired, self._pairing.arrow)),
            },
        )

    def _make_track(self, pid: int | str, tid: int | str) -> int:
        return self.builder.track(str(pid), str(tid))

    def take(self, chunk: Chunk) -> None:
        events = chunk.events
        times = None if events is None else times_of(chunk.text, events)
        if events is None or times is None:
            self._take_one_by_one(chunk)
            return
        slices = [event for event in events if event.ph == "X"]
        track = np.array([self._track(event.pid, event.tid) for event in slices], np.int32)
        name = self.builder.numbers([event.name for event in slices])
        starts, ends = times
        whole = np.array([event.ph == "X" for event in events], bool)
        self.builder.slices(track, name, starts[whole], (ends - starts)[whole])
        for event, time in zip(events, starts.tolist(), strict=True):
            if event.ph != "X":
                try:
                    self._rare[event.ph](event, time)
                except Unreadable as why:
                    self.builder.lose(str(why), f"byte {chunk.offset:,} or later")

    def _take_one_by_one(self, chunk: Chunk) -> None:
        for place, raw in elements(chunk.text):
            where = f"byte {chunk.offset + place:,}"
            try:
                event, time, duration = tolerant(raw)
                if event.ph == "X":
                    if duration is None:
                        self.builder.lose(_ENDLESS, where)
                    length = ns(time + (duration or 0)) - ns(time)
                    track = self._track(event.pid, event.tid)
                    self.builder.slice(track, event.name, ns(time), length)
                else:
                    self._rare[event.ph](event, ns(time))
            except Unreadable as why:
                self.builder.lose(str(why), where)

    def trace(self, other: Mapping[str, msgspec.Raw]) -> Trace:
        self._pairing.finish()
        for (pid, _), (thread, chunks) in self._profiles.items():
            add_chunks(self.builder, self._track(pid, thread), chunks)
        for _ in _decoded(other.get("samples"), list[msgspec.Raw]):
            self.builder.lose(_SAMPLE, '"samples"')
        zero = _decoded(other.get("otherData"), dict[str, Any]).get("zero_unix_ns")
        if isinstance(zero, str) and zero.isdecimal() and len(zero) <= _MOST_DIGITS:
            self.builder.zero = int(zero) if int(zero) < MOST_NS else None
        return self._under_names(self.builder.trace())

    def _named(self, event: ChromeEvent, _: int) -> None:
        """Note a name or a rank; the last of each counts."""
        args = _args(event)
        is_process = event.name.startswith("process_")
        whose = (str(event.pid), None if is_process else str(event.tid))
        name, rank = args.get("name"), args.get("sort_index")
        if event.name.endswith("_name") and name is not None:
            self._names[whose] = str(name)
        elif event.name.endswith("_sort_index") and isinstance(rank, (int, float)):
            self._ranks[whose] = rank
        if event.name == "thread_name":
            self._track(event.pid, event.tid)

    def _counted(self, event: ChromeEvent, time: int) -> None:
        id_ = f" [{event.id}]" if event.id != "" else ""
        is_unit = event.cat == UNIT_CATEGORY
        for series, value in _args(event).items():
            try:
                number = float(cast("Any", value))
            except (TypeError, ValueError):
                raise Unreadable("a counter's value is no number") from None
            more = "" if is_unit or series in ("", "value") else f": {series}"
            unit = series if is_unit else ""
            self.builder.count(str(event.pid), event.name + id_ + more, time, number, unit)

    def _paired(
        self, add: Callable[[ChromeEvent, int, int], None], event: ChromeEvent, time: int
    ) -> None:
        add(event, time, self._track(event.pid, event.tid))

    def _asynchronous(self, event: ChromeEvent, time: int) -> None:
        track = self._track(event.pid, f"{event.cat or event.name} (async)")
        self._pairing.asynchronous(event, time, track)

    def _sample(self, event: ChromeEvent, time: int) -> None:
        if event.name not in ("Profile", "ProfileChunk"):
            self.builder.lose(_SAMPLE, f"{microseconds(time)} µs, {quote(event.name)}")
            return
        try:
            chunk = msgspec.json.decode(event.args, type=ProfileChunk)
        except BROKEN:
            raise Unreadable("a piece of a profile that cannot be read") from None
        # The first piece is of the thread that was sampled, the others of the one that samples.
        key = (str(event.pid), str(event.id))
        self._profiles.setdefault(key, (f"samples of {event.tid}", []))[1].append(chunk)

    def _moment(self, event: ChromeEvent, time: int) -> None:
        track = self._track(event.pid, event.tid)
        self.builder.instant(track, event.name or f"phase {event.ph}", time, _args(event))

    def _under_names(self, trace: Trace) -> Trace:
        """Return a trace with its tracks named and ordered as metadata events say."""
        counted = [one.process for one in trace.counters]
        pids = dict.fromkeys([*(track.process for track in trace.tracks), *counted])
        processes = _distinct(
            (pid, self._names.get((pid, None)) or f"process {pid}", pid) for pid in pids
        )
        threads: dict[Track, str] = {}
        for pid in pids:
            inside = [track for track in trace.tracks if track.process == pid]
            threads |= _distinct((track, self._thread(track), track.thread) for track in inside)
        tracks = [Track(processes[track.process], threads[track]) for track in trace.tracks]
        order = sorted(range(len(tracks)), key=lambda place: self._rank(trace.tracks[place]))
        counters = [replace(one, process=processes[one.process]) for one in trace.counters]
        ordered = [tracks[old] for old in order]
        return replace(trace, counters=counters).on_tracks(ordered, np.argsort(order))

    def _thread(self, track: Track) -> str:
        is_number = _NUMBER.fullmatch(track.thread)
        name = self._names.get((track.process, track.thread))
        return name or (f"thread {track.thread}" if is_number or not track.thread else track.thread)

    def _rank(self, track: Track) -> tuple[float, float]:
        process = self._ranks.get((track.process, None), 0)
        return process, self._ranks.get((track.process, track.thread), 0)


def _distinct(named: Iterable[tuple[T, str, str]]) -> dict[T, str]:
    """Return the name of each key, with its number behind it where several have the name.

    Args:
        named: Key, name and number of each.
    """
    rows = [*named]
    shared = Tally(name for _, name, _ in rows)
    return {key: name if shared[name] == 1 else f"{name} {number}" for key, name, number in rows}


def _args(event: ChromeEvent) -> dict[str, Json]:
    return cast("dict[str, Json]", _decoded(event.args, dict[str, Any]))


def _decoded(raw: msgspec.Raw | None, kind: type[T]) -> T:
    """Return what a member holds; an empty one where it is missing or something else."""
    try:
        return kind() if raw is None else msgspec.json.decode(raw, type=kind)
    except BROKEN:
        return kind()
