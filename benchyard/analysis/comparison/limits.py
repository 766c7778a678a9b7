"""Rules of ``check``: how far a metric of a step may change, and who is asked if it changes more.

A rule is ``CASE:STEP METRIC LIMIT OWNER``. Of those that match a row and fit its metric the last
holds: its limit takes the place of the threshold, and its sign says which way is worse.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isclose

from benchyard.core.amounts import unit_size
from benchyard.core.errors import InputError
from benchyard.core.wording import quote
from benchyard.results.summary_metrics import LARGER, SMALLER
from benchyard.statistics.comparison import Difference

#: CASE:STEP METRIC LIMIT OWNER. A title may have blanks.
_RULE = re.compile(
    r"(.+):(\S+)\s+(\S+)\s+([-+±]?([0-9]{1,15}(?:\.[0-9]{1,15})?)(%|[A-Za-zµμ/][^\s%]*|))"
    r"(?:\s+(\S+))?"
)
#: A unit that takes a prefix; its groups are what it is a multiple of.
_UNIT = re.compile(r"(?:%|[pnuµμm]?(s|J|W)|[kKMGTP]?(Hz|J|W)|(?:[kKMGTP]i?)?(B|bit))(/s)?")


@dataclass(frozen=True, slots=True)
class Limit:
    """One rule.

    Args:
        text: As the user wrote it.
        case: Glob over titles; a bracket in it stands for itself, as in a title.
        step: Glob over ids, as ``metric`` is over names.
        limit: As the user wrote it. ``+`` or ``-`` says which way is worse; else the metric does.
        size: Of it, in the unit; of ``%`` the relative number, 0.05 for 5 %.
        unit: Empty for that of the metric.
        owner: Who is asked.
    """

    text: str
    case: str
    step: str
    metric: str
    limit: str
    size: float
    unit: str
    owner: str

    def is_about(self, case: str) -> bool:
        """Tell whether a case is meant."""
        return fnmatchcase(case, self.case.replace("[", "[[]"))

    def matches(self, case: str, step: str, metric: str) -> bool:
        """Tell whether a row is meant."""
        fits = fnmatchcase(step, self.step) and fnmatchcase(metric, self.metric)
        return fits and self.is_about(case)

    def better(self, direction: str | None) -> str | None:
        """Return the direction that a row is judged by; None if neither is known to be better."""
        return {"+": SMALLER, "-": LARGER}.get(self.limit[0], direction)

    def misfit(self, metric: str, unit: str | None, direction: str | None) -> str:
        """Return why it can never fire for a metric; empty if it can."""
        if _factor(self.unit, unit) is None:
            return f"the unit of {metric} is {unit or 'not known'}"
        better = self.better(direction)
        if better is None:
            return f"which way {metric} gets worse is not known; write + or - before the limit"
        return f"of {metric}, {direction}" if direction not in (None, better) else ""

    def allows(self, one: Difference, unit: str | None) -> bool:
        """Tell whether a change is within the limit; no share of 0 allows any."""
        change = one.change if self.unit == "%" else one.shift
        most = self.size * (_factor(self.unit, unit) or 1.0)
        return change is not None and (abs(change) <= most or isclose(abs(change), most))


def read_rules(texts: Sequence[str]) -> tuple[Limit, ...]:
    """Read rules.

    Raises:
        InputError: With all that are wrong, and why.
    """
    found = [_read(text.strip()) for text in texts]
    wrong = [one for one in found if isinstance(one, str)]
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(one for one in found if isinstance(one, Limit))


def _read(text: str) -> Limit | str:
    """Return a rule, or what is wrong with it."""
    match = _RULE.fullmatch(text)
    if match is None:
        return f"rule '{quote(text)}': write CASE:STEP METRIC LIMIT OWNER, as a:* cpu_s +5% ada"
    case, step, metric, limit, size, unit, owner = match.groups("")
    if not owner or (not unit and _UNIT.fullmatch(owner)):
        return f"rule '{quote(text)}' has no owner; write behind the limit who is asked"
    amount = float(size) / (100 if unit == "%" else 1)
    return Limit(text, case, step, metric, limit, amount, unit, owner)


def _factor(written: str, unit: str | None) -> float | None:
    """Return how many of a metric's unit one of a unit is; None if it is of another kind."""
    if written in ("", "%", unit, (unit or "").removeprefix("1")):
        return 1.0
    found = _UNIT.fullmatch(written)
    same = found and "".join(found.groups("")) == unit
    return float(unit_size(written)) if same else None
