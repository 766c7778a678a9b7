"""Failure rates: of each step, the most fragile first, and of each day or week."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from math import sqrt
from typing import Any

from benchyard.analysis.executions import WHOLE_RUN, StepTry
from benchyard.core.model import Outcome
from benchyard.core.wording import printable
from benchyard.results.reasons import reason, shorten_error, without_run
from benchyard.results.record import ErrorRecord

#: Two-sided 95 % of the normal distribution.
_Z = 1.96
DAY, WEEK = "day", "week"
_LENGTHS = {DAY: timedelta(days=1), WEEK: timedelta(days=7)}
#: Longer times are told by the week.
_MOST_DAYS = 21
#: So many are listed, the newest.
_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionCounts:
    """Some executions of steps.

    Args:
        executions: How many; each with all its attempts counts once. For the whole run: how often
            a run was tried.
        troubled: Those in which anything failed, oldest first.
        attempts: All of their attempts.
    """

    executions: int
    troubled: tuple[StepTry, ...]
    attempts: int

    @property
    def failed_attempts(self) -> int:
        """How many of the attempts failed."""
        return sum(len(one.failed) for one in self.troubled)

    @property
    def rate(self) -> float | None:
        """The share of the executions in which anything failed; None if there was none."""
        return len(self.troubled) / self.executions if self.executions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragile(ExecutionCounts):
    """One step of one case, over all its executions.

    Args:
        step: Its newest label.
    """

    case: str
    step: str

    @property
    def fragility(self) -> float:
        """The least rate that its executions leave likely; see ``least_rate``."""
        return least_rate(len(self.troubled), self.executions)

    @property
    def outcomes(self) -> dict[str, int]:
        """How the troubled executions ended: ``recovered``, an outcome, or ``no_end``."""
        return dict(Counter(_ending(one) for one in self.troubled))


def least_rate(some: int, of_all: int) -> float:
    """Return the least rate that ``some`` of ``of_all`` leave likely: 1 of 1 less than 9 of 10.

    The lower end of a 95 % interval.
    Source: E. B. Wilson, Probable Inference, JASA 22 (1927), 209-212.
    """
    rate, square = some / of_all, _Z * _Z
    spread = _Z * sqrt(rate * (1 - rate) / of_all + square / (4 * of_all * of_all))
    least = (rate + square / (2 * of_all) - spread) / (1 + square / of_all)
    return min(max(0.0, least), rate)  # what is beyond is rounding


def most_rate(some: int, of_all: int) -> float:
    """Return the greatest rate that ``some`` of ``of_all`` leave likely; see ``least_rate``."""
    return 1 - least_rate(of_all - some, of_all)


def _ending(execution: StepTry) -> str:
    if execution.outcome is None:
        return "no_end"
    recovered = execution.outcome is Outcome.COMPLETED
    return "recovered" if recovered else execution.outcome.value


def by_fragility(found: Iterable[StepTry]) -> list[Fragile]:
    """Return every step that was executed, the most fragile first."""
    grouped: dict[tuple[str, str], list[StepTry]] = {}
    runs: dict[str, set[tuple[int, str]]] = {}
    for one in found:
        grouped.setdefault((one.case, one.id), []).append(one)
        runs.setdefault(one.case, set()).add((one.run, one.started_at))
    steps = [
        _fragile(several, len(runs[case]) if step == "" else len(several))
        for (case, step), several in grouped.items()
    ]
    return sorted(steps, key=_order)


def _fragile(several: Sequence[StepTry], count: int) -> Fragile:
    newest = max(several, key=lambda one: one.began)
    return Fragile(case=newest.case, step=newest.step, **_counts(several, count))


def _counts(several: Sequence[StepTry], executions: int | None = None) -> dict[str, Any]:
    return {
        "executions": len(several) if executions is None else executions,
        "troubled": tuple(one for one in several if one.in_trouble),
        "attempts": sum(one.attempts for one in several),
    }


def _order(step: Fragile) -> tuple[float, int, str, bool, str]:
    whole = step.step != WHOLE_RUN
    return (-step.fragility, -len(step.troubled), step.case, whole, step.step)


def by_reason(found: Iterable[StepTry]) -> list[tuple[str, list[StepTry]]]:
    """Return why executions got into trouble, the most frequent reason first.

    Each with its executions, oldest first; errors that differ in the number of the run are alike.
    """
    grouped: dict[str, list[StepTry]] = {}
    for one in sorted(found, key=lambda one: one.began):
        if one.in_trouble:
            error = one.last_error
            why = without_run(reason(error)) if error else _ending(one).replace("_", " ")
            grouped.setdefault(why, []).append(one)
    return sorted(grouped.items(), key=lambda pair: -len(pair[1]))


def troubled(steps: Iterable[Fragile]) -> list[StepTry]:
    """Return the executions in which anything failed: of the most fragile step, newest first."""
    return [one for step in steps for one in reversed(step.troubled)]


def suiting(found: Sequence[StepTry]) -> str:
    """Return ``DAY``, or ``WEEK`` where executions span three weeks or more."""
    days = [_day(one) for one in found]
    return DAY if not days or (max(days) - min(days)).days < _MOST_DAYS else WEEK


def rates(found: Sequence[StepTry], every: str) -> dict[date, ExecutionCounts]:
    """Count what was executed in each day or week from the first to the last, empty ones too.

    Executions that stand for a whole run count like those of a step.

    Args:
        every: ``DAY`` or ``WEEK``, of UTC; weeks begin on Mondays.

    Returns:
        By the first day.
    """
    grouped: dict[date, list[StepTry]] = {}
    for one in found:
        grouped.setdefault(_first_day(_day(one), every), []).append(one)
    if not grouped:
        return {}
    last, first = max(grouped), min(grouped)
    count = min((last - first) // _LENGTHS[every] + 1, _MOST)
    days = [last - place * _LENGTHS[every] for place in reversed(range(count))]
    return {day: ExecutionCounts(**_counts(grouped.get(day, []))) for day in days}


def _day(execution: StepTry) -> date:
    return execution.began.astimezone(UTC).date()


def _first_day(day: date, every: str) -> date:
    return day - timedelta(days=day.weekday()) if every == WEEK else day


_WORDS = {"timed_out": "timed out", "no_end": "no end"}

#: Characters of an error in a table.
_ERROR = 60

#: Where two stand beside each other.
_BESIDE = 44

NOTHING = "-"


def outcome_word(execution: StepTry) -> str:
    """Say how an execution ended, after all retries."""
    if execution.recovered:
        return "recovered"
    name = execution.outcome.value if execution.outcome else "no_end"
    return _WORDS.get(name, name)


def endings(step: Fragile) -> str:
    """Say how the troubled executions of a step ended: ``3 recovered, 1 failed``."""
    counts = sorted(step.outcomes.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{count} {_WORDS.get(name, name)}" for name, count in counts)


def said(error: ErrorRecord | None, longest: int = _ERROR) -> str:
    """Return an error on one line, shortened where it gets long."""
    return NOTHING if error is None else shorten_error(printable(reason(error)), longest)


def first_and_last(execution: StepTry, longest: int = _BESIDE) -> tuple[str, str]:
    """Return the first and the last error for two cells beside each other: what differs."""
    first, last = execution.first_error, execution.last_error
    if len(execution.failed) < 2 or first is None or last is None:
        return said(first, longest), NOTHING
    if execution.same_errors:
        return said(first, longest), "the same"
    told = reason(first), reason(last)
    if told[0] == told[1]:
        told = " ".join(first.message.split()), " ".join(last.message.split())
    return _apart(printable(told[0]), printable(told[1]), longest)


def _apart(one: str, other: str, longest: int) -> tuple[str, str]:
    """Shorten two texts; where one is long, without the words that both begin with."""
    if max(len(one), len(other)) > longest:
        differs = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
        shared = one.rfind(" ", 0, next(differs, 0)) + 1
        one, other = (f"…{text[shared:]}" if shared else text for text in (one, other))
    return shorten_error(one, longest), shorten_error(other, longest)
