"""What the figures of one step's runs mean for whoever measures, in words."""

from collections.abc import Sequence

from benchyard.core.quantity import percent
from benchyard.statistics.diagnostics import drift_p, first_p, outliers
from benchyard.statistics.intervals import fewest_for_median, median_interval
from benchyard.statistics.measures import median
from benchyard.statistics.sensitivity import (
    expected_half_width,
    relative_half_width,
    relative_spread,
    runs_for_precision,
)

#: Probability of advice on runs that are in order; for each of the tests below.
_ALARM = 0.01
#: Precision that is asked for unless said otherwise, and the least effect that advice is given on.
UNTIL = 0.01
#: Two groups are told apart by a gap wider than 15 / n of the wider group, with at least 3 values
#: and a fifth of all in each. Simulated, 1 % or less of normal and uniform samples of 8 and more
#: have such a gap (benchmarks/statistics_power.py); there is no exact test for so few values.
_GAP = 15.0
_FEWEST_GROUPED = 8
#: Who made few runs is not sent for hundreds: advice goes up to so many times the runs that there
#: are, or to so many.
_TIMES = 4
_REACH = 100
#: More values than this are counted instead of named.
_MOST_NAMED = 10


def advise(
    values: Sequence[float],
    *,
    until: float = UNTIL,
    known: str = "",
    more_runs: bool = True,
) -> tuple[str, ...]:
    """Say what is wrong with the times of a step's runs, and what to do.

    Args:
        values: One for each run, in the order of their making.
        until: Wanted relative precision of the median; effects below it are not worth words.
        known: In what the runs are known to differ, in words; nothing if that is not known.
        more_runs: Whether it is said how many runs the precision takes.

    Returns:
        One sentence each, the most urgent first; nothing to say is no advice.
    """
    if len(values) < 2:
        return (_too_few(values),)
    if min(values) == max(values):
        return (_identical(values),)
    slow = _first_run(values, until)
    rest = values[1:] if slow else values
    found = (
        slow,
        _drift(rest, until, known),
        _groups(rest, until, known),
        _wild(values, until, slow),
    )
    more = _more_runs(values, rest, until) if more_runs else ""
    return tuple(sentence for sentence in (*found, more) if sentence)


def _too_few(values: Sequence[float]) -> str:
    if not values:
        return "no run yielded a value: nothing can be said"
    return f"one value tells nothing about its spread: execute {fewest_for_median()} runs"


def _identical(values: Sequence[float]) -> str:
    return (
        f"all {len(values)} values are equal, which times never are unless the clock is too coarse "
        "for them: repeat the command inside the step"
    )


def _first_run(values: Sequence[float], until: float) -> str:
    others = median(values[1:])
    change = _relative(values[0] - others, others)
    if first_p(values) > _ALARM or change < until:
        return ""
    return f"slow first run ({percent(change)} above the others): add a warm-up run"


def _drift(values: Sequence[float], until: float, known: str) -> str:
    third = max(1, len(values) // 3)
    early, late = median(values[:third]), median(values[-third:])
    change = _relative(late - early, early)
    if drift_p(values) > _ALARM or abs(change) < until:
        return ""
    way = "rise" if change > 0 else "fall"
    return (
        f"the values {way} over the runs (by {percent(abs(change))} from the first third to the "
        "last): " + _cause(known, "look for what fills up, heats up or is still warming up")
    )


def _groups(values: Sequence[float], until: float, known: str) -> str:
    n, ascending = len(values), sorted(values)
    fewest = max(3, -(-n // 5))
    if n < _FEWEST_GROUPED:
        return ""

    def gap(at: int) -> float:
        return ascending[at] - ascending[at - 1]

    at = max(range(fewest, n - fewest + 1), key=gap)
    lower, upper = ascending[:at], ascending[at:]
    wider = max(lower[-1] - lower[0], upper[-1] - upper[0])
    centres = median(lower), median(upper)
    change = _relative(centres[1] - centres[0], centres[0])
    if gap(at) <= _GAP / n * wider or change < until:
        return ""
    return (
        f"two groups of values, {percent(abs(change))} apart ({len(lower)} and {len(upper)} runs): "
        "the runs are not alike; "
        + _cause(known, "look for what alternates, such as placement, caches or frequency")
    )


def _cause(known: str, unknown: str) -> str:
    return f"they differ in {known}" if known else unknown


def _wild(values: Sequence[float], until: float, slow: str) -> str:
    centre = median(values)
    far = [
        at + 1
        for at in outliers(values)
        if abs(_relative(values[at] - centre, centre)) >= until and not (slow and at == 0)
    ]
    if not far:
        return ""
    if len(far) > _MOST_NAMED:
        return (
            f"{len(far)} of {len(values)} values are far from the others: look what disturbs them"
        )
    if len(far) == 1:
        return f"value {far[0]} of {len(values)} is far from the others: look what disturbed it"
    named = f"{', '.join(map(str, far[:-1]))} and {far[-1]}"
    return f"values {named} of {len(values)} are far from the others: look what disturbed them"


def _more_runs(values: Sequence[float], alike: Sequence[float], until: float) -> str:
    """Say how many runs the precision takes; a slow first one (not ``alike``) hides the spread."""
    half_width = relative_half_width(values, median_interval(values))
    spread = relative_spread(alike)
    if spread is None or (half_width is not None and half_width <= until):
        return ""
    n = len(values)
    if half_width is None:
        fewest = fewest_for_median()
        expected = expected_half_width(spread, fewest)
        return (
            f"{n} runs give no interval of the median; {fewest} runs give one, of about "
            f"±{percent(expected or 0.0)}"
        )
    wanted, needed = f"±{percent(until, 6)}", runs_for_precision(spread, until)
    most = max(_TIMES * n, _REACH)
    if needed is None or needed > most:
        return f"{wanted} needs more than {most} runs: the values vary by {percent(spread)}"
    # Where the spread would do, these runs happen to lie unevenly: a few more will.
    return f"{wanted} needs about {max(needed, n + 1)} runs of this session"


def _relative(difference: float, base: float) -> float:
    """Return a difference by its base; of a base of 0 any is infinitely large."""
    if base:
        return difference / abs(base)
    return float("inf") if difference > 0 else float("-inf") if difference < 0 else 0.0
