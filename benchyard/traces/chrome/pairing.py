"""Beginnings and ends that are events of their own: nested, asynchronous, arrows."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import numpy as np

from benchyard.core.wording import quote
from benchyard.traces.building import OpenSlices
from benchyard.traces.chrome.columns import Columns, Id
from benchyard.traces.chrome.events import Event, as_number
from benchyard.traces.model import Flow, Instant, microseconds

_BEGINS, _ENDS = "bS", "eF"
_OPEN = "begun and never ended; taken to last until the end of its track"
_CUT_OFF = "begun and never ended; taken to end with what contains it"
_OTHER = "ended under another name; taken as the end of what has its id"
_NEVER_BEGUN = "ended and never begun; shown as a moment"
_ALONE = "an arrow without its other end; shown as a moment"
#: The name of an end that has none.
_ANY = -1
_AsyncKey = tuple[Id, str, str, str]


@dataclass(slots=True)
class Pairing:
    """What waits for its other half.

    Nested events are paired at the end: within a thread they need not stand in order of time.
    """

    columns: Columns
    _begin: "array[int]" = field(default_factory=lambda: array("b"))
    _track: "array[int]" = field(default_factory=lambda: array("i"))
    _name: "array[int]" = field(default_factory=lambda: array("i"))
    _time: "array[int]" = field(default_factory=lambda: array("q"))
    _async: dict[_AsyncKey, list[tuple[int, str, str, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _arrows: dict[tuple[str, str, str], list[tuple[int, str, str, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def nested(self, event: Event, time: int) -> None:
        """Take a beginning (B) or an end (E) on a thread."""
        self._begin.append(event.ph == "B")
        self._track.append(self.columns.track[event.pid, event.tid])
        named = event.name or event.ph == "B"
        self._name.append(self.columns.names[event.name] if named else _ANY)
        self._time.append(time)

    def asynchronous(self, event: Event, time: int) -> None:
        """Take a beginning (b, S), an end (e, F) or a moment (n, T, p) of what has an id."""
        local = event.id2.get("local")
        whose = str(local if local is not None else event.id2.get("global", event.id))
        pid = "" if local is None else as_number(event.pid)
        legacy = event.name if event.ph in "STpF" else ""
        track = self.columns.track[event.pid, f"{event.cat or event.name} (async)"]
        seen = self._async[pid, event.cat + "\0" + event.scope, whose, legacy]
        seen.append((time, event.ph, event.name, track))

    def arrow(self, event: Event, time: int) -> None:
        """Take the beginning (s), a step (t) or the end (f) of a flow."""
        track = self.columns.track[event.pid, event.tid]
        seen = self._arrows[event.cat, event.name, str(event.id)]
        seen.append((time, event.ph, event.name, track))

    def finish(self) -> None:
        """Pair all that was taken, and count what stays alone."""
        self._finish_arrows()
        self._finish_asynchronous()
        self._finish_nested()

    def _finish_nested(self) -> None:
        if not self._time:
            return
        track, name = np.array(self._track, np.int32), np.array(self._name, np.int32)
        time = np.array(self._time, np.int64)
        # What contains others stands before them, also where both begin and end together.
        order = np.lexsort((time, track))
        begin = np.array(self._begin, bool)
        begun = order[begin[order]]
        ends = self.columns.lasts(track, time)[track].tolist()
        unsure = dict.fromkeys(cast("list[int]", begun.tolist()), _OPEN)
        columns = [one[order].tolist() for one in (begin, track, name, time)]
        self._end_nested(zip(order.tolist(), *columns, strict=True), ends, unsure)
        durations = np.maximum(np.array(ends, np.int64) - time, 0)
        self.columns.extend(track[begun], name[begun], time[begun], durations[begun])
        names = [*self.columns.names]
        for place, why in unsure.items():
            self._lose(why, names[self._name[place]], self._time[place])

    def _end_nested(
        self,
        events: Iterable[tuple[int, bool, int, int, int]],
        ends: list[int],
        unsure: dict[int, str],
    ) -> None:
        """Set when what began at each place ended; what has an end of its own is sure."""
        waiting: dict[int, OpenSlices[int]] = defaultdict(OpenSlices[int])
        names = [*self.columns.names]
        for place, is_begin, track, name, time in events:
            if is_begin:
                waiting[track].begin(name, place)
            elif closed := waiting[track].end(None if name == _ANY else name):
                for one in closed:
                    ends[one], unsure[one] = time, _CUT_OFF
                del unsure[closed[-1]]
            else:
                named = "" if name == _ANY else f" of {names[name]}"
                self._moment(track, f"end{named}", time, _NEVER_BEGUN)

    def _finish_asynchronous(self) -> None:
        lasts: dict[int, int] = defaultdict(int)
        for seen in self._async.values():
            for time, _, _, track in seen:
                lasts[track] = max(lasts.get(track, time), time)
        for seen in self._async.values():
            self._pair(sorted(seen, key=lambda one: one[0]), lasts)

    def _pair(self, seen: list[tuple[int, str, str, int]], lasts: dict[int, int]) -> None:
        waiting: OpenSlices[tuple[int, str, int]] = OpenSlices()
        for time, phase, name, track in seen:
            if phase in _BEGINS:
                waiting.begin(name, (track, name, time))
            elif phase not in _ENDS:
                self.columns.slice(track, name, time, 0)
            elif closed := waiting.end(name or None) or waiting.end():
                for one in closed[:-1]:
                    self._slice(*one, time, _CUT_OFF)
                # The id tells what ended, whatever the name says.
                self._slice(*closed[-1], time, _OTHER if name not in ("", closed[-1][1]) else "")
            else:
                self._moment(track, f"end of {name}", time, _NEVER_BEGUN)
        for track, name, start in waiting.rest():
            self._slice(track, name, start, lasts[track], _OPEN)

    def _finish_arrows(self) -> None:
        for seen in self._arrows.values():
            steps = sorted(seen, key=lambda one: one[0])
            if len(steps) == 1:
                time, _, name, track = steps[0]
                self._moment(track, name, time, _ALONE)
            for (start, _, name, from_track), (end, _, _, to_track) in pairwise(steps):
                self.columns.flows.append(Flow(name, from_track, start, to_track, end))

    def _moment(self, track: int, name: str, time: int, why: str) -> None:
        self.columns.instants.append(Instant(track, name, time))
        self._lose(why, name, time)

    def _slice(self, track: int, name: str, start: int, end: int, why: str = "") -> None:
        """Add a slice, and count why its end is not known, if it is not."""
        self.columns.slice(track, name, start, max(0, end - start))
        if why:
            self._lose(why, name, start)

    def _lose(self, reason: str, name: str, time: int) -> None:
        self.columns.lose(reason, f"{microseconds(time)} µs, {quote(name)}")
