"""Several traces as one: side by side, or one within another's time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchyard.core.errors import InputError
from benchyard.traces.model import Slices, Trace, Track, joined


def side_by_side(traces: Sequence[Trace], titles: Sequence[str]) -> Trace:
    """Return traces as one in which all begin at zero.

    Args:
        traces: At least one.
        titles: Of each; put before the names of its processes.

    Raises:
        InputError: If they have different units.
    """
    return _joined(
        [
            _named(_shifted(trace, -trace.span()[0]), title)
            for trace, title in zip(traces, titles, strict=True)
        ]
    )


def merged(trace: Trace, other: Trace, title: str, at: int) -> Trace:
    """Return a trace with another one in it.

    Args:
        trace: It keeps its times, and goes before the other.
        other: It begins at its own absolute time if both traces know theirs, else ``at``.
        title: Of the other; put before the names of its processes.
        at: In nanoseconds from the trace's zero.

    Raises:
        InputError: If they have different units.
    """
    absolute = None not in (trace.zero, other.zero)
    shift = (other.zero or 0) - (trace.zero or 0) if absolute else at - other.span()[0]
    return replace(_joined([trace, _named(_shifted(other, shift), title)]), zero=trace.zero)


def _shifted(trace: Trace, by: int) -> Trace:
    return replace(
        trace,
        slices=replace(trace.slices, start=trace.slices.start + by),
        counters=[replace(one, times=one.times + by) for one in trace.counters],
        instants=[replace(one, time=one.time + by) for one in trace.instants],
        flows=[
            replace(one, from_time=one.from_time + by, to_time=one.to_time + by)
            for one in trace.flows
        ],
        zero=None,
    )


def _named(trace: Trace, title: str) -> Trace:
    return replace(
        trace,
        tracks=[Track(f"{title}: {one.process}", one.thread) for one in trace.tracks],
        counters=[replace(one, process=f"{title}: {one.process}") for one in trace.counters],
        losses=[replace(one, reason=f"{title}: {one.reason}") for one in trace.losses],
    )


def _joined(traces: Sequence[Trace]) -> Trace:
    if len(units := {trace.unit.name: trace.unit for trace in traces}) > 1:
        raise InputError(f"values in {' and '.join(units)} cannot be shown as one trace")
    first_tracks = np.cumsum([0, *(len(trace.tracks) for trace in traces)]).tolist()
    names = {name: None for trace in traces for name in trace.names}
    numbers = {name: number for number, name in enumerate(names)}
    tracks = [track for trace in traces for track in trace.tracks]
    moved = [
        trace.on_tracks(tracks, np.arange(len(trace.tracks)) + int(first))
        for trace, first in zip(traces, first_tracks[:-1], strict=True)
    ]
    return Trace(
        tracks,
        [*names],
        joined([_renamed(trace, numbers) for trace in moved]),
        [one for trace in moved for one in trace.counters],
        [one for trace in moved for one in trace.instants],
        [one for trace in moved for one in trace.flows],
        [one for trace in moved for one in trace.losses],
        unit=replace(traces[0].unit, sampled=all(trace.unit.sampled for trace in traces)),
    )


def _renamed(trace: Trace, numbers: Mapping[str, int]) -> Slices:
    name = np.array([numbers[name] for name in trace.names], np.int32)
    return replace(trace.slices, name=name[trace.slices.name])
