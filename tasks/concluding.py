"""The end of a case's flow run: what is told of it, to whom, and that a server hears it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefect import State
from prefect.states import Cancelled, Completed, Failed

from benchyard.case.selection import likely_title
from benchyard.errors import RunInterruptedError
from benchyard.execution.interrupts import insist
from benchyard.execution.plan import Executed
from benchyard.execution.progress import Notice, current_listener, tell
from benchyard.execution.request import Request
from benchyard.execution.setting import Setting
from benchyard.regressions import Baseline, Regression
from tasks.caller import current_caller, remember_end
from tasks.ending import final_state
from tasks.events import announce_failure, announce_regression, announce_return, failure_of
from tasks.outage import ask_no_more, wait_for_server


@contextmanager
def concluding(request: Request) -> Generator[None]:
    """Tell of an error that ends the case as an event; wait for a server that is away."""
    caller = current_caller()
    if caller is not None:
        caller.begin()
    try:
        yield
    except RunInterruptedError as error:
        remember_end(Cancelled(message=str(error)))
        raise
    except Exception as error:
        insist(error)
        remember_end(Failed(message=str(error), data=error))
        title = likely_title(Path(request.root), request.case)
        announce_failure(title, str(error) or type(error).__name__)
        raise
    finally:
        _be_heard()


def _be_heard() -> None:
    listener = current_listener()
    away = wait_for_server(lambda text: tell(listener, Notice(text)))
    if away is None:
        ask_no_more()
    elif away:
        announce_return(away)


def conclude(setting: Setting, executed: Executed, request: Request) -> State[Any]:
    """Tell what came of a case, compare it with its baseline, and return the final state."""
    state = remember_end(final_state(executed, setting.case.title))
    if executed.failed and not executed.interrupted:
        about = failure_of(executed.failed, setting.results)
        title = setting.case.title
        announce_failure(title, (state.message or "").removeprefix(f"{title} "), about)
    if request.baseline is None or not executed.records:
        return state
    worse = _compared(setting, request.baseline)
    if worse and state.is_completed():
        return remember_end(
            Completed(message=f"{state.message}; {_counted(worse)}: {worse[0].text}")
        )
    return state


def _compared(setting: Setting, baseline: str) -> tuple[Regression, ...]:
    title = setting.case.title
    looked = Baseline(baseline).look(title, setting.results)
    tell(setting.listener, Notice(f"{title} against {baseline}: {looked.summary}"))
    for found in looked.regressions:
        tell(setting.listener, Notice(f"regression: {found.text}"))
        announce_regression(found, setting.results, baseline)
    return looked.regressions


def _counted(worse: tuple[Regression, ...]) -> str:
    return f"{len(worse)} regression{'s' * (len(worse) != 1)}"
