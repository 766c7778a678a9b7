"""From samples to as many points as a picture has room for; memory does not grow with them."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal spans of time.

    Args:
        length_s: Of all together, from the run's start.
        count: How many there are.
    """

    length_s: float
    count: int

    @property
    def width_s(self) -> float:
        """Length of one span."""
        return self.length_s / self.count

    def place(self, at_s: float) -> int:
        """Return in which span a moment lies."""
        return min(max(int(at_s / self.width_s), 0), self.count - 1)

    def middles(self) -> list[float]:
        """Return the middle of each span (s)."""
        return [(place + 0.5) * self.width_s for place in range(self.count)]


class Rates:
    """Rates of counters that only grow; an increase is spread over the time that it took."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._amounts = [0.0] * grid.count
        self._seen: list[tuple[float, float] | None] = [None] * grid.count
        self._before: dict[Hashable, tuple[float, float]] = {}

    def add(self, counter: Hashable, at_s: float, total: float | None) -> None:
        """Take a reading of one counter; all of them are added up.

        Args:
            total: What it counted so far; None is not known, and begins it anew.
        """
        before = self._before.pop(counter, None)
        if total is None:
            return
        self._before[counter] = (at_s, total)
        if before is not None and at_s > before[0] and total >= before[1]:
            self._spread(before[0], at_s, total - before[1])

    def _spread(self, start: float, end: float, amount: float) -> None:
        width = self._grid.width_s
        for place in range(self._grid.place(start), self._grid.place(end) + 1):
            left, right = place * width, (place + 1) * width
            first, last = max(start, left), min(end, right)
            if last > first:
                self._amounts[place] += amount * (last - first) / (end - start)
                seen = self._seen[place] or (first, last)
                self._seen[place] = (min(first, seen[0]), max(last, seen[1]))

    def values(self) -> list[float | None]:
        """Return the mean rate of each span; None where nothing is known."""
        # Of a span that was seen in part only: but a moment makes no rate, counters have ticks.
        least = self._grid.width_s / 2
        return [
            None if seen is None else amount / max(seen[1] - seen[0], least)
            for amount, seen in zip(self._amounts, self._seen, strict=True)
        ]


class Levels:
    """Levels such as memory; each span keeps its highest value, so no peak is lost."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._most: list[float | None] = [None] * grid.count
        self._at: float | None = None
        self._sum = 0.0

    def add(self, at_s: float, level: float | None) -> None:
        """Take a reading; those of one instant are added up."""
        if level is None:
            return
        if at_s != self._at:
            self._flush()
            self._at, self._sum = at_s, 0.0
        self._sum += level

    def _flush(self) -> None:
        if self._at is not None:
            place = self._grid.place(self._at)
            self._most[place] = max(self._most[place] or 0.0, self._sum)

    def values(self) -> list[float | None]:
        """Return the most of each span; None where nothing is known."""
        self._flush()
        return self._most
