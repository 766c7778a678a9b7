"""As many runs as a wanted precision takes, decided at looks that are declared up front.

``5..30 until 1%``: stop as soon as the median of every measured step is known to within 1 % of
itself, at the earliest after 5 runs and at the latest after 30. Looking at the numbers again and
again until they please is what makes intervals lie; so there are few looks, they are fixed before
the first run, and each is held to a stricter level, so that all of them together keep the promise
(``benchyard.statistics.sequential``).

Everything here follows from the rule and the records of the finished runs alone. So an execution
that was interrupted comes to the same answer as one that was not, and so does whoever asks later.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchyard.errors import InputError
from benchyard.model import Json, JsonObject, Outcome
from benchyard.record import RunRecord
from benchyard.statistics import median
from benchyard.statistics.intervals import LEVEL, median_rank
from benchyard.statistics.sequential import Decision, decide, level_at, looks

#: The largest number of runs that may be asked for.
MAX_RUNS = 100_000
_RUNS = re.compile(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?")
_PERCENT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) ?%")


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
        fewest = next(n for n in range(1, MAX_RUNS) if median_rank(n, self.level)[0])
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
            "minimum": self.minimum,
            "maximum": self.maximum,
            "until": self.until,
            "level": self.level,
            "looks": list[Json](self.looks),
            "level_at_each_look": level_at(self.looks, self.level),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether there are runs enough.

    Args:
        stop: Whether no further run is wanted.
        precise: Whether every step is as precise as wanted.
        done: Finished runs that there are.
        look: After how many runs it was last looked; None before the first look.
        decisions: Step, as in ``02 load``, to what that look said of it.
        why: The whole of it as a sentence.
    """

    stop: bool
    precise: bool
    done: int
    look: int | None
    decisions: Mapping[str, Decision]
    why: str

    @property
    def half_widths(self) -> dict[str, float | None]:
        """Relative half-width of each step's interval; None where there is no interval."""
        return {step: decision.half_width for step, decision in self.decisions.items()}

    def to_json(self) -> JsonObject:
        """Return the answer as the summary has it."""
        return {
            "stopped": self.stop,
            "precise": self.precise,
            "runs": self.done,
            "look": self.look,
            "steps": {step: _told(decision) for step, decision in self.decisions.items()},
            "why": self.why,
        }


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
            return Adaptive(minimum, maximum, until, level)
        case _:
            return None


# -- reading what the user asks for


def parse_runs(text: str, until: str | None = None) -> tuple[int, Adaptive | None]:
    """Read ``--runs 5`` or ``--runs 5..30``, the latter with ``--until 1%``.

    Returns:
        The largest number of runs, and the rule; None for a fixed number.

    Raises:
        InputError: If they are not written so, do not go together or cannot decide anything.
    """
    match = _RUNS.fullmatch(text.strip()) if text.isascii() else None
    if match is None:
        raise InputError(f"--runs {text!r}: write a number such as 5, or a range such as 5..30")
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= MAX_RUNS:
        raise InputError(
            f"--runs {text!r}: there can be 1 to {MAX_RUNS:,} runs, and a range goes up"
        )
    if match[2] is None:
        if until is not None:
            raise InputError(f"--until {until!r} needs a range of runs such as --runs 5..30")
        return last, None
    if until is None:
        raise InputError(f"--runs {text!r} needs the precision to stop at, such as --until 1%")
    return last, Adaptive(first, last, _parse_until(until))


def _parse_until(text: str) -> float:
    until = parse_percent(text)
    if not 0 < until < 1:
        raise InputError(f"--until {text!r}: the precision lies between 0% and 100%")
    return until


def parse_percent(text: str) -> float:
    """Read ``1%``, ``0.5 %`` as a relative number, 0.01 and 0.005.

    The sign is asked for: without it one reader takes 0.01 for 1 %, the other for a 10,000th.

    Raises:
        InputError: If it is not written so.
    """
    match = _PERCENT.fullmatch(text.strip()) if text.isascii() else None
    if match is None:
        raise InputError(f"{text!r} is no percentage; write it with its sign, such as 1%")
    return float(match[1]) / 100


