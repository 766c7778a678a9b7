"""What failed: as tables for people, and as the JSON document of ``benchyard failures --json``.

The document, format ``benchyard-failures``:

since: ISO 8601 or null; nothing that began before it counts.
tries: how many tries of runs were looked at.
problems: a sentence for each damaged file or line that was left out.
steps: every step in trouble, the most fragile first, with ``executions``, ``troubled``, ``rate``,
``fragility`` (the least rate that these executions leave likely; it decides the order),
``attempts``, ``failed_attempts`` and ``outcomes`` (``recovered``, an outcome or ``no_end`` to how
often). ``executed``: such sums over all steps, in trouble or not, and ``broken_off``: how many
tries of a run ended outside of its steps.
executions: each in trouble, in the order of the steps, newest first: ``outcome`` after all retries
(null: its end was not recorded), ``duration_s``, ``failed`` (its failed attempts: ``number``,
``started_at``, ``duration_s``, ``outcome``, ``error``), ``first_error``, ``last_error``,
``flow_run`` and ``link`` (to the flow run in the UI, or null).
rates: ``day`` and ``week``, each a list of ``first`` (UTC; weeks begin on Mondays), ``executions``,
``troubled``, ``rate``, ``attempts`` and ``failed_attempts``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from benchyard.analysis.executions import WHOLE_RUN, Collected, StepTry, executions
from benchyard.analysis.failure_rates import (
    DAY,
    WEEK,
    ExecutionCounts,
    Fragile,
    by_fragility,
    by_reason,
    endings,
    first_and_last,
    least_rate,
    most_rate,
    outcome_word,
    rates,
    said,
    suiting,
    troubled,
)
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.quantity import plural
from benchyard.core.table import (
    COUNT,
    LONG,
    MOMENT,
    NUMBER,
    SECONDS,
    SHARE,
    TEXT,
    Cell,
    Column,
    Field,
    Table,
    text_table,
)
from benchyard.core.wording import some
from benchyard.results.attempts import RunAttempt
from benchyard.results.record import ErrorRecord

Href = Callable[[StepTry], str | None]


def _troubled(one: ExecutionCounts) -> Cell:
    return Cell(len(one.troubled), mark="bad" if one.troubled else "")


#: What ``ExecutionCounts`` tell; there is one execution, at least.
_RATE: Sequence[Field] = (
    ("executions", "Executed", COUNT, lambda one: one.executions),
    ("troubled", "Trouble", COUNT, _troubled),
    ("rate", "Rate", SHARE, lambda one: one.rate),
    ("least_rate", "From", SHARE, lambda one: least_rate(len(one.troubled), one.executions)),
    ("most_rate", "To", SHARE, lambda one: most_rate(len(one.troubled), one.executions)),
    ("attempts", "Attempts", COUNT, lambda one: one.attempts),
    ("failed_attempts", "Failed", COUNT, lambda one: one.failed_attempts),
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
    fields: Sequence[Field] = (
        ("step", "Step", TEXT, lambda one: one.step),
        ("case", "Case", TEXT, lambda one: Cell(one.case, href=case_href(one.troubled[-1]))),
        *_RATE,
        ("endings", "Ended", TEXT, endings),
        ("last_error", "Last error", LONG, lambda one: said(one.troubled[-1].last_error, longest)),
    )
    found = [one for one in steps if one.troubled]
    notes = ["From and to: the rates that so many executions leave likely (95 %, Wilson)."]
    empty = "No step was in trouble."
    return Table.of_things("steps", "Fragile steps", fields, found, notes=notes, empty=empty)


def executions_table(
    found: Iterable[StepTry],
    longest: int = 44,
    case_href: Href = _nowhere,
    run_href: Href = _nowhere,
) -> Table:
    """Return executions in trouble, in the order given; see ``steps_table``."""
    fields: Sequence[Field] = (
        ("started_at", "Began (UTC)", MOMENT, lambda one: one.started_at),
        ("case", "Case", TEXT, lambda one: Cell(one.case, href=case_href(one))),
        ("run", "Run", NUMBER, lambda one: Cell(one.run, href=run_href(one))),
        ("step", "Step", TEXT, lambda one: one.step),
        ("host", "Host", TEXT, lambda one: one.host),
        ("attempts", "Attempts", COUNT, lambda one: one.attempts),
        ("ended", "Ended", TEXT, lambda one: Cell(outcome_word(one), mark=_mark(one))),
        ("duration_s", "Took", SECONDS, lambda one: one.duration_s),
        ("first_error", "First error", LONG, lambda one: first_and_last(one, longest)[0]),
        ("last_error", "Last error", LONG, lambda one: first_and_last(one, longest)[1]),
    )
    return Table.of_things("executions", "Executions in trouble", fields, found)


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
    newest_first = reversed(rates(found, every).items())
    first = Column("first", "Week from" if every == WEEK else "Day")
    columns = (first, *(Column(key, head, kind) for key, head, kind, _ in _RATE))
    rows = [
        [day.isoformat(), *(value(one) for *_, value in _RATE)]
        for day, one in newest_first
        if one.executions
    ]
    return Table("rates", "By week" if every == WEEK else "By day", columns, rows)


_FINE = (Outcome.COMPLETED, Outcome.TOLERATED)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def retries_table(tries: Iterable[RunAttempt]) -> Table:
    """Return how to go on with the cases of whose runs a lab's last try was in vain."""
    last = {(one.case, one.run): one for one in tries}.values()
    vain = [one for one in last if not (one.under_way or one.outcome in _FINE)]
    rows = [(one.case, retry_command(one.flow_run)) for one in vain]
    return text_table(("CASE", "GO ON WITH"), [*dict.fromkeys(row for row in rows if row[1])])


