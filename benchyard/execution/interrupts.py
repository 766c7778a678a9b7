"""Ctrl-C: the first finishes the step and stops, the second stops now."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def graceful(first: Callable[[], None]) -> Generator[None]:
    """Call ``first`` at the first Ctrl-C inside, and raise ``KeyboardInterrupt`` at the second.

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
            first()
        elif asked == 2:
            raise KeyboardInterrupt

    def told_to_end(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked < 2:
            asked = 2
            raise KeyboardInterrupt

    handlers = {signal.SIGINT: heard}
    # Whoever handles these already (Prefect does, in a flow) knows better what they mean.
    ends = (signal.SIGTERM, signal.SIGHUP)
    handlers |= {n: told_to_end for n in ends if signal.getsignal(n) is signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
