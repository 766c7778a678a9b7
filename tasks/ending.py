"""From what an execution yielded to the state that its flow run ends in."""

from typing import Any

from prefect import State
from prefect.states import Cancelled, Completed, Failed

from benchyard.errors import CaseFailedError
from benchyard.execution.plan import Executed


def final_state(executed: Executed) -> State[Any]:
    """Return Completed, Failed or Cancelled, with a sentence that says why."""
    done = f"{len(executed.done)} run{'s' * (len(executed.done) != 1)} done"
    if executed.interrupted:
        return Cancelled(message=f"stopped by the user; {done}")
    if executed.failed:
        numbers = ", ".join(str(record.run) for record in executed.failed)
        message = f"run {numbers} failed; {done}; a retry goes on there"
        return Failed(message=message, data=CaseFailedError(message))
    return Completed(message=done)
