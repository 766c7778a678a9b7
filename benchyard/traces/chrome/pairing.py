"""Beginnings and ends that are events of their own: nested, asynchronous, arrows."""

from array import array
from collections import defaultdict
from collections.abc import Hashable
from itertools import pairwise

import numpy as np

from benchyard.core.wording import quote
from benchyard.traces.building import OpenSlices, TraceBuilder
from benchyard.traces.chrome.events import ChromeEvent
from benchyard.traces.model import Flow, microseconds

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
