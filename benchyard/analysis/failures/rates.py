"""How much failed, over time: by the day, or by the week."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta

from benchyard.analysis.failures.executions import Execution

DAY, WEEK = "day", "week"
_LENGTHS = {DAY: timedelta(days=1), WEEK: timedelta(days=7)}
#: Longer times are told by the week.
_MOST_DAYS = 21
#: So many are listed, the newest.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Bucket:
    """One day or week, UTC.

    Args:
        first: Its first day; weeks begin on Mondays.
        executions: Steps executed in runs that began in it.
        troubled: Those in which anything failed.
        attempts: Attempts of all of them.
        failed_attempts: Those that failed.
    """

    first: date
    executions: int = 0
    troubled: int = 0
    attempts: int = 0
    failed_attempts: int = 0

    @property
    def rate(self) -> float | None:
        """The share of executions in which anything failed; None if there was none."""
        return self.troubled / self.executions if self.executions else None


def suiting(found: Sequence[Execution]) -> str:
    """Return which length suits the time that executions span."""
    days = [_day(one) for one in found]
    return DAY if not days or (max(days) - min(days)).days < _MOST_DAYS else WEEK


def rates(found: Sequence[Execution], every: str) -> list[Bucket]:
    """Return the rate of each day or week from the first execution to the last, empty ones too.

    Executions that stand for a whole run count like those of a step.

    Args:
        every: ``DAY`` or ``WEEK``.
    """
    grouped: dict[date, list[Execution]] = {}
    for one in found:
        grouped.setdefault(_first_day(_day(one), every), []).append(one)
    if not grouped:
        return []
    last, first = max(grouped), min(grouped)
    count = min((last - first) // _LENGTHS[every] + 1, _MOST)
    days = [last - place * _LENGTHS[every] for place in reversed(range(count))]
    return [_bucket(day, grouped.get(day, [])) for day in days]


def _day(execution: Execution) -> date:
    return execution.began.astimezone(UTC).date()


def _first_day(day: date, every: str) -> date:
    try:
        return day - timedelta(days=day.weekday()) if every == WEEK else day
    except OverflowError:  # the first days that there are
        return day


def _bucket(first: date, several: Sequence[Execution]) -> Bucket:
    return Bucket(
        first,
        executions=len(several),
        troubled=sum(one.in_trouble for one in several),
        attempts=sum(one.attempts for one in several),
        failed_attempts=sum(len(one.failed) for one in several),
    )
