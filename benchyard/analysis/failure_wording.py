"""What failed, in words and figures, and as the JSON document of ``benchyard failures --json``.

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
    Bucket,
    Fragile,
    by_fragility,
    rates,
    troubled,
)
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.quantity import plural
from benchyard.core.table import Table, text_table
from benchyard.core.wording import printable
from benchyard.results.attempts import RunAttempt
from benchyard.results.reasons import reason, shorten_error
from benchyard.results.record import ErrorRecord

_WORDS = {"timed_out": "timed out", "no_end": "no end"}
#: Characters of an error in a table.
_ERROR = 60
#: Where two stand beside each other.
_BESIDE = 44
NOTHING = "-"
_FINE = (Outcome.COMPLETED, Outcome.TOLERATED)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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

Link = Callable[[Mapping[str, Json]], str | None]


def document(collected: Collected, since: str | None, link: Link) -> JsonObject:
    """Return the document.

    Args:
        since: Nothing that began before it is in ``collected``.
        link: Returns the address of a flow run in the UI.
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
        "executions": [_execution(one, link) for one in troubled(steps)],
        "rates": {every: [_bucket(one) for one in rates(found, every)] for every in (DAY, WEEK)},
    }


def _sums(steps: Sequence[Fragile]) -> dict[str, int]:
    """Sum up steps; whole runs are no steps."""
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
        "case": step.case,
        "step": step.step,
        "executions": step.executions,
        "troubled": len(step.troubled),
        "rate": step.rate,
        "fragility": step.fragility,
        "attempts": step.attempts,
        "failed_attempts": step.failed_attempts,
        "outcomes": dict[str, Json](step.outcomes),
    }


def _execution(one: StepTry, link: Link) -> JsonObject:
    fields = cast("JsonObject", asdict(one))
    del fields["error"]
    return {
        **fields,
        "recovered": one.recovered,
        "failed": [cast("Json", asdict(failed)) for failed in one.failed],
        "first_error": _error(one.first_error),
        "last_error": _error(one.last_error),
        "link": link(one.flow_run),
    }


def _error(error: ErrorRecord | None) -> Json:
    return None if error is None else {"type": error.type or None, "message": error.message}


def _bucket(one: Bucket) -> JsonObject:
    return {**asdict(one), "first": one.first.isoformat(), "rate": one.rate}
