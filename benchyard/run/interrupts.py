"""Ctrl-C: the first finishes the step and stops, the second stops now, more are not heard."""

import signal
import threading
from asyncio import CancelledError
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from benchyard.process import stops
from benchyard.run.ending import ENDS, end, end_once

#: What is to be called at the first Ctrl-C, the innermost last. Only the main thread is heard.
_wishes: list[Callable[[], None]] = []


@contextmanager
def hearing(first: Callable[[], None]) -> Generator[None]:
    """Call ``first`` too at the first Ctrl-C that anything inside takes as graceful.

    A case may be through before it can stop; what is around it must not begin the next one.
    """
    _wishes.append(first)
    try:
        yield
    finally:
        _wishes.pop()


@contextmanager
def graceful(first: Callable[[], None]) -> Generator[None]:
    """Call ``first`` at the first Ctrl-C inside, and raise ``KeyboardInterrupt`` at the second.

    What is around it hears the first one too. Stops of this process (Ctrl-Z) are noted meanwhile.

    SIGTERM and SIGHUP are as the second, where nobody else handles them. Further ones are not
    heard: they would cut short what the second began, the cleaning up.

    Outside of the main thread, where Python hears no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = 0

    def heard(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            _tell_all()
        elif asked == 2:
            end()

    def told_to_end(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked < 2:
            asked = 2
            end()

    handlers = {signal.SIGINT: heard}
    # Whoever handles these already (Prefect does, in a flow) knows better what they mean.
    free = (signal.SIG_DFL, end_once)
    handlers |= {n: told_to_end for n in ENDS[1:] if signal.getsignal(n) in free}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with stops.hear(), hearing(first):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def insist(error: Exception) -> None:
    """Raise what was to end this process, if ``error`` came up while that was on its way.

    A signal is an exception at whatever line it hits; code that cleans up there and fails in turn
    would make an ordinary failure of it. What is raised ``from`` something is meant so, and stays.

    Raises:
        BaseException: Such as ``KeyboardInterrupt`` or Prefect's ``TerminationSignal``.
    """
    behind: BaseException | None = error
    while behind is not None and not _ends(behind):
        behind = None if behind.__suppress_context__ else behind.__context__
    if behind is not None:
        raise behind


def _ends(error: BaseException) -> bool:
    # Programs called in this process end with SystemExit; the others are asyncio's and generators'.
    ordinary = (Exception, SystemExit, GeneratorExit, CancelledError)
    return not isinstance(error, ordinary)


def _tell_all() -> None:
    for wish in tuple(_wishes):
        wish()
