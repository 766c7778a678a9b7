"""Tasks and flows that are Prefect's inside a flow run, and plain calls without one.

``benchyard run --direct`` executes the same functions as a flow run does, and does not import
Prefect, which takes longer than many a case. What a task may do differs from Prefect's own
decorator: it returns nothing to later tasks (they have the session), it is never cached, and a
failure of one keeps no other from starting (every edge is ``allow_failure``).
"""

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, TypeVarTuple, cast

from benchyard.core.errors import StepFailedError, StepNotBegunError

if TYPE_CHECKING:
    from prefect import Flow

_SKIPPED = "Skipped"
Arguments = TypeVarTuple("Arguments")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class TaskRun(Protocol):
    """A task run that was called or submitted: what later ones name in ``wait_for``."""

    def wait(self) -> object:
        """Return once it has ended, however it ended."""
        ...

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        """Call a function once it has ended, however it ended."""
        ...


class EndedTaskRun:
    """A task run that was called, and so has ended; Prefect would search a dataclass.

    Args:
        state: Prefect's, where the task run is not known by this object, which it returned.
    """

    def __init__(self, state: Any = None) -> None:
        self.state = state

    def wait(self) -> None:
        """Return."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        """Call it now."""
        fn(self)


class _Submitted(Future[None]):
    """A task run that was submitted without Prefect."""

    def wait(self) -> None:
        """Return once it has ended."""
        self.result()


@dataclass(frozen=True)
class Task(Generic[*Arguments]):
    """A function that is executed as a task run of Prefect's inside a flow run.

    Args:
        function: A ``StepNotBegunError`` that it raises makes its task run end as Skipped, a state
            of type Completed.
        run_name: Prefect's ``task_run_name``: a template with the function's parameters.
        retries: Prefect's ``retries``.
        may_retry: Prefect's ``retry_condition_fn``, without arguments.
    """

    function: Callable[[*Arguments], object]
    run_name: str
    retries: int = 0
    may_retry: Callable[[], bool] = lambda: True

    @property
    def name(self) -> str:
        """What Prefect calls the task."""
        return self.function.__name__.replace("_", "-")

    def with_retries(self, retries: int, may_retry: Callable[[], bool]) -> "Task[*Arguments]":
        """Return this task with retries, as Prefect's ``with_options`` does."""
        return replace(self, retries=retries, may_retry=may_retry) if retries else self

    def __call__(self, *arguments: *Arguments, wait_for: Iterable[TaskRun] = ()) -> TaskRun:
        """Execute it now, in this thread; raises what it raises."""
        if flow_run_under_way():
            return self._prefect_task(*arguments, wait_for=_upstream(wait_for))
        self.function(*arguments)
        return EndedTaskRun()

    def submit(self, *arguments: *Arguments, wait_for: Sequence[TaskRun]) -> TaskRun:
        """Execute it in a thread once all of ``wait_for`` have ended; raises nothing."""
        if flow_run_under_way():
            return self._prefect_task.submit(*arguments, wait_for=_upstream(wait_for))

        submitted = _Submitted()

        def execute() -> None:
            try:
                wait(wait_for)
                self._execute_with_retries(*arguments)
            finally:
                submitted.set_result(None)

        work = copy_context().run
        threading.Thread(target=work, args=(execute,), name=self.name, daemon=True).start()
        return submitted

    def attempt(self, *arguments: *Arguments, wait_for: Sequence[TaskRun]) -> TaskRun:
        """Execute it now, in this thread; raises no failure of a step."""
        if flow_run_under_way():
            upstream = _upstream(wait_for)
            state = self._prefect_task(*arguments, wait_for=upstream, return_state=True)
            known = state.is_completed() and state.name != _SKIPPED
            return state.result() if known else EndedTaskRun(state)
        self._execute_with_retries(*arguments)
        return EndedTaskRun()

    def _execute_with_retries(self, *arguments: *Arguments) -> None:
        for retries_left in range(self.retries, -1, -1):
            try:
                self.function(*arguments)
                break
            except StepNotBegunError:
                break
            except StepFailedError:
                if not retries_left or not self.may_retry():
                    break

    @cached_property
    def _prefect_task(self) -> Any:
        import prefect  # noqa: PLC0415 - it is imported already
        from prefect.cache_policies import NO_CACHE  # noqa: PLC0415 - it is imported already

        def retry_condition(*_: Any) -> bool:  # Prefect calls no bound method here
            return self.may_retry()

        return prefect.Task(
            self._function_for_prefect,
            name=self.name,
            task_run_name=self.run_name,
            retries=self.retries,
            retry_condition_fn=retry_condition if self.retries else None,
            cache_policy=NO_CACHE,  # a measurement is never answered from a cache
            persist_result=False,  # and a live session never stored
        )

    @property
    def _function_for_prefect(self) -> Callable[[*Arguments], object]:
        """The function as Prefect calls it, without what it returns.

        Prefect would draw an edge from this task run to each later one that is given a part of
        the result.
        """
        from prefect.states import Completed  # noqa: PLC0415 - it is imported already

        @wraps(self.function)
        def execute(*arguments: *Arguments) -> object:
            try:
                self.function(*arguments)
            except StepNotBegunError as reason:
                return Completed(name=_SKIPPED, message=str(reason))
            return EndedTaskRun()

        return execute


def task(run_name: str) -> Callable[[Callable[[*Arguments], object]], Task[*Arguments]]:
    """Make a task of a function; ``run_name`` is Prefect's ``task_run_name``."""
    return lambda function: Task(function, run_name)


def _upstream(runs: Iterable[TaskRun]) -> list[Any]:
    """Return Prefect's ``wait_for``: a failure upstream keeps no task from starting."""
    from prefect import allow_failure  # noqa: PLC0415 - it is imported already

    ended = [run.state or run if isinstance(run, EndedTaskRun) else run for run in runs]
    return [run if isinstance(run, EndedTaskRun) else allow_failure(run) for run in ended]


def wait(runs: Iterable[TaskRun]) -> None:
    """Return once all task runs have ended."""
    for run in runs:
        run.wait()


def flow(
    name: str, options: Callable[[], dict[str, Any]]
) -> "Callable[[Callable[Parameters, Result]], Flow[Parameters, Result]]":
    """Make a flow of a function where Prefect is imported already; else it stays as it is.

    Args:
        name: Of the flow.
        options: Returns further options of ``prefect.flow``, its hooks among them; it may import
            Prefect.
    """

    def decorate(function: Callable[Parameters, Result]) -> "Flow[Parameters, Result]":
        if "prefect" not in sys.modules:
            return cast("Flow[Parameters, Result]", function)
        import prefect  # noqa: PLC0415 - it is imported already

        return prefect.flow(name=name, persist_result=False, **options())(function)

    return decorate


def flow_run_under_way() -> bool:
    """Tell whether this is executed inside a flow run of Prefect's."""
    if "prefect" not in sys.modules:
        return False
    from prefect.context import FlowRunContext  # noqa: PLC0415 - it is imported already

    return FlowRunContext.get() is not None
