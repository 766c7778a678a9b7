"""What failed as tables, for the terminal, the explorer and reports."""

from collections.abc import Callable, Iterable, Sequence

from benchyard.analysis.executions import StepTry
from benchyard.analysis.failure_rates import (
    WEEK,
    Bucket,
    Fragile,
    by_reason,
    least_rate,
    most_rate,
    rates,
    suiting,
)
from benchyard.analysis.failure_wording import endings, first_and_last, outcome_word, said
from benchyard.core.model import Outcome
from benchyard.core.table import (
    COUNT,
    LONG,
    MOMENT,
    NUMBER,
    SECONDS,
    SHARE,
    Cell,
    Column,
    Row,
    Table,
)
from benchyard.core.wording import some

Href = Callable[[StepTry], str | None]
_RATE = (
    Column("executions", "Executed", COUNT),
    Column("troubled", "Trouble", COUNT),
    Column("rate", "Rate", SHARE),
    Column("least_rate", "From", SHARE),
    Column("most_rate", "To", SHARE),
    Column("attempts", "Attempts", COUNT),
    Column("failed_attempts", "Failed", COUNT),
)
_STEPS = (
    Column("step", "Step"),
    Column("case", "Case"),
    *_RATE,
    Column("endings", "Ended"),
    Column("last_error", "Last error", LONG),
)
_EXECUTIONS = (
    Column("started_at", "Began (UTC)", MOMENT),
    Column("case", "Case"),
    Column("run", "Run", NUMBER),
    Column("step", "Step"),
    Column("host", "Host"),
    Column("attempts", "Attempts", COUNT),
    Column("ended", "Ended"),
    Column("duration_s", "Took", SECONDS),
    Column("first_error", "First error", LONG),
    Column("last_error", "Last error", LONG),
)
_REASONS = (
    Column("reason", "Reason", LONG),
    Column("executions", "Executions", COUNT),
    Column("steps", "Steps"),
    Column("hosts", "Hosts"),
    Column("first", "First (UTC)", MOMENT),
    Column("last", "Last (UTC)", MOMENT),
)
#: Of a table on a page, where lines are broken.
ON_PAGE = 300


def _nowhere(_: StepTry) -> None:
    return None


def steps_table(steps: Iterable[Fragile], longest: int = 60, case_href: Href = _nowhere) -> Table:
    """Return the steps in trouble, in the order given.

    Args:
        longest: Characters of an error.
        case_href: Returns the page of the case of an execution.
    """
    rows = [
        [
            step.step,
            Cell(step.case, href=case_href(step.troubled[-1])),
            *_rate(step, len(step.troubled)),
            endings(step),
            said(step.troubled[-1].last_error, longest),
        ]
        for step in steps
        if step.troubled
    ]
    notes = ["From and to: the rates that so many executions leave likely (95 %, Wilson)."]
    empty = "No step was in trouble."
    return Table("steps", "Fragile steps", _STEPS, rows, notes=notes, empty=empty)


def _rate(one: Fragile | Bucket, trouble: int) -> Row:
    every = one.executions
    ends = (least_rate(trouble, every), most_rate(trouble, every)) if every else (None, None)
    marked = Cell(trouble, mark="bad" if trouble else "")
    return [every, marked, one.rate, *ends, one.attempts, one.failed_attempts]


def executions_table(
    found: Iterable[StepTry],
    longest: int = 44,
    case_href: Href = _nowhere,
    run_href: Href = _nowhere,
) -> Table:
    """Return executions in trouble, in the order given; see ``steps_table``."""
    rows = [
        [
            one.started_at,
            Cell(one.case, href=case_href(one)),
            Cell(one.run, href=run_href(one)),
            *(one.step, one.host, one.attempts),
            Cell(outcome_word(one), mark=_mark(one)),
            one.duration_s,
            *first_and_last(one, longest),
        ]
        for one in found
    ]
    return Table("executions", "Executions in trouble", _EXECUTIONS, rows)


def _mark(one: StepTry) -> str:
    marks = {Outcome.COMPLETED: "doubtful", Outcome.TOLERATED: "doubtful"}
    quiet = dict.fromkeys((Outcome.CANCELLED, Outcome.SKIPPED), "quiet")
    return (marks | quiet).get(one.outcome, "bad") if one.outcome else "bad"


def reasons_table(found: Iterable[StepTry], run_href: Href = _nowhere) -> Table:
    """Return why executions got into trouble, the most frequent reason first."""
    rows = [
        [
            reason,
            len(several),
            _some(f"{one.case} {one.step}" for one in several),
            _some(one.host for one in several),
            several[0].started_at,
            Cell(several[-1].started_at, href=run_href(several[-1])),
        ]
        for reason, several in by_reason(found)
    ]
    return Table("reasons", "Reasons", _REASONS, rows)


def _some(names: Iterable[str]) -> str:
    return some(dict.fromkeys(filter(None, names)))


def rates_table(found: Sequence[StepTry]) -> Table:
    """Return the rate of each day, or of each week where there are more than three."""
    every = suiting(found)
    buckets = [one for one in reversed(rates(found, every)) if one.executions]
    first = Column("first", "Week from" if every == WEEK else "Day")
    rows = [[one.first.isoformat(), *_rate(one, one.troubled)] for one in buckets]
    return Table("rates", "By week" if every == WEEK else "By day", (first, *_RATE), rows)
