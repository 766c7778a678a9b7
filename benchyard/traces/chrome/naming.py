"""Names and order of processes and threads, as metadata events tell them."""

from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from benchyard.core.model import Json
from benchyard.traces.chrome.columns import Columns, Id
from benchyard.traces.chrome.events import Event, as_number
from benchyard.traces.model import Trace, Track

KeyT = TypeVar("KeyT")


@dataclass(slots=True)
class Naming:
    """What metadata events told so far; the last word on each counts."""

    _names: dict[tuple[Id, Id | None], str] = field(default_factory=dict[tuple[Id, Id | None], str])
    _ranks: dict[tuple[Id, Id | None], float] = field(
        default_factory=dict[tuple[Id, Id | None], float]
    )

    def take(self, event: Event, args: Mapping[str, Json]) -> None:
        """Note what a metadata event says; what is neither name nor rank shows nowhere."""
        tid = None if event.name.startswith("process_") else as_number(event.tid)
        whose = (as_number(event.pid), tid)
        name, rank = args.get("name"), args.get("sort_index")
        if event.name.endswith("_name") and name is not None:
            self._names[whose] = str(name)
        elif event.name.endswith("_sort_index") and isinstance(rank, (int, float)):
            self._ranks[whose] = rank

    def trace(self, columns: Columns) -> Trace:
        """Return all that was read, under its names and in its order."""
        keys = [*columns.track.distinct]
        counters = columns.counters()
        processes = self._distinct(
            dict.fromkeys([pid for pid, _ in keys] + [pid for pid, _ in counters])
        )
        threads = self._threads(keys)
        order = sorted(range(len(keys)), key=lambda place: self._rank(keys[place]))
        tracks = [Track(processes[pid], threads[pid, tid]) for pid, tid in keys]
        trace = Trace(
            tracks,
            [*columns.names],
            columns.slices(),
            [replace(one, process=processes[pid]) for pid, one in counters],
            columns.instants,
            columns.flows,
            [*columns.losses.values()],
        )
        return trace.on_tracks([tracks[old] for old in order], np.argsort(order))

    def _rank(self, key: tuple[Id, Id]) -> tuple[float, float]:
        return self._ranks.get((key[0], None), 0), self._ranks.get(key, 0)

    def _distinct(self, pids: Iterable[Id]) -> dict[Id, str]:
        names = {pid: self._names.get((pid, None)) or f"process {pid}" for pid in pids}
        return _told_apart(names, {pid: pid for pid in names})

    def _threads(self, keys: Sequence[tuple[Id, Id]]) -> dict[tuple[Id, Id], str]:
        found: dict[tuple[Id, Id], str] = {}
        by_process: dict[Id, dict[tuple[Id, Id], str]] = {}
        for key in keys:
            name = self._names.get(key) or (key[1] if isinstance(key[1], str) else "")
            by_process.setdefault(key[0], {})[key] = name or f"thread {key[1]}"
        for names in by_process.values():
            found |= _told_apart(names, {key: key[1] for key in names})
        return found


def _told_apart(names: Mapping[KeyT, str], numbers: Mapping[KeyT, object]) -> dict[KeyT, str]:
    """Add its number to each name that several have."""
    shared = Tally(names.values())
    return {
        key: name if shared[name] == 1 else f"{name} {numbers[key]}" for key, name in names.items()
    }
