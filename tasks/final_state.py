"""From what an execution yielded to the state that its flow run ends in."""

from collections.abc import Iterable
from typing import Any

from prefect import State
from prefect.states import Cancelled, Completed, Failed

from benchyard.core.errors import CaseFailedError
from benchyard.core.wording import printable
from benchyard.results.reasons import why_failed
from benchyard.results.record import RunRecord
from benchyard.run.engine import Executed
from benchyard.suite.course import End
from benchyard.suite.driver import TurnEnd

#: So many different reasons a message tells.
_MOST_REASONS = 3


def final_state(executed: Executed, title: str) -> State[Any]:
    """Return Completed, Failed or Cancelled, with a sentence that says what failed and why.

    Args:
        title: Of the case.
    """
    done = f"{len(executed.done)} run{'s' * (len(executed.done) != 1)} done"
    if executed.interrupted:
        return Cancelled(message=f"stopped by the user; {done}")
    if executed.failed:
        message = f"{title} {_reasons(executed.failed)}; {done}; a retry goes on there"
        return Failed(message=message, data=CaseFailedError(message))
    return Completed(message=done)


def _reasons(failed: Iterable[RunRecord]) -> str:
    """Return each reason once, behind the runs that failed of it."""
    runs: dict[str, list[str]] = {}
    for record in failed:
        runs.setdefault(printable(why_failed(record)), []).append(str(record.run))
    told = [f"run {', '.join(numbers)}: {why}" for why, numbers in runs.items()]
    more = len(told) - _MOST_REASONS
    return "; ".join([*told[:_MOST_REASONS], *([f"{more} more reasons"] if more > 0 else [])])


def turn_end(state: State[Any]) -> TurnEnd:
    """Return how a turn ended whose flow run has this final state."""
    flow_run = str(state.state_details.flow_run_id or "")
    if state.is_completed():
        return TurnEnd(End.DONE, flow_run=flow_run)
    if state.is_cancelled():
        return TurnEnd(End.CANCELLED, state.message or "", flow_run)
    return TurnEnd(End.FAILED, state.message or str(state.name), flow_run)
