"""A trace or profile in the few figures that pages show of it, however long it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from benchyard.catalogue.formats.trace_file import bounded_trace, signature_of
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.show.traces import report
from benchyard.show.traces.flame import DEEPEST, NARROWEST
from benchyard.traces.difference import Names
from benchyard.traces.model import Loss, Trace, Unit
from benchyard.traces.statistics import (
    CounterStatistics,
    TraceStatistics,
    TrackStatistics,
    statistics_of,
)

#: Names that all paths may have together; beyond, their texts alone fill the memory.
_MOST_NAMES = 4_000_000
#: Slices that are counted.
_MOST_SLICES = 1_000_000
#: Rows of a table that are kept.
_MOST_ROWS = 10_000
#: Traces whose figures are kept.
_KEPT = 4
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, slots=True)
class TraceSource:
    """A trace or profile that a page shows.

    Args:
        title: What people call it.
        href: Address of its page, without suffix.
        place: Its file, or the folder of a Scanner job.
    """

    title: str
    href: str
    place: Path

    def trace(self) -> Trace:
        """Read it.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        return bounded_trace(self.place)

    def figures(self) -> "TraceFigures":
        """Return it in figures, which are kept until the file changes.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        with _ONE_AT_A_TIME:
            found = _figures(self.place, signature_of(self.place))
        if isinstance(found, InputError):
            raise found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class TraceFigures:
    """What pages show of a trace; little, however long it is.

    Args:
        span_ns: From the first thing to the end of the last.
        slices: How many.
        names: How many names these have.
        rows: Of the heaviest names, as ``report.rows_of`` makes them.
        self_sum: Self time of all names, as the rows say it.
        tracks: The busiest first.
        counters: In the order of the trace.
        losses: What is missing here and was in the source.
        totals_s: Of each path that a flame graph has room for, in seconds.
        left_out: How many paths it has no room for.
        names_on_paths: Of all paths together.
        unit: Of durations.
    """

    span_ns: int
    slices: int
    names: int
    rows: Sequence[Mapping[str, Json]]
    self_sum: float
    tracks: Sequence[TrackStatistics]
    counters: Sequence[CounterStatistics]
    losses: Sequence[Loss]
    totals_s: Mapping[Names, float]
    left_out: int
    names_on_paths: int
    unit: Unit

    def refuse_deep(self) -> None:
        """Refuse to tell paths apart that have so many names that they fill the memory.

        Raises:
            InputError: If they have.
        """
        if self.names_on_paths > _MOST_NAMES:
            raise InputError(
                f"its paths have {self.names_on_paths:,} names, more than the {_MOST_NAMES:,} that "
                "are read here; benchyard profile reads them"
            )


@lru_cache(_KEPT)
def _figures(place: Path, _signature: object) -> TraceFigures | InputError:
    trace = bounded_trace(place)
    if len(trace.slices) > _MOST_SLICES:
        # Remembered, since it takes long to find out.
        return InputError(
            f"it has {len(trace.slices):,} slices, more than the {_MOST_SLICES:,} that are counted "
            "here; benchyard profile counts them"
        )
    found = statistics_of(trace)
    depths = _depths(found)
    totals = _totals(found, depths)
    return TraceFigures(
        found.span[1] - found.span[0],
        int(found.by_name.count.sum()),
        len(found.by_name),
        report.rows_of(found, by_path=False, most=_MOST_ROWS),
        report.self_sum(found),
        sorted(found.tracks, key=lambda one: -one.busy)[:_MOST_ROWS],
        found.counters[:_MOST_ROWS],
        found.losses,
        totals,
        len(found.by_path) - len(totals),
        sum(depths),
        found.unit,
    )


def _depths(found: TraceStatistics) -> list[int]:
    depths: list[int] = []
    for path in found.paths:
        depths.append(1 + (depths[path.parent] if path.parent >= 0 else 0))
    return depths


def _totals(found: TraceStatistics, depths: Sequence[int]) -> dict[Names, float]:
    """Return how long each path took that a flame graph has room for, in seconds."""
    paths: list[tuple[int, int]] = [
        *zip(found.by_path.which.tolist(), found.by_path.total.tolist(), strict=True)
    ]
    whole = sum(total for number, total in paths if depths[number] == 1)
    room = _MOST_NAMES
    totals: dict[Names, float] = {}
    for number, total in sorted(paths, key=lambda one: -one[1]):
        if total < NARROWEST * whole or room < 0:
            break
        if depths[number] <= DEEPEST:
            totals[found.path(number)] = total / found.unit.scale
            room -= depths[number]
    return totals
