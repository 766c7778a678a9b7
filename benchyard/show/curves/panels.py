"""Curves of a run: read from its folder, thinned to as many points as a picture can show."""

import csv
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.core.model import Outcome
from benchyard.results.folders import Results, RunFolder
from benchyard.results.record import Attempt, RunRecord, read_record
from benchyard.show.curves.grid import Grid, Levels, Rates

#: Fewer samples make no curve.
LEAST_SAMPLES = 4
#: So many resources have a line of their own, those that used most; the others have none.
_MOST_RESOURCES = 5
_CPU, _MEMORY = "cpu_user_system", "memory_ram"
_FLOWS = {
    "disk": {"read": "disk_read_bytes", "written": "disk_write_bytes"},
    "network": {"received": "network_received_bytes", "sent": "network_sent_bytes"},
}
_WRONG = (OSError, csv.Error, UnicodeDecodeError, ValueError)


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Args:
        values: Shape (spans of the grid,); None is not known.
        of_host: Whether it is the host's, which all others are part of.
    """

    name: str
    values: Sequence[float | None]
    of_host: bool = False

    @property
    def most(self) -> float:
        """The largest value; 0 if none is known."""
        return max((value for value in self.values if value is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves that share an axis.

    Args:
        unit: ``cores``, ``B`` or ``B/s``.
    """

    name: str
    unit: str
    lines: tuple[Line, ...]


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
        at_s: Shape (spans of the grid,): the middle of each (s since the run's start).
        samples: How many readings of the host the curves are made of.
    """

    title: str
    length_s: float
    at_s: Sequence[float]
    panels: tuple[Panel, ...]
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
    record = read_record(folder)
    bars, phases = bars_of(record), phases_of(record)
    length = max([record.duration_s, *(one.end_s for one in (*bars, *phases))])
    if not 0 < length < 1e9:
        raise RecordError(f"{folder}: a run of {length:g} s has no curves")
    interval = record.collector.get("interval_s")
    finest = interval if isinstance(interval, int | float) and interval > 0 else 0.1
    grid = Grid(length, min(points, max(1, math.ceil(length / finest))))
    try:
        host, samples = _host(RunFolder(folder).metrics, grid)
        with suppress(FileNotFoundError):
            host = _with_resources(host, RunFolder(folder).resources, grid)
    except _WRONG as error:
        raise RecordError(f"{folder}: its curves cannot be read: {error}") from error
    if samples < LEAST_SAMPLES:
        raise RecordError(f"{folder}: {samples} samples make no curves; use a shorter --interval")
    title = f"{record.case.get('title')}, run {record.run}"
    return Curves(title, length, grid.middles(), tuple(host.values()), bars, samples, phases)


def steps_alone(record: RunRecord) -> Curves:
    """Return what a record alone tells of a run: its steps and phases, without any curve."""
    bars, phases = bars_of(record), phases_of(record)
    length = max([record.duration_s, *(one.end_s for one in (*bars, *phases))])
    title = f"{record.case.get('title')}, run {record.run}"
    return Curves(title, length, (), (), bars, 0, phases)


def bars_of(record: RunRecord) -> tuple[Bar, ...]:
    """Return the attempts; one that started its resource begins when that was ready."""
    return tuple(
        Bar(step.index, step.name, _begin(record, step.index, one), one.end_s, one.outcome)
        for step in record.steps
        for one in step.attempts
    )


def _begin(record: RunRecord, step: int, attempt: Attempt) -> float:
    ends = (one.start_s + one.duration_s for one in record.phases if one.step == step)
    within = (end for end in ends if attempt.start_s <= end <= attempt.end_s)
    return max(within, default=attempt.start_s)


def phases_of(record: RunRecord) -> tuple[Phase, ...]:
    """Return the phases of the resources."""
    return tuple(
        Phase(one.phase, one.resource, one.start_s, one.start_s + one.duration_s, one.outcome)
        for one in record.phases
    )


class _Table:
    """A file of curves, row by row."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._places: dict[str, int] = {}

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows below the header."""
        raw = opened(self._file)
        with TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="") as stream:
            reader = csv.reader(stream)
            header: list[str] = next(reader, None) or []
            self._places = {name: place for place, name in enumerate(header)}
            yield from reader

    def text(self, row: list[str], name: str) -> str:
        """Return a cell; empty if there is none."""
        place = self._places.get(name, len(row))
        return row[place] if place < len(row) else ""

    def number(self, row: list[str], name: str) -> float | None:
        """Return a cell's number; None if it is not known."""
        text = self.text(row, name)
        value = float(text) if text else math.nan
        return value if math.isfinite(value) else None


class _Thinned:
    """Passes on only as many rows of each counter as the grid can show.

    No increase is lost, since counters only grow: skipped rows would only say how it was spread.
    """

    def __init__(self, grid: Grid, take: Callable[[Hashable, float, list[str]], None]) -> None:
        self._apart = grid.width_s / 4
        self._take = take
        self._due: dict[Hashable, float] = {}
        self._left: dict[Hashable, tuple[float, list[str]]] = {}

    def add(self, counter: Hashable, at_s: float, row: list[str]) -> None:
        """Pass a row on if the last one of its counter is old enough."""
        if at_s < self._due.get(counter, -math.inf):
            self._left[counter] = (at_s, row)
            return
        self._left.pop(counter, None)
        self._due[counter] = at_s + self._apart
        self._take(counter, at_s, row)

    def end(self) -> None:
        """Pass on the last row of each counter."""
        for counter, (at_s, row) in self._left.items():
            self._take(counter, at_s, row)


def _host(file: Path, grid: Grid) -> tuple[dict[str, Panel], int]:
    columns = [_CPU, *(column for lines in _FLOWS.values() for column in lines.values())]
    flows = {column: Rates(grid) for column in columns}
    table, memory, samples = _Table(file), Levels(grid), 0

    def take(_: Hashable, at_s: float, row: list[str]) -> None:
        for column, rates in flows.items():
            rates.add(column, at_s, table.number(row, column))

    thinned = _Thinned(grid, take)
    for row in table.rows():
        at = table.number(row, "timestamp")
        if at is not None:
            samples += 1
            memory.add(at, table.number(row, _MEMORY))
            thinned.add("host", at, row)
    thinned.end()
    host = Line("host", flows[_CPU].values(), of_host=True)
    panels = {
        "cpu": Panel("CPU", "cores", (host,)),
        "memory": Panel("memory", "B", (Line("host", memory.values(), of_host=True),)),
    }
    for name, columns in _FLOWS.items():
        lines = [Line(word, flows[column].values()) for word, column in columns.items()]
        panels[name] = Panel(name, "B/s", tuple(lines))
    return panels, samples


def _with_resources(host: dict[str, Panel], file: Path, grid: Grid) -> dict[str, Panel]:
    """Add what resources own to the host's CPU and memory."""
    cpu: dict[str, Rates] = {}
    memory: dict[str, Levels] = {}
    table = _Table(file)

    def take(counter: Hashable, at_s: float, row: list[str]) -> None:
        rates = cpu.setdefault(table.text(row, "resource"), Rates(grid))
        rates.add(counter, at_s, table.number(row, "cpu_s"))

    thinned = _Thinned(grid, take)
    for row in table.rows():
        at, name = table.number(row, "timestamp"), table.text(row, "resource")
        if at is not None and name not in ("", "host"):
            level = memory.setdefault(name, Levels(grid))
            level.add(at, table.number(row, "memory_bytes"))
            thinned.add((name, table.text(row, "what"), table.text(row, "name")), at, row)
    thinned.end()
    used = [Line(name, rates.values()) for name, rates in cpu.items()]
    used.sort(key=lambda line: -sum(value or 0.0 for value in line.values))
    shown = used[:_MOST_RESOURCES]
    levels = [Line(line.name, memory[line.name].values()) for line in shown]
    added = {"cpu": shown, "memory": levels}
    return {
        name: Panel(panel.name, panel.unit, (*panel.lines, *added.get(name, ())))
        for name, panel in host.items()
    }


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
