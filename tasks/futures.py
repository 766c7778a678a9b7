"""Task runs that have ended, as later ones wait for them.

Prefect draws an edge from whatever it is told to wait for, and searches that for states and
futures first. A state is searched field by field, several times for each task run, and an event
loop in another thread is asked for its result: up to 3 ms between two steps.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from prefect import State
from prefect.futures import PrefectFuture

from benchyard.run.stages import Stage


class StageCall:
    """One execution of a stage, as its task run is given it and returns it.

    Prefect knows by its identity whose it is. Not a dataclass, which would be searched.

    Attributes:
        stage: The stage.
        of: What its work is given.
        title: Of the task run.
    """

    def __init__(self, stage: Stage[*tuple[Any, ...]], of: tuple[Any, ...]) -> None:
        self.stage = stage
        self.of = of
        self.title = stage.title(*of)


class EndedFuture(PrefectFuture[Any]):
    """A future whose task run is over: it is asked for its state, and not searched."""

    def __init__(self, state: State[Any]) -> None:
        task_run_id = state.state_details.task_run_id
        if task_run_id is None:
            raise ValueError(f"{state} is not the state of a task run")
        self._task_run_id = task_run_id
        self._state = state

    @property
    def task_run_id(self) -> UUID:
        """Whose end it was."""
        return self._task_run_id

    @property
    def state(self) -> State[Any]:
        """How it ended."""
        return self._state

    def wait(self, timeout: float | None = None) -> None:
        """Return at once."""

    def result(self, timeout: float | None = None, raise_on_failure: bool = True) -> Any:  # noqa: ARG002, FBT001, FBT002 - Prefect's signature
        """Return what the task returned, or raise what it raised."""
        return self._state.result(raise_on_failure=raise_on_failure)

    def add_done_callback(self, fn: Callable[[PrefectFuture[Any]], None]) -> None:
        """Call it at once."""
        fn(self)
