"""Profiles that know what each function cost and what its callers had of it, and no stacks.

Such a graph does not say which path took the time. What is drawn assumes that a function spends
alike whoever calls it, as gprof, flameprof and Speedscope do.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Generic, TypeVar

from benchyard.traces.building import TraceBuilder
from benchyard.traces.stacks import add_stacks

F = TypeVar("F")
_Calls = Mapping[F | None, Mapping[F, float]]
RARER = "(rarer paths)"
#: A path of less than this part of the whole, behind so many others or of more functions is not
#: drawn by itself.
_LEAST, _MOST_PATHS, _DEEPEST = 1e-4, 200_000, 1_000


class CallGraph(Generic[F]):
    """What functions cost.

    Costs are durations in the trace's unit, none negative. The caller None stands for whoever
    called from outside of the profile.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self.own: dict[F, float] = defaultdict(float)
        self._calls: dict[F | None, dict[F, float]] = defaultdict(lambda: defaultdict(float))

    def call(self, caller: F | None, callee: F, cost: float) -> None:
        """Add what calls cost, with all that they called in turn."""
        self._calls[caller][callee] += cost
        self.own[callee] += 0

    def draw(self, builder: TraceBuilder, track: int, name: Callable[[F], str]) -> None:
        """Add the tree of calls, the costs of each function split among its callers."""
        add_stacks(builder, track, _whole(self._paths(name)))

    def _paths(self, name: Callable[[F], str]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield paths, and what was spent at the end of each; callers before callees."""
        kept, order = self._without_cycles()
        shares = _shares(kept)
        whole: dict[F | None, float] = {}
        for one in order:
            inside = sum(share * whole[callee] for callee, share in shares[one].items())
            whole[one] = inside + (0 if one is None else self.own[one])
        left, least = dict(self.own), whole[None] * _LEAST
        waiting: list[tuple[tuple[str, ...], F | None, float]] = [((), None, 1)]
        for _ in range(_MOST_PATHS):
            if not waiting:
                break
            path, one, part = waiting.pop()
            if one is not None:
                path = (*path, name(one))
                left[one] -= part * self.own[one]
                yield path, part * self.own[one]
            if len(path) < _DEEPEST:
                waiting += (
                    (path, callee, part * share)
                    for callee, share in shares[one].items()
                    if part * share * whole[callee] > least
                )
        yield from (((RARER, name(one)), cost) for one, cost in left.items() if cost > 1)

    def _without_cycles(self) -> tuple[_Calls[F], list[F | None]]:
        """Return the calls without those that are recursive, and callees before their callers."""
        called = {one for callees in self._calls.values() for one in callees}
        roots = {one: 0.0 for one in self.own if one not in called} | self._calls.get(None, {})
        kept: dict[F | None, dict[F, float]] = defaultdict(dict)
        done: dict[F | None, None] = {}
        for root in chain(roots, self.own):  # behind the roots, what only circles call
            if root in roots or root not in done:
                kept[None][root] = roots.get(root, 0.0)
            way = {} if root in done else {root: iter(self._calls[root].items())}
            while way:
                at, rest = next(reversed(way.items()))
                for callee, cost in rest:
                    if callee not in way:
                        kept[at][callee] = cost
                        if callee not in done:
                            way[callee] = iter(self._calls[callee].items())
                            break
                else:
                    del way[at]
                    done[at] = None
        return kept, [*done, None]


def _shares(kept: _Calls[F]) -> _Calls[F]:
    """Return the part of each callee that each caller has; alike where nothing was measured."""
    callers = Counter(callee for callees in kept.values() for callee in callees)
    sums = defaultdict[F, float](float)
    for callee, cost in chain.from_iterable(one.items() for one in kept.values()):
        sums[callee] += cost
    found: dict[F | None, dict[F, float]] = defaultdict(dict)
    for caller, callees in kept.items():
        for one, cost in callees.items():
            found[caller][one] = cost / sums[one] if sums[one] else 1 / callers[one]
    return found


def _whole(paths: Iterator[tuple[tuple[str, ...], float]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield costs as whole numbers, of which no sum is off by more than one."""
    now = 0.0
    for path, cost in paths:
        yield path, round(now + cost) - round(now)
        now += cost
