"""How often the commands are executed, and after how many rounds their numbers are looked at."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from benchyard.core.fields import Share
from benchyard.core.quantity import percent, plural
from benchyard.statistics.ranks import fewest_values, smallest_p
from benchyard.statistics.sequential import level_at, looks, open_level, open_looks

#: Executions of each command before the first look, unless they take longer than ``FIRST_S``.
FIRST = 10
#: Seconds after which the first look is taken, if six executions of each are there by then: with
#: fewer the test cannot reach the level that it has at the first look.
FIRST_S = 3.0
_FEWEST = 6
#: More executions of each add nothing to what a second-long look at them costs.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """When to look, and what may stop the executions.

    Args:
        minimum: Rounds before the first look; a round executes each command once.
        maximum: Rounds after which no more follow; None where only the numbers and the clock stop.
        until: Relative precision of the difference that is enough.
        level: Chance of even one wrong verdict, over all pairs and looks together.
        threshold: Smallest relative difference that is called.
        min_s: Seconds of each command's own time before anything but the maximum stops.
        max_s: Seconds after which no further round begins.
    """

    minimum: int = FIRST
    maximum: int | None = None
    until: Annotated[float, Share()] = 0.01
    level: Annotated[float, Share()] = 0.01
    threshold: float = 0.01
    min_s: float = 0.0
    max_s: float = 60.0

    def levels(self) -> Iterator[tuple[int, float]]:
        """Yield after how many rounds to look, ascending, and what may go wrong at that look."""
        if self.maximum is None:
            yield from self._open()
            return
        declared = looks(self.minimum, self.maximum, 1 - self.level)
        share = 1 - level_at(declared, 1 - self.level)
        yield from ((at, share) for at in declared)

    def _open(self) -> Iterator[tuple[int, float]]:
        for number, at in enumerate(open_looks(self.minimum), start=1):
            yield min(at, MOST), 1 - open_level(number, 1 - self.level)
            if at >= MOST:
                return


def cannot_tell(plan: Plan, commands: int) -> str:
    """Say that so many executions can tell no two commands apart, however they differ.

    Returns:
        A sentence, with how many can; empty where they can, and where no number is given.
    """
    if plan.maximum is None or commands < 2:
        return ""
    *_, (n, share) = plan.levels()
    pairs = math.comb(commands, 2)
    if smallest_p(n, n) <= share / pairs:
        return ""
    over = f" over {pairs:,} comparisons" if pairs > 1 else ""
    return (
        f"{plural(n, 'execution')} of each cannot tell at the {percent(plan.level, 4)} level"
        f"{over}; {fewest_values(share / pairs)} can"
    )


def minimum_for(round_s: float) -> int:
    """Return the rounds before the first look, where one takes so many seconds.

    It is fixed by the first round alone, before any numbers are compared.
    """
    return max(_FEWEST, min(FIRST, math.floor(FIRST_S / max(round_s, 1e-9))))


def last_level(plan: Plan, looks_taken: int) -> float:
    """Return what may go wrong at a look that was not declared, because time ran out.

    It spends what the next look would have had, which then is never taken.
    """
    shares = [share for _, share in islice(plan.levels(), looks_taken + 1)]
    return shares[-1]
