"""Profiles that steps left, in the trace of their run, at the moment at which they began."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.core.errors import InputError, RecordError
from benchyard.core.model import folder_of
from benchyard.results.folders import PROFILE
from benchyard.results.record import StepRecord, read_record
from benchyard.traces.merging import merged
from benchyard.traces.model import Loss, Trace
from benchyard.traces.of_run import trace_of_run
from benchyard.traces.sources import read_trace

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
    """Yield the profiles among a run's results, of each step the last repetition's.

    Raises:
        RecordError: If the run has no readable record.
    """
    for step in read_record(folder).steps:
        start_s = _last_start(step)
        if start_s is not None:
            label = f"{step.index:02d}-"
            for file in sorted((folder / folder_of(step.resource)).glob(f"{label}*.{PROFILE}*")):
                yield LeftProfile(step.name, file, start_s)


def _last_start(step: StepRecord) -> float | None:
    for attempt in reversed(step.attempts):
        return attempt.repetitions[-1].start_s if attempt.repetitions else attempt.start_s
    return None


def trace_with_profiles(folder: Path) -> Trace:
    """Return the trace of a run with the profiles that its steps left.

    One that cannot be read is among the losses.

    Raises:
        InputError: If the folder is not there, or holds no run.
    """
    trace = trace_of_run(folder)
    try:
        found = [*left_profiles(folder)]
    except RecordError:  # the trace tells of it already
        return trace
    for left in found:
        try:
            profile = read_trace(left.file).as_time()
            trace = merged(trace, profile, left.step, round(left.start_s * _NS_PER_S))
        except InputError as error:
            loss = Loss(f"the profile of step {left.step}: {error}", 1, left.file.name)
            trace = replace(trace, losses=[*trace.losses, loss])
    return trace