def place_of(flow_run: Mapping[str, Json]) -> str | None:
    """Return the place of a flow run in Prefect's UI, below the UI's address; None for none."""
    identity = _identity(flow_run.get("id"))
    return f"/runs/flow-run/{identity}" if identity else None


def link_of(flow_run: Mapping[str, Json], ui: str | None) -> str | None:
    """Return the address of a flow run in Prefect's UI; None for none, or without a known UI."""
    place = place_of(flow_run)
    return f"{ui}{place}" if ui and place else None


def retry_command(flow_run: Mapping[str, Json]) -> str:
    """Return the command that goes on where a flow run of a lab ended; empty for any other."""
    identity = _identity(flow_run.get("retry"))
    return f"prefect flow-run retry {identity}" if identity else ""


def _identity(told: Json) -> str:
    return told if isinstance(told, str) and _ID.fullmatch(told) else ""


def summary(steps: Sequence[Fragile]) -> str:
    """Say in a sentence how much failed."""
    sums, off = _sums(steps), _broken_off(steps)
    tries = "1 try of a run" if off == 1 else f"{off:,} tries of runs"
    rest = f"; {tries} broke off outside of the steps" if off else ""
    executed = f"{plural(sums['executions'], 'execution')} of steps"
    if not sums["troubled"]:
        return f"nothing failed in {executed}{rest}"
    recovered = sum(one.recovered for step in steps for one in step.troubled)
    return (
        f"trouble in {sums['troubled']:,} of {executed}, {recovered:,} recovered; "
        f"{sums['failed_attempts']:,} of {sums['attempts']:,} attempts failed{rest}"
    )


FORMAT = "benchyard-failures"
VERSION = 1


def document(collected: Collected, since: str | None, ui: str | None) -> JsonObject:
    """Return the document.

    Args:
        since: Nothing that began before it is in ``collected``.
        ui: Address of Prefect's UI, for links to flow runs; None if it is not known.
    """
    found = list(executions(collected.tries))
    steps = by_fragility(found)
    return {
        "format": FORMAT,
        "version": VERSION,
        "since": since,
        "tries": len(collected.tries),
        "problems": list[Json](collected.problems),
        "executed": {**_sums(steps), "broken_off": _broken_off(steps)},
        "steps": [_step(step) for step in steps if step.troubled],
        "executions": [_execution(one, ui) for one in troubled(steps)],
        "rates": {every: _rates(found, every) for every in (DAY, WEEK)},
    }


def _sums(steps: Sequence[Fragile]) -> dict[str, int]:
    """Sum up steps, without the rows of whole runs."""
    real = [step for step in steps if step.step != WHOLE_RUN]
    return {
        "executions": sum(step.executions for step in real),
        "troubled": sum(len(step.troubled) for step in real),
        "attempts": sum(step.attempts for step in real),
        "failed_attempts": sum(step.failed_attempts for step in real),
    }


def _broken_off(steps: Sequence[Fragile]) -> int:
    """Count the tries of runs that broke off outside of their steps."""
    return sum(len(step.troubled) for step in steps if step.step == WHOLE_RUN)


def _step(step: Fragile) -> JsonObject:
    return {
        **{name: getattr(step, name) for name in ("case", "step", "fragility")},
        **_numbers(step),
        "outcomes": dict[str, Json](step.outcomes),
    }


def _rates(found: Sequence[StepTry], every: str) -> list[Json]:
    return [{"first": day.isoformat(), **_numbers(one)} for day, one in rates(found, every).items()]


def _numbers(one: ExecutionCounts) -> JsonObject:
    names = ("executions", "rate", "attempts", "failed_attempts")
    return {"troubled": len(one.troubled), **{name: getattr(one, name) for name in names}}


def _execution(one: StepTry, ui: str | None) -> JsonObject:
    fields = cast("JsonObject", asdict(one))
    del fields["error"]
    return {
        **fields,
        "recovered": one.recovered,
        "failed": [cast("Json", asdict(failed)) for failed in one.failed],
        "first_error": _error(one.first_error),
        "last_error": _error(one.last_error),
        "link": link_of(one.flow_run, ui),
    }


def _error(error: ErrorRecord | None) -> Json:
    return None if error is None else {"type": error.type or None, "message": error.message}
