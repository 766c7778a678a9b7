"""From readings of the host to the rows of ``metrics.csv``: booked on steps, as differences."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.clock import seconds
from benchyard.collector import StepWindow
from benchyard.krown_csv import LEVELS, VERSION, Row, number
from benchyard.samplers.process import COLUMNS, Values

#: Column that KROWN has beside ours, and the two whose sum it is.
_SUMS = {
    "cpu_user_system": ("cpu_user", "cpu_system"),
    "memory_ram_swap": ("memory_ram", "memory_swap"),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The host's counters at one instant.

    Args:
        at_ns: Monotonic nanoseconds.
        values: In the order of ``process.COLUMNS``; absolute.
        boundary: Whether it was read at the edge of a command or phase.
    """

    at_ns: int
    values: Values
    boundary: bool = False


def read_samples(raw: Path) -> Iterator[Sample]:
    """Yield what a sampler wrote; a line that its death cut off is left out."""
    try:
        stream = raw.open()
    except FileNotFoundError:
        return
    with stream:
        for line in stream:
            cells = line.rstrip("\n").split(",")
            if line.endswith("\n") and len(cells) == 1 + len(COLUMNS) and cells[0].isdigit():
                yield Sample(int(cells[0]), tuple(number(cell) for cell in cells[1:]))


class Booking:
    """Which step a sample belongs to."""

    def __init__(self, windows: Iterable[StepWindow]) -> None:
        self._windows = sorted(windows, key=lambda window: window.start_ns)
        self._starts = [window.start_ns for window in self._windows]

    def step(self, sample: Sample) -> int | None:
        """Return the index of the step that a sample is booked on.

        That is the step under way, of several the latest begun; before all it is the first one,
        after all the last. Between two steps it is none: what happens there (a user thinks, the
        engine turns round) is in no measurement. A boundary stands just outside of what it
        bounds: if it lies between two steps, it belongs to the one whose edge is nearer.
        """
        if not self._windows:
            return 1
        begun = self._windows[: bisect_right(self._starts, sample.at_ns)]
        for window in reversed(begun):
            if sample.at_ns <= window.end_ns:
                return window.index
        if sample.boundary:
            return min(self._windows, key=lambda w: _distance(w, sample.at_ns)).index
        if begun and len(begun) < len(self._windows):
            return None
        return (begun[-1] if begun else self._windows[0]).index


def _distance(window: StepWindow, at_ns: int) -> int:
    return min(abs(at_ns - window.start_ns), abs(at_ns - window.end_ns))


def rows(
    samples: Iterable[Sample], windows: Sequence[StepWindow], case: str, run: int, origin_ns: int
) -> Iterator[Row]:
    """Make the rows of ``metrics.csv``.

    Args:
        samples: Ascending in time.
        windows: When each step was under way.
        origin_ns: The run's start; timestamps count from it.
    """
    booking = Booking(windows)
    first: Row | None = None
    booked = ((sample, booking.step(sample)) for sample in samples)
    kept = ((sample, step) for sample, step in booked if step is not None)
    for index, (sample, step) in enumerate(kept, 1):
        columns = _columns(sample.values)
        first = columns if first is None else first
        yield {
            "name": case,
            "run": run,
            "index": index,
            "step": step,
            "timestamp": seconds(sample.at_ns - origin_ns),
            "version": VERSION,
            **{name: _since(first, columns, name) for name in columns},
        }


def _columns(values: Values) -> Row:
    columns: Row = dict(zip(COLUMNS, values, strict=True))
    return columns | {name: _sum(columns, *parts) for name, parts in _SUMS.items()}


def _sum(columns: Row, one: str, other: str) -> float | None:
    a, b = columns[one], columns[other]
    return a + b if isinstance(a, int | float) and isinstance(b, int | float) else None


def _since(first: Row, columns: Row, name: str) -> float | None:
    """Return a level as it is, and of a counter how far it went since the first sample."""
    then, now = (0 if name in LEVELS else first[name]), columns[name]
    if not isinstance(then, int | float) or not isinstance(now, int | float):
        return None
    return now - then
