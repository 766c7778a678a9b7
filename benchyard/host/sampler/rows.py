"""Rows of ``metrics.csv``: KROWN's columns, booked on steps, counters as differences.

A row is put together from four parts, each as the kernel tells it in one place: CPU, memory,
disks, network.
"""

import csv
import io
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from benchyard.core.clock import seconds
from benchyard.core.model import Json
from benchyard.host.collector import MeasuredRun
from benchyard.host.counters import parsing
from benchyard.host.counters.parsing import sum_of
from benchyard.results.metrics_csv import LEVELS, VERSION

Values: TypeAlias = "tuple[float | None, ...]"
Text: TypeAlias = "str"

#: How many values each of the four parts has.
LENGTHS = (4, 2, 7, 8)


class Boundary(NamedTuple):
    """The host's counters at the edge of a command.

    Args:
        at_ns: Monotonic nanoseconds.
        values: What is read, in KROWN's order: absolute, CPU times in s, disk times in ms.
    """

    at_ns: int
    values: Values

    @property
    def parts(self) -> tuple[Values, ...]:
        """The four parts."""
        values = iter(self.values)
        return tuple(tuple(islice(values, length)) for length in LENGTHS)


class StepSpan(NamedTuple):
    """One execution of a step's command.

    Args:
        step: The step's index.
    """

    step: int
    begins: Boundary
    ends: Boundary


class Booking:
    """Which step an instant belongs to.

    That is the step whose command is under way, of several the latest begun. Outside of all
    commands it is none: what happens there (a database starts, a user thinks, the engine turns
    round) is in no measurement.
    """

    def __init__(self, executions: Iterable[StepSpan]) -> None:
        self._following = deque(sorted(executions, key=lambda one: one.begins.at_ns))
        # The latest begun is on top; what has ended below it is taken off when it comes up.
        self._running: list[StepSpan] = []

    def step(self, at_ns: int) -> int | None:
        """Return the index of the step that a sample belongs to; None if no step was running.

        Args:
            at_ns: Monotonic nanoseconds; never earlier than the time before.
        """
        while self._following and self._following[0].begins.at_ns <= at_ns:
            self._running.append(self._following.popleft())
        while self._running and self._running[-1].ends.at_ns < at_ns:
            self._running.pop()
        return self._running[-1].step if self._running else None


class MetricsRows:
    """Makes the lines of ``metrics.csv``, in the order of time.

    A disk or an interface that vanished took its counters along: where a sum would fall, the row
    is left out, for KROWN's own tools read no empty cell. A column that the first row does not know
    is empty in all rows.
    """

    def __init__(self, run: MeasuredRun) -> None:
        name = io.StringIO()
        csv.writer(name, lineterminator="").writerow([run.case])
        self._head = f"{name.getvalue()},{run.run},"
        self._origin_ns = run.origin_ns
        self._first: Sequence[Values] = ()
        self._most: list[Values] = [(None,) * length for length in LENGTHS]
        self._gaps = 0
        self.count = 0

    def line(self, at_ns: int, step: int, parts: Sequence[Values]) -> Text:
        """Return one line, with its end; "" if it would have a gap.

        Args:
            parts: The four parts, absolute.
        """
        if not self.count:
            self._first = tuple(parts)
        risen = map(self._risen, range(len(LENGTHS)), parts)
        columns = zip(_WRITERS, self._first, risen, strict=True)
        values = ",".join(write(first, now) for write, first, now in columns)
        gaps = values.split(",").count("")
        if not self.count:
            self._gaps = gaps
        if gaps > self._gaps:
            return ""
        self.count += 1
        elapsed = seconds(at_ns - self._origin_ns)
        return f"{self._head}{self.count},{step},{elapsed!r},{VERSION},{values}\n"

    def _risen(self, at: int, part: Values) -> Values:
        if at not in _COME_AND_GO:
            return part
        self._most[at], risen = _grown(self._most[at], part)
        return risen


def _cpu(first: Values, now: Values) -> Text:
    # The kernel counts hundredths; what a difference of floats adds beyond ns is no measurement.
    user, system, idle, iowait = (None if s is None else round(s, 9) for s in since(first, now))
    both = sum_of((user, system))
    return cells((user, system, None if both is None else round(both, 9), idle, iowait))


