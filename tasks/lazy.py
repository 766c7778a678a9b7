"""Tasks and flows that are Prefect's inside a flow run, and plain calls without one.

``benchyard run --direct`` executes the same functions as a flow run does, and does not import
Prefect, which takes longer than many a case.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, TypeVarTuple, cast

from benchyard.core.errors import StepFailedError, StepNotBegunError

if TYPE_CHECKING:
    from prefect import Flow

Of = TypeVarTuple("Of")
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class TaskRun(Protocol):
    """A task run that was called or submitted; later ones wait for it."""

    def wait(self) -> object:
        """Return once it has ended, however it ended."""
        ...


class Called:
    """A task run that was called: it has ended."""

    def wait(self) -> None:
        """Return."""


class _Thread(threading.Thread):
    """A task that was submitted without Prefect."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        super().__init__(target=copy_context().run, args=(work,), name=name, daemon=True)
        self.start()

    def wait(self) -> None:
        """Return once it has ended."""
        self.join()


@dataclass(frozen=True)
class Task(Generic[*Of]):
    """A function that is executed as a task run where a flow run is under way.

    Args:
        work: The function; a ``StepNotBegunError`` that it raises makes its task run Skipped.
        run_name: Template of the task run's name, of the function's parameters.
        retries: How often it is executed again after it failed.
        goes_on: Tells after a failure whether it is executed again.
    """

    work: Callable[[*Of], object]
    run_name: str
    retries: int = 0
    goes_on: Callable[[], bool] = lambda: True

    @property
    def name(self) -> str:
        """What Prefect's UI calls it."""
        return self.work.__name__.replace("_", "-")

    def repeated(self, retries: int, goes_on: Callable[[], bool]) -> "Task[*Of]":
        """Return this task with retries."""
        return replace(self, retries=retries, goes_on=goes_on) if retries else self

    def __call__(self, *of: *Of, wait_for: Iterable[TaskRun] = ()) -> TaskRun:
        """Execute it now; raises what it raises."""
        if flow_run_under_way():
            return self._of_prefect(*of, wait_for=edges(wait_for))
        self.work(*of)
        return Called()

    def submit(self, *of: *Of, wait_for: Sequence[TaskRun]) -> TaskRun:
        """Execute it in a thread once all of ``wait_for`` have ended; raises nothing."""
        if flow_run_under_way():
            return self._of_prefect.submit(*of, wait_for=edges(wait_for))

        def work() -> None:
            wait(wait_for)
            self._try(*of)

        return _Thread(work, self.name)

    def _try(self, *of: *Of) -> None:
        for left in range(self.retries, -1, -1):
            try:
                self.work(*of)
                break
            except StepNotBegunError:
                break
            except StepFailedError:
                if not left or not self.goes_on():
                    break

    @cached_property
    def _of_prefect(self) -> Any:
        import prefect  # noqa: PLC0415 - it is there
        from prefect.cache_policies import NO_CACHE  # noqa: PLC0415 - it is there

        def goes_on(*_: Any) -> bool:  # Prefect calls no bound method here
            return self.goes_on()

        return prefect.Task(
            self._state_of,
            name=self.name,
            task_run_name=self.run_name,
            retries=self.retries,
            retry_condition_fn=goes_on if self.retries else None,
            cache_policy=NO_CACHE,  # a measurement is never answered from a cache
            persist_result=False,  # and a live session never stored
        )

    @property
    def _state_of(self) -> Callable[[*Of], object]:
        """The function as Prefect calls it.

        What the work returns is not: Prefect would take whatever later task is given a part of it
        for a dependent of this one, and draw an edge.
        """
        from prefect.states import Completed  # noqa: PLC0415 - it is there

        @wraps(self.work)
        def work(*of: *Of) -> object:
            try:
                self.work(*of)
            except StepNotBegunError as reason:
                return Completed(name="Skipped", message=str(reason))
            return Called()

        return work


def task(run_name: str) -> Callable[[Callable[[*Of], object]], Task[*Of]]:
    """Make a task of a function."""
    return lambda work: Task(work, run_name)


def edges(runs: Iterable[TaskRun]) -> list[Any]:
    """Return what Prefect is told to wait for: a failure keeps nothing from starting."""
    from prefect import allow_failure  # noqa: PLC0415 - it is there

    return [run if isinstance(run, Called) else allow_failure(run) for run in runs]


def wait(runs: Iterable[TaskRun]) -> None:
    """Return once all have ended."""
    for run in runs:
        run.wait()


def flow(
    name: str, hooks: Callable[[], dict[str, Any]]
) -> "Callable[[Callable[Given, Returned]], Flow[Given, Returned]]":
    """Make a flow of a function where Prefect is imported already; else it stays as it is.

    Args:
        name: Of the flow.
        hooks: Returns further arguments of Prefect's decorator; imports Prefect.
    """

    def made(function: Callable[Given, Returned]) -> "Flow[Given, Returned]":
        if "prefect" not in sys.modules:
            return cast("Flow[Given, Returned]", function)
        import prefect  # noqa: PLC0415 - it is there

        return prefect.flow(name=name, persist_result=False, **hooks())(function)

    return made


def flow_run_under_way() -> bool:
    """Tell whether this is executed by a flow of Prefect's."""
    if "prefect" not in sys.modules:
        return False
    from prefect.context import FlowRunContext  # noqa: PLC0415 - it is there

    return FlowRunContext.get() is not None
