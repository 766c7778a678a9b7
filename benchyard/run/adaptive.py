"""As many runs as a wanted precision takes, decided at looks that are declared up front.

``5..30 until 1%``: stop as soon as the median of every measured step is known to within 1 % of
itself, at the earliest after 5 runs and at the latest after 30. Looking at the numbers again and
again until they please is what makes intervals lie; so there are few looks, they are fixed before
the first run, and each is held to a stricter level, so that all of them together keep the promise
(``benchyard.statistics.sensitivity``).

Everything here follows from the rule and the records of the finished runs alone. So an execution
that was interrupted comes to the same answer as one that was not, and so does whoever asks later.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.quantity import percent
from benchyard.core.wording import runs_and
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.summary_metrics import counting
from benchyard.results.trust import Suspect, counts_suspect
from benchyard.statistics import median
from benchyard.statistics.intervals import LEVEL, fewest_for_median
from benchyard.statistics.sensitivity import Decision, decide, level_at, looks

#: The largest number of runs that may be asked for.
MAX_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Adaptive:
    """The rule, declared before the first run.

    Args:
        minimum: Fewest runs.
        maximum: Most runs; at this number it ends, precise or not.
        until: Wanted precision: half the interval of each step's median, relative to the median.
        level: What each step's interval covers its true median with, all looks together.

    Raises:
        InputError: If the rule could never be fulfilled, however quiet the steps are.
    """

    minimum: int
    maximum: int
    until: float
    level: float = LEVEL

    def __post_init__(self) -> None:
        fewest = fewest_for_median(self.level)
        if self.maximum < fewest:
            raise InputError(
                f"{self.maximum} runs tell no median at the {100 * self.level:g} % level, however "
                f"alike they are; allow at least {fewest}"
            )

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of finished runs at which it is looked, ascending; the last is the maximum."""
        return looks(self.minimum, self.maximum, self.level)

    def to_json(self) -> JsonObject:
        """Return the rule as each run's record has it."""
        return {
            **asdict(self),
            "looks": list[Json](self.looks),
            "level_at_each_look": level_at(self.looks, self.level),
        }


@dataclass(frozen=True, slots=True)
class Enough:
    """Whether there are enough runs, as the summary has it.

    Args:
        stopped: Whether no further run is wanted.
        precise: Whether every step is as precise as wanted.
        runs: Finished runs that there are.
        look: After how many runs it was last looked; None before the first look.
        steps: Step, as in ``2 load``, to what that look said of it.
        why: The whole of it as a sentence.
    """

    stopped: bool
    precise: bool
    runs: int
    look: int | None
    steps: Mapping[str, JsonObject]
    why: str


def _told(decision: Decision) -> JsonObject:
    """Return the interval to report (s), which is wider than one that nobody chose."""
    return {
        "precise": decision.precise,
        "half_width": decision.half_width,
        "low": decision.interval.low,
        "high": decision.interval.high,
        "level": decision.level_used,
    }


def rule_of(facts: Mapping[str, Json]) -> Adaptive | None:
    """Read the rule back from a record; None if there is none that can be read."""
    numbers = [facts.get(name) for name in ("minimum", "maximum", "until", "level")]
    match numbers:
        case [int(minimum), int(maximum), float(until), float(level)]:
            senseless = not (1 <= minimum <= maximum <= MAX_RUNS and until > 0 and 0 < level < 1)
        case _:
            return None
    if senseless:
        return None
    with suppress(InputError):
        return Adaptive(minimum, maximum, until, level)
    return None


# -- deciding


def enough(rule: Adaptive, records: Sequence[RunRecord]) -> Enough:
    """Decide whether there are enough runs; the first look at which there were decides.

    A look counts finished runs in the order in which they were made, so a run that failed and is
    done again later changes no look that was taken.

    Args:
        rule: The rule.
        records: Of the finished runs of this version of the case, in any order.
    """
    finished = [record for record in records if record.outcome is Outcome.COMPLETED]
    finished.sort(key=lambda record: record.began)
    answer = _before_the_first(rule, len(finished))
    for look in rule.looks:
        if look > len(finished):
            break
        answer = _look(rule, look, finished)
        if answer.stopped:
            break
    return answer


def _before_the_first(rule: Adaptive, done: int) -> Enough:
    why = f"the first look is after {rule.looks[0]} runs, {done} are done"
    return Enough(stopped=False, precise=False, runs=done, look=None, steps={}, why=why)


def _look(rule: Adaptive, look: int, finished: Sequence[RunRecord]) -> Enough:
    decisions = {
        step: decide(values, rule.looks, look, rule.until, rule.level)
        for step, values in _durations(finished[:look]).items()
    }
    wide = {step: one.half_width for step, one in decisions.items() if not one.precise}
    return Enough(
        stopped=not wide or look >= rule.maximum,
        precise=not wide,
        runs=len(finished),
        look=look,
        steps={step: _told(decision) for step, decision in decisions.items()},
        why=_why(rule, look, wide, len(decisions)),
    )


def _why(rule: Adaptive, look: int, wide: Mapping[str, float | None], steps: int) -> str:
    wanted = f"±{percent(rule.until, 6)}"
    if not wide:
        return f"after {look} runs every step is known to {wanted}"
    # What is not known at all is the widest.
    step, half_width = max(wide.items(), key=lambda item: (item[1] is None, item[1]))
    start = f"after {look} runs" + (", the most that were allowed," * (look >= rule.maximum))
    if len(wide) > 1:
        known = "not at all" if half_width is None else f"to ±{percent(half_width)}"
        some = f"{len(wide)} of {steps} steps are not known to {wanted}"
        return f"{start} {some}; the least is step {step}, {known}"
    if half_width is None:
        return f"{start} step {step} is not known at all"
    return f"{start} step {step} is known to ±{percent(half_width)}, not to {wanted}"


