"""Curves of a run: read from its folder, thinned to as many points as a picture can show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.results.folders import Results
from benchyard.results.record import Attempt, RunRecord, interval_of, read_record

if TYPE_CHECKING:
    from benchyard.results.samples import SampledSource
    from benchyard.show.curves.thinning import ThinPanel

#: Fewer samples, or points of them within the run, make no curve.
_LEAST_SAMPLES = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """One attempt of a step, from start to end (s since the run's start), phases not included."""

    index: int
    name: str
    start_s: float
    end_s: float
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Phase:
    """A timed part that is no command, such as the start of a resource (s since the run's start).

    Args:
        name: ``initialize``, ``start``, ``ready`` or ``stop``.
    """

    name: str
    resource: str
    start_s: float
    end_s: float
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Curves:
    """What the picture of a run shows.

    Args:
        at_s: Shape (points,): of each sample, or the middle of each span (s since the run's start).
        samples: How many readings of the host the curves are made of.
    """

    title: str
    length_s: float
    at_s: Sequence[float]
    panels: "Sequence[ThinPanel]"
    bars: tuple[Bar, ...]
    samples: int
    phases: tuple[Phase, ...] = ()


def read_curves(folder: Path, points: int = 480) -> Curves:
    """Read the curves of a run.

    Args:
        folder: Of the run.
        points: So many points each curve has at most.

    Raises:
        RecordError: If its record or its curves cannot be read, or have too few samples.
    """
    # numpy takes its time, and its memory: who only runs cases has no need of it.
    from benchyard.results.samples import read_sources  # noqa: PLC0415

    record = read_record(folder)
    steps = steps_alone(record)
    if not 0 < steps.length_s < 1e9:
        raise RecordError(f"{folder}: a run of {steps.length_s:g} s has no curves")
    try:
        sources = read_sources(folder, interval_of(record))
    except OSError as error:
        raise RecordError(f"{folder}: its curves cannot be read: {error}") from error
    samples = len(sources[0].at_s)
    curves = with_samples(steps, sources, points)
    if min(samples, len(curves.at_s)) < _LEAST_SAMPLES:
        raise RecordError(f"{folder}: {samples} samples make no curves; use a shorter --interval")
    return curves


def with_samples(steps: Curves, sources: "Sequence[SampledSource]", points: int) -> Curves:
    """Add to the steps of a run what was sampled: means of rates, and the most memory.

    A resource that left something alone all the time has no line there.
    """
    from benchyard.show.curves.thinning import thinned  # noqa: PLC0415 - as above

    thin = thinned(sources, 0.0, steps.length_s, points)
    panels = [
        replace(panel, lines=[line for line in panel.lines if line.of_host or line.moves])
        for panel in thin.panels
    ]
    return replace(steps, at_s=thin.at_s.tolist(), panels=panels, samples=thin.samples)


def steps_alone(record: RunRecord) -> Curves:
    """Return what a record alone tells of a run: its attempts and phases, without any curve.

    An attempt that started its resource begins when that was ready.
    """
    bars = tuple(
        Bar(step.index, step.name, _begin(record, step.index, one), one.end_s, one.outcome)
        for step in record.steps
        for one in step.attempts
    )
    phases = tuple(
        Phase(one.phase, one.resource, one.start_s, one.start_s + one.duration_s, one.outcome)
        for one in record.phases
    )
    length = max([record.duration_s, *(one.end_s for one in (*bars, *phases))])
    title = f"{record.case.get('title')}, run {record.run}"
    return Curves(title, length, (), (), bars, 0, phases)


def _begin(record: RunRecord, step: int, attempt: Attempt) -> float:
    ends = (one.start_s + one.duration_s for one in record.phases if one.step == step)
    within = (end for end in ends if attempt.start_s <= end <= attempt.end_s)
    return max(within, default=attempt.start_s)


def run_to_draw(results: Path, summary: Mapping[str, object]) -> int | None:
    """Return the median run, or else the last one done, or else the last one that failed.

    Args:
        results: Folder with the runs.
        summary: The document of summary.json; it has no median run where all runs are suspect.
    """
    median = summary.get("median_run")
    if isinstance(median, int):
        return median
    runs = Results(results)
    return max(runs.done() or runs.failed(), default=None)
