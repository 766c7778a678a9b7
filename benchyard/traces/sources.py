"""A trace of whatever holds one: a file of others, or a run with its steps' profiles."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import shown
from benchyard.core.model import folder_of
from benchyard.results.folders import PROFILE
from benchyard.results.record import read_record
from benchyard.traces.callgrind import read_callgrind
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.cprofile import read_cprofile
from benchyard.traces.json_profiles import read_cpuprofile, read_firefox, read_speedscope
from benchyard.traces.model import Loss, Slices, Trace, Track, joined
from benchyard.traces.of_run import trace_of_run
from benchyard.traces.perf_script import read_perf_script
from benchyard.traces.recognising import WHOLE_BYTES, beginning_of, unpacked
from benchyard.traces.scanner.profile import Profile
from benchyard.traces.stacks import read_collapsed, read_pprof


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


_READERS: Mapping[str, Callable[[bytes, str, str], Trace]] = {
    "speedscope": read_speedscope,
    "pprof": read_pprof,
    "collapsed-stacks": lambda content, where, _: read_collapsed(content, where),
    "cprofile": lambda content, where, _: read_cprofile(content, where),
    "v8-cpuprofile": lambda content, where, _: read_cpuprofile(content, where),
    "firefox-profile": read_firefox,
    "perf-script": read_perf_script,
    "callgrind": read_callgrind,
}
FORMATS = (
    "Chrome's trace events, Speedscope, pprof, collapsed stacks, cProfile, V8's .cpuprofile, "
    "Firefox Profiler, perf script, Callgrind, a Scanner job"
)


def read_trace(path: Path, kind: str = "") -> Trace:
    """Read a trace or profile of others.

    Args:
        path: A file, gzipped or not, or the folder of a Scanner job.
        kind: Of a profile that holds several: a sample type of pprof, a unit of Speedscope.

    Raises:
        InputError: If it cannot be read, or no format is known that looks like it.
    """
    if path.is_dir():
        return Profile(path).trace()
    head = beginning_of(path)
    known = head.trace_format
    if known == "chrome-trace" or (head.is_json and head.text.startswith(b"[")):
        return read_chrome(path)
    if known not in _READERS:
        said = head.advice or f"no known format; known are {FORMATS}"
        raise InputError(f"{shown(path)}: {said}")
    content = unpacked(path, WHOLE_BYTES + 1)
    if len(content) > WHOLE_BYTES:
        raise InputError(
            f"{shown(path)}: larger than {WHOLE_BYTES >> 30} GiB, the most of its format"
        )
    return _READERS[known](content, shown(path), kind)


_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class LeftProfile:
    """A profile that a step left.

    Args:
        step: The step's name.
        file: Where it is kept.
        start_s: When the program began that wrote it, since the run's start.
    """

    step: str
    file: Path
    start_s: float


def left_profiles(folder: Path) -> Iterator[LeftProfile]:
    """Yield the profiles among a run's results, of each step the last repetition's."""
    try:
        steps = read_record(folder).steps
    except RecordError:  # the run's page, and its trace, tell of it
        return
    for step in steps:
        for last in step.attempts[-1:]:
            start_s = last.repetitions[-1].start_s if last.repetitions else last.start_s
            label = f"{step.index:02d}-"
            for file in sorted((folder / folder_of(step.resource)).glob(f"{label}*.{PROFILE}*")):
                yield LeftProfile(step.name, file, start_s)


def trace_with_profiles(folder: Path) -> Trace:
    """Return the trace of a run with the profiles that its steps left.

    One that cannot be read is among the losses.

    Raises:
        InputError: If the folder is not there, or holds no run.
    """
    trace = trace_of_run(folder)
    for left in left_profiles(folder):
        try:
            profile = read_trace(left.file).as_time()
            trace = merged(trace, profile, left.step, round(left.start_s * _NS_PER_S))
        except InputError as error:
            loss = Loss(f"the profile of step {left.step}: {error}", 1, left.file.name)
            trace = replace(trace, losses=[*trace.losses, loss])
    return trace
