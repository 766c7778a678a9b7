"""A trace of whatever holds one: a file of others, or a run with its steps' profiles."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import shown
from benchyard.core.model import folder_of
from benchyard.results.folders import PROFILE
from benchyard.results.record import read_record
from benchyard.traces.building import TraceBuilder
from benchyard.traces.callgrind import read_callgrind
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.cprofile import read_cprofile
from benchyard.traces.json_profiles import read_cpuprofile, read_firefox, read_speedscope
from benchyard.traces.model import Trace
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
    if len(units := {trace.unit.name: trace.unit for trace in traces}) > 1:
        raise InputError(f"values in {' and '.join(units)} cannot be shown as one trace")
    builder = TraceBuilder()
    for trace, title in zip(traces, titles, strict=True):
        builder.add(trace, title, -trace.span()[0])
    return builder.sampled(traces[0].unit, sampled=all(trace.unit.sampled for trace in traces))


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
    run = trace_of_run(folder)
    builder = TraceBuilder(run.zero)
    builder.add(run)
    for left in left_profiles(folder):
        try:
            profile = read_trace(left.file).as_time()
        except InputError as error:
            builder.lose(f"the profile of step {left.step}: {error}", left.file.name)
        else:
            add_profile(builder, profile, left.step, round(left.start_s * _NS_PER_S))
    return builder.trace()


def add_profile(builder: TraceBuilder, profile: Trace, title: str, at: int) -> None:
    """Add a profile to a run.

    Args:
        builder: Of the run's trace.
        profile: It begins at its own absolute time if both traces know theirs, else ``at``.
        title: Put before the names of its processes.
        at: In nanoseconds from the run's start.
    """
    if builder.zero is None or profile.zero is None:
        by = at - profile.span()[0]
    else:
        by = profile.zero - builder.zero
    builder.add(profile, title, by)