def _memory(_first: Values, now: Values) -> Text:
    return cells((*now, sum_of(now)))


def _counters(first: Values, now: Values) -> Text:
    return cells(since(first, now))


_WRITERS = (_cpu, _memory, _counters, _counters)
#: The parts whose things come and go, disks and network.
_COME_AND_GO = (2, 3)


def _grown(most: Values, now: Values) -> tuple[Values, Values]:
    """Return the largest values so far, and those of now without any that fell."""
    pairs = list(zip(most, now, strict=True))
    fell = [a is not None and b is not None and b < a for a, b in pairs]
    kept = tuple([a if down or b is None else b for (a, b), down in zip(pairs, fell, strict=True)])
    return kept, tuple([None if down else b for b, down in zip(now, fell, strict=True)])


def since(first: Values, now: Values) -> Values:
    """Return how far counters went since ``first``; None where one of both is not known."""
    pairs = zip(first, now, strict=True)
    return tuple([None if a is None or b is None else b - a for a, b in pairs])


def cells(values: Iterable[float | None]) -> Text:
    """Write numbers exactly, apart by commas; None is an empty cell."""
    return ",".join(["" if value is None else repr(value) for value in values])


class StepLevels:
    """What the rows of one step show of memory: their number, least and most of each level."""

    def __init__(self) -> None:
        self._samples = 0
        #: Least and most of each level; None where no row knows it.
        self._ends: list[tuple[float, float] | None] = [None] * len(LEVELS)

    def add(self, memory: Values) -> None:
        """Count one row."""
        self._samples += 1
        for at, value in enumerate((*memory, sum_of(memory))):
            if value is not None:
                least, most = self._ends[at] or (value, value)
                self._ends[at] = min(least, value), max(most, value)

    def to_json(self) -> dict[str, Json]:
        """Return it as ``Account.sampled`` holds it."""
        ends = [each or (None, None) for each in self._ends]
        levels: dict[str, Json] = {
            name: {"min": least, "max": most}
            for name, (least, most) in zip(LEVELS, ends, strict=True)
        }
        return {"samples": self._samples, "levels": levels}


_CPU, _MEMORY, _DISKS, _NETWORK = range(len(LENGTHS))


class _Growing:
    """Counters of devices that come and go; their sum never falls.

    A device that vanished keeps its last values in the sum. If a device of the same name comes
    with smaller values, it is another one, and its values are added.
    """

    def __init__(self) -> None:
        self._now: dict[str, Values] = {}
        self._before: list[Values] = []

    def update(self, name: str, values: Values) -> None:
        known = self._now.get(name)
        if known is not None and _fell(known, values):
            self._before.append(known)
        self._now[name] = values

    def total(self) -> Values:
        return tuple(map(sum_of, zip(*self._now.values(), *self._before, strict=True)))


class HostColumns:
    """The host's columns as the last tick left them."""

    def __init__(self) -> None:
        #: CPU, memory, disks, network; None where nothing is known.
        self.parts: list[Values] = [(None,) * length for length in LENGTHS]
        self._disks = _Growing()
        self._interfaces = _Growing()
        self._lines: dict[str, bytes] = {}

    def update(self, name: str, content: bytes | None) -> None:
        """Take in what a file holds now; None if it is there no more."""
        if name.startswith("disk/"):
            if content is not None:
                self._disks.update(name, parsing.disk(content))
                self.parts[_DISKS] = self._disks.total()
        elif name == "network":
            self._update_network(content or b"")
        elif name == "stat":
            self.parts[_CPU] = parsing.cpu_times(content or b"")[:4]
        elif name == "meminfo":
            self.parts[_MEMORY] = parsing.memory(content or b"")

    def _update_network(self, net_dev: bytes) -> None:
        # Most interfaces are idle from one sample to the next: only lines that changed are read.
        changed = False
        for line in net_dev.splitlines():
            name, colon, _ = line.rpartition(b":")
            word = name.strip().decode(errors="replace")
            if colon and self._lines.get(word) != line:
                self._lines[word] = line
                self._interfaces.update(word, parsing.network(line))
                changed = True
        if changed:
            self.parts[_NETWORK] = self._interfaces.total()


def _fell(before: Values, now: Values) -> bool:
    pairs = zip(before, now, strict=True)
    return any(a is not None and b is not None and b < a for a, b in pairs)
