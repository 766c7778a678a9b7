"""The graph of steps that ``needs`` makes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: So many cycles are told; who mends them sees the next ones.
MOST_CYCLES = 20


@dataclass(slots=True)
class Order:
    """Which steps wait for which, by their positions.

    Args:
        cycles: Each from a step back to itself; what closes one is left out of all else.
        before: Of each step the set of those that it waits for, directly or not, as bits.
        ranks: Of each step a number above those of all that it waits for.
    """

    before: list[int]
    ranks: list[int]
    cycles: list[list[int]] = field(default_factory=list[list[int]])

    def waits(self, later: int, earlier: int) -> bool:
        """Tell whether a step waits for another one, directly or not."""
        return bool(self.before[later] >> earlier & 1)


def order_of(needs: Sequence[Sequence[int]]) -> Order:
    """Look at a graph once, in time linear in its size.

    Args:
        needs: Of each step the positions of those that it waits for.
    """
    walk = _Walk(needs)
    for position in range(len(needs)):
        walk.visit(position)
    return walk.order


class _Walk:
    """A walk through the graph, what is waited for first; deeper than Python recurses."""

    def __init__(self, needs: Sequence[Sequence[int]]) -> None:
        self._needs = needs
        self._left: list[tuple[int, Iterator[int]]] = []
        self._open: dict[int, None] = {}
        self._finished = 0
        self.order = Order([0] * len(needs), [-1] * len(needs))

    def visit(self, position: int) -> None:
        if self.order.ranks[position] < 0:
            self._enter(position)
        while self._left:
            current, rest = self._left[-1]
            needed = next(rest, None)
            if needed is None:
                self._leave()
            elif needed in self._open:
                self._note_cycle(needed)
            elif self.order.ranks[needed] < 0:
                self._enter(needed)
            else:
                self.order.before[current] |= self.order.before[needed] | 1 << needed

    def _note_cycle(self, position: int) -> None:
        if len(self.order.cycles) < MOST_CYCLES:
            path = [*self._open]
            self.order.cycles.append([*path[path.index(position) :], position])

    def _enter(self, position: int) -> None:
        self._open[position] = None
        self._left.append((position, iter(self._needs[position])))

    def _leave(self) -> None:
        position, _ = self._left.pop()
        del self._open[position]
        self.order.ranks[position] = self._finished
        self._finished += 1
        if self._left:
            parent = self._left[-1][0]
            self.order.before[parent] |= self.order.before[position] | 1 << position
