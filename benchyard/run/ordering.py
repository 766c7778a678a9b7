"""In which order runs of cases are executed, and how long the host rests between two of them."""

import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchyard.core.model import JsonObject


class Order(StrEnum):
    """How runs of several cases follow each other.

    Interleaving keeps a slow drift of the host from being taken for a difference between cases.
    """

    CASE = "case"
    ROUND_ROBIN = "round-robin"
    RANDOM = "random"


def new_session(order: Order = Order.CASE) -> str:
    """Name a new execution of a command, as ``ORDER:ID``."""
    return f"{order}:{uuid.uuid4().hex}"


def session_facts(name: str) -> JsonObject:
    """Return the session of a record from its name."""
    order, _, identity = name.partition(":")
    return {"id": identity, "order": order}


@dataclass(frozen=True, slots=True)
class Turn:
    """Some runs of one case in a row.

    Args:
        case: Position of the case in the selection, from 0.
        runs: Numbers of the runs.
    """

    case: int
    runs: tuple[int, ...]


def turns(wanted: Sequence[Sequence[int]], order: Order, seed: int) -> list[Turn]:
    """Order the wanted runs of several cases.

    Args:
        wanted: For each case the numbers of the runs to execute.
        order: How the runs follow each other.
        seed: Of the random order; the same seed gives the same order.

    Returns:
        Turns that hold every wanted run once; the runs of one case stay in ascending order.
    """
    if order is Order.CASE:
        return [Turn(case, tuple(runs)) for case, runs in enumerate(wanted) if runs]
    rounds = max(map(len, wanted), default=0)
    singles = [case for n in range(rounds) for case, runs in enumerate(wanted) if n < len(runs)]
    if order is Order.RANDOM:
        random.Random(seed).shuffle(singles)  # noqa: S311 - an order, not a secret
    left = [iter(runs) for runs in wanted]
    return [Turn(case, (next(left[case]),)) for case in singles]


#: Share of a run's length that the host rests after it: work of two thirds of the time at most.
SHARE = 0.5
#: Longest rest that is chosen by itself (s): caches, disks and fans settle within seconds.
LONGEST = 15.0


def cooldown_of(asked: float | None, of_case: float | None) -> float | None:
    """Return the cooldown that counts: the one asked for, else the case's own; None is automatic.

    Args:
        asked: Of a request, in seconds; None asks for none in particular.
        of_case: As the case says, in seconds; None if it leaves it open.
    """
    return of_case if asked is None else asked


def rest_after(took: float, cooldown: float | None) -> float:
    """Return how long the host rests after a run (s).

    Args:
        took: Length of the run, in seconds.
        cooldown: A fixed rest in seconds; None is automatic, in proportion to the run.
    """
    return min(SHARE * took, LONGEST) if cooldown is None else cooldown
