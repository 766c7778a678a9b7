"""How long the host rests between two runs: long enough to cool, in proportion to what it did."""

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


def without_rest(whole: float, cooldown: float | None) -> float:
    """Return the length of a run that took so long together with the rest after it (s)."""
    if cooldown is None:
        return max(whole / (1 + SHARE), whole - LONGEST)
    return max(0.0, whole - cooldown)
