"""Signals that end this process: the first Ctrl-C finishes the step, the second stops now."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from benchyard.process.usage import hearing_stops

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds after the signal that began the end in which further ones mean the same.
_ONE_END_SECONDS = 10.0
#: When the end began, on the monotonic clock.
_ending_since: float | None = None
#: What the first Ctrl-C calls, the innermost last. Python tells signals to the main thread alone.
_first_calls: list[Callable[[], None]] = []


@contextmanager
def ending() -> Generator[None]:
    """Turn every signal that ends a program into one ``KeyboardInterrupt``; for the whole program.

    Code inside may handle signals itself and give them back: Prefect does, and sends SIGTERM again
    after it handled it. A signal that the program was started to ignore (nohup) stays ignored.
    After this block all of them are ignored: the work is done, and leaving takes no time.
    """
    global _ending_since  # noqa: PLW0603 - signals are the process's
    _ending_since = None
    hear = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in hear:
        signal.signal(number, _end_once)
    try:
        yield
    finally:
        for number in hear:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def at_first_ctrl_c(first: Callable[[], None]) -> Generator[None]:
    """Call ``first``, too, at the first Ctrl-C that a ``two_stage_ctrl_c`` block inside receives.

    A suite needs this: its case may end before it can stop, and then no other may begin.
    """
    _first_calls.append(first)
    try:
        yield
    finally:
        _first_calls.pop()


@contextmanager
def two_stage_ctrl_c(first: Callable[[], None]) -> Generator[None]:
    """Call ``first`` at the first Ctrl-C inside; raise ``KeyboardInterrupt`` at the second.

    The blocks around it are called at the first one too. SIGTERM and SIGHUP count as the second
    Ctrl-C, unless somebody else handles them. Further signals are ignored: they would interrupt
    the clean-up. Stops of this process (Ctrl-Z) are noted meanwhile. Outside of the main thread,
    which alone receives signals in Python, the block changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = 0

    def heard(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked < 2:
            asked = asked + 1 if number == signal.SIGINT else 2
            _call_first() if asked == 1 else _end()

    # Whoever handles these already (Prefect does, in a flow) knows better what they mean.
    free = (signal.SIG_DFL, _end_once)
    numbers = (signal.SIGINT, *(n for n in ENDS[1:] if signal.getsignal(n) in free))
    before = {number: signal.signal(number, heard) for number in numbers}
    try:
        with hearing_stops(), at_first_ctrl_c(first):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _call_first() -> None:
    for first in tuple(_first_calls):
        first()


def _end_once(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal: end the program, once; a second one would interrupt the clean-up."""
    if _ending_since is None or time.monotonic() - _ending_since > _ONE_END_SECONDS:
        _end()


def _end() -> None:
    global _ending_since  # noqa: PLW0603
    _ending_since = time.monotonic()
    raise KeyboardInterrupt


def reraise_interrupt(error: Exception) -> None:
    """Re-raise the interrupt that ``error`` masks, if there is one.

    A signal raises an exception at whatever line is executed; where the clean-up there fails in
    turn, the interrupt would look like an ordinary failure. An error raised ``from`` something
    masks nothing.

    Raises:
        BaseException: Such as ``KeyboardInterrupt`` or Prefect's ``TerminationSignal``.
    """
    behind: BaseException | None = error
    while behind is not None and not _interrupts(behind):
        behind = None if behind.__suppress_context__ else behind.__context__
    if behind is not None:
        raise behind


def _interrupts(error: BaseException) -> bool:
    from asyncio import CancelledError  # noqa: PLC0415 - slow to import, for each command

    # Programs called in this process end with SystemExit; the others are asyncio's and generators'.
    ordinary = (Exception, SystemExit, GeneratorExit, CancelledError)
    return not isinstance(error, ordinary)


#: What ``leave`` does instead of the exit handlers.
_at_exit: list[Callable[[], None]] = []


def leave_at_once(clean_up: Callable[[], None]) -> None:
    """Have ``leave`` skip Prefect's exit handlers: sending the events they hold takes seconds.

    Args:
        clean_up: What is to be done instead of all exit handlers.
    """
    _at_exit.append(clean_up)


def leave(code: int) -> NoReturn:
    """End this process."""
    if not _at_exit:
        sys.exit(code)
    for clean_up in _at_exit:
        clean_up()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
