"""From a wish to a plan: the cases with their runs, in order."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchyard.case.registry import Registry
from benchyard.case.selection import find_cases
from benchyard.case.subject.current import current_subject
from benchyard.core.errors import InputError
from benchyard.core.model import Case
from benchyard.results.layout import results_folder
from benchyard.run.ordering import Order, Turn, turns
from benchyard.suite.choosing import Chooser, Entry
from benchyard.suite.course import Limits
from benchyard.suite.wish import Wish


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What a suite is going to do.

    Args:
        entries: All selected cases.
        turns: Their runs, in order; they count the entries.
        seed: Of the random order; None where the order is another.
    """

    entries: Sequence[Entry]
    turns: Sequence[Turn]
    seed: int | None

    @property
    def runs(self) -> int:
        """How many runs there are to execute."""
        return sum(len(turn.runs) for turn in self.turns)


def make_suite_plan(
    wish: Wish,
    registry: Registry,
    began: datetime,
    chance: Callable[[], int] = lambda: random.randrange(2**31),  # noqa: S311 - an order, no secret
) -> SuitePlan:
    """Select the cases, look up what is done of them, and order what is not.

    Args:
        registry: The resource classes that there are.
        began: When the suite began at first.
        chance: Gives a seed where the wish has none.

    Raises:
        InputError: If the wish selects nothing, or cannot be meant.
    """
    wish.check()
    root = Path(wish.root)
    elsewhere = Path(wish.results).resolve() if wish.results else None

    def folder_of(case: Case) -> Path:
        return results_folder(case, root, elsewhere)

    loaded = find_cases(root, wish.cases, wish.tags, registry)
    chooser = Chooser(wish, began, lambda case: current_subject(case, registry, folder_of(case)))
    entries = chooser.choose(loaded, folder_of)
    if not entries:
        raise InputError(f"no cases below {root.resolve()}")
    return SuitePlan(entries, *_ordered(wish, entries, chance))


def _ordered(
    wish: Wish, entries: Sequence[Entry], chance: Callable[[], int]
) -> tuple[list[Turn], int | None]:
    order = Order(wish.order)
    if order is not Order.RANDOM:
        return turns([entry.runs for entry in entries], order, 0), None
    seed = chance() if wish.seed is None else wish.seed
    return turns([entry.runs for entry in entries], order, seed), seed


def limits_of(wish: Wish) -> Limits:
    """Return when a suite that is wished for begins nothing more."""
    budget = None if wish.budget is None else wish.budget * 3600
    return Limits(budget, wish.cooldown, wish.fail_fast)