# -- deciding


def next_run(
    rule: Adaptive, records: Sequence[RunRecord], tried: Collection[int] = ()
) -> int | None:
    """Return the number of the run to execute next; None if there are enough.

    Args:
        records: Of the finished runs of this version of the case, in any order.
        tried: Runs that this execution has tried already: one that failed is not tried again.
    """
    if enough(rule, records).stop:
        return None
    taken = {record.run for record in records} | set(tried)
    return next((run for run in range(1, rule.maximum + 1) if run not in taken), None)


def enough(rule: Adaptive, records: Sequence[RunRecord]) -> Answer:
    """Tell whether there are runs enough, by the first look at which there were.

    A look counts finished runs in the order in which they were made, so a run that failed and is
    done again later changes no look that was taken.

    Args:
        records: Of the finished runs of this version of the case, in any order.
    """
    finished = [record for record in records if record.outcome is Outcome.COMPLETED]
    finished.sort(key=lambda record: record.started_at)
    answer = _before_the_first(rule, len(finished))
    for look in rule.looks:
        if look > len(finished):
            break
        answer = _look(rule, look, finished)
        if answer.stop:
            break
    return answer


def _before_the_first(rule: Adaptive, done: int) -> Answer:
    why = f"the first look is after {rule.looks[0]} runs, {done} are done"
    return Answer(stop=False, precise=False, done=done, look=None, decisions={}, why=why)


def _look(rule: Adaptive, look: int, finished: Sequence[RunRecord]) -> Answer:
    decisions = {
        step: decide(values, rule.looks, look, rule.until, rule.level)
        for step, values in _durations(finished[:look]).items()
    }
    wide = {step: one.half_width for step, one in decisions.items() if not one.precise}
    return Answer(
        stop=not wide or look >= rule.maximum,
        precise=not wide,
        done=len(finished),
        look=look,
        decisions=decisions,
        why=_why(rule, look, wide),
    )


def _why(rule: Adaptive, look: int, wide: Mapping[str, float | None]) -> str:
    wanted = f"±{100 * rule.until:g} %"
    if not wide:
        return f"after {look} runs every step is known to {wanted}"
    step, half_width = max(wide.items(), key=lambda item: _or_infinite(item[1]))
    known = "not at all" if half_width is None else f"to ±{100 * half_width:.2g} %"
    last = ", the most that were allowed," if look >= rule.maximum else ""
    more = f" and {len(wide) - 1} more" if len(wide) > 1 else ""
    return f"after {look} runs{last} step {step} is known {known}, not to {wanted}{more}"


def _or_infinite(half_width: float | None) -> float:
    return float("inf") if half_width is None else half_width


def _durations(records: Sequence[RunRecord]) -> dict[str, list[float]]:
    """Return the values of each measured step that ever succeeded, one a run (s).

    What is suspect counts as little here as in the summary. A step that never succeeds has no
    precision to wait for.
    """
    found: dict[str, list[float]] = {}
    for record in records:
        for step in record.steps:
            if step.measure and step.outcome is Outcome.COMPLETED:
                values = found.setdefault(f"{step.index:02d} {step.name}", [])
                if not step.suspect and step.durations_s:
                    values.append(median(step.durations_s))
    return found


# -- what a reader must know


def other_rule(rule: Adaptive | None, records: Sequence[RunRecord]) -> str | None:
    """Warn of finished runs that were made under another rule; None if there are none.

    Going on under a new rule is one more look that nobody declared.

    Args:
        rule: The present one; None for a fixed number of runs.
        records: Of the finished runs of this version of the case.
    """
    now = {} if rule is None else rule.to_json()
    other = sorted(record.run for record in records if dict(record.adaptive) != now)
    adaptive = rule is not None or any(record.adaptive for record in records)
    if not other or not adaptive:
        return None
    runs = ", ".join(map(str, other))
    return (
        f"run {runs} was made under another rule for the number of runs; the promised level "
        "holds only for a rule declared before the first run (--force does all again)"
    )
