"""What failed, as the JSON document of ``benchyard failures --json``.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from benchyard.analysis.failures.executions import WHOLE_RUN, Collected, StepTry, executions
from benchyard.analysis.failures.rates import (
    DAY,
    WEEK,
    Bucket,
    Fragile,
    by_fragility,
    rates,
    troubled,
)
from benchyard.core.model import Json, JsonObject
from benchyard.results.record import ErrorRecord

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
        "executed": _sums(steps),
        "steps": [_step(step) for step in steps if step.troubled],
        "executions": [_execution(one, link) for one in troubled(steps)],
        "rates": {every: [_bucket(one) for one in rates(found, every)] for every in (DAY, WEEK)},
    }


def _sums(steps: Sequence[Fragile]) -> JsonObject:
    real = [step for step in steps if step.step != WHOLE_RUN]
    return {
        "executions": sum(step.executions for step in real),
        "troubled": sum(len(step.troubled) for step in real),
        "attempts": sum(step.attempts for step in real),
        "failed_attempts": sum(step.failed_attempts for step in real),
        "broken_off": sum(len(step.troubled) for step in steps if step not in real),
    }


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
    return {
        "case": one.case,
        "run": one.run,
        "step": one.step,
        "id": one.id,
        "host": one.host,
        "started_at": one.started_at,
        "attempts": one.attempts,
        "outcome": one.outcome.value if one.outcome else None,
        "recovered": one.recovered,
        "duration_s": one.duration_s,
        "failed": [cast("Json", asdict(failed)) for failed in one.failed],
        "first_error": _error(one.first_error),
        "last_error": _error(one.last_error),
        "flow_run": dict(one.flow_run),
        "link": link(one.flow_run),
    }


def _error(error: ErrorRecord | None) -> Json:
    return None if error is None else {"type": error.type or None, "message": error.message}


def _bucket(one: Bucket) -> JsonObject:
    return {
        "first": one.first.isoformat(),
        "executions": one.executions,
        "troubled": one.troubled,
        "rate": one.rate,
        "attempts": one.attempts,
        "failed_attempts": one.failed_attempts,
    }