def _durations(records: Sequence[RunRecord]) -> dict[str, list[float]]:
    """Return the values of each measured step that ever succeeded, one a run (s).

    What is suspect counts as in the summary. A step that never succeeds has no
    precision to wait for.
    """
    found: dict[str, list[StepRecord]] = {}
    for record in records:
        for step in record.steps:
            if step.measure and step.outcome is Outcome.COMPLETED:
                found.setdefault(f"{step.index} {step.name}", []).append(step)
    return {name: _lengths(steps) for name, steps in found.items()}


def _lengths(steps: Sequence[StepRecord]) -> list[float]:
    included = counts_suspect(steps, Suspect.AUTO)
    counted = [counting(step, include_suspect=included) for step in steps]
    return [median([one.duration_s for one in made]) for made in counted if made]


# -- what a reader must know

#: What a record has beside the rule if earlier runs were made under others.
_EARLIER = "earlier_rules"
_UNDECLARED = (
    "the promised level holds only for a rule declared before the first run (--force does all "
    "again)"
)


def other_rule(rule: Adaptive | None, records: Sequence[RunRecord]) -> str | None:
    """Warn of finished runs that were made under another rule; None if there are none.

    Going on under a new rule is one more look that nobody declared.

    Args:
        rule: The present one; None for a fixed number of runs.
        records: Of the finished runs of this version of the case.
    """
    others = _others(rule, records)
    if not others:
        return None
    runs = _were([record for group in others for record in group])
    rules = " and ".join(_in_words(group[0].adaptive) for group in others)
    return (
        f"{runs} made under another rule for the number of runs ({rules}; now it is "
        f"{_in_words(_facts(rule))}); {_UNDECLARED}"
    )


def stored_rule(rule: Adaptive | None, summary: Mapping[str, Any]) -> str | None:
    """Warn where nothing is left to run and what is there was made under another rule.

    Args:
        rule: The present one; None for a fixed number of runs.
        summary: The case's ``summary.json``; nothing is said where it tells of no run.
    """
    adaptive: Mapping[str, Any] = summary.get("adaptive") or {}
    told: Mapping[str, Json] = adaptive.get("rule") or {}
    if not summary.get("n_runs") or told == _facts(rule):
        return None
    return (
        f"nothing was left to run, and the runs were made under another rule for their number "
        f"({_in_words(told)}; now it is {_in_words(_facts(rule))}); {_UNDECLARED}"
    )


def warnings_of(records: Sequence[RunRecord]) -> list[str]:
    """Warn, for the summary, of runs that were made under different rules; usually nothing.

    Args:
        records: Of the finished runs of one version of the case, in any order.
    """
    groups = _by_rule(records)
    if len(groups) < 2:
        return []
    told = "; ".join(
        f"{_were(group)} made under {_in_words(group[0].adaptive)}" for group in groups
    )
    return [f"the rule for the number of runs was changed: {told}; {_UNDECLARED}"]


def declared(rule: Adaptive | None, records: Sequence[RunRecord]) -> JsonObject:
    """Return what the record of a further run has: the rule, and others that went before it.

    Args:
        rule: The present one; None for a fixed number of runs.
        records: Of the finished runs of this version of the case.

    Returns:
        The rule, empty for a fixed number; with ``earlier_rules``, each with ``rule`` (empty for a
        fixed number) and ``runs``, if runs were made under others.
    """
    earlier: list[Json] = [_told_of(group) for group in _others(rule, records)]
    facts = _facts(rule)
    return {**facts, _EARLIER: earlier} if earlier else facts


def _told_of(group: Sequence[RunRecord]) -> JsonObject:
    runs: list[Json] = [*sorted(record.run for record in group)]
    return {"rule": _rule_facts(group[0].adaptive), "runs": runs}


def _others(rule: Adaptive | None, records: Sequence[RunRecord]) -> list[list[RunRecord]]:
    return [group for group in _by_rule(records) if _rule_facts(group[0].adaptive) != _facts(rule)]


def _by_rule(records: Sequence[RunRecord]) -> list[list[RunRecord]]:
    """Group records by their rules, in the order in which these were first followed."""
    groups: dict[str, list[RunRecord]] = {}
    for record in sorted(records, key=lambda record: record.began):
        key = json.dumps(_rule_facts(record.adaptive), sort_keys=True)
        groups.setdefault(key, []).append(record)
    return list(groups.values())


def _facts(rule: Adaptive | None) -> JsonObject:
    return {} if rule is None else rule.to_json()


def _rule_facts(adaptive: Mapping[str, Json]) -> JsonObject:
    return {name: value for name, value in adaptive.items() if name != _EARLIER}


def _in_words(facts: Mapping[str, Json]) -> str:
    rule = rule_of(facts)
    if rule is not None:
        return f"{rule.minimum}..{rule.maximum} until {percent(rule.until, 6)}"
    return "one that cannot be read" if _rule_facts(facts) else "a fixed number"


def _were(records: Sequence[RunRecord]) -> str:
    return runs_and(sorted(record.run for record in records), "was", "were")
