"""Ctrl-C: the first finishes the step and stops, the second stops now."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def graceful(first: Callable[[], None]) -> Generator[None]:
    """Call ``first`` at the first Ctrl-C inside, and raise ``KeyboardInterrupt`` at the second.

    Further ones are not heard: they would cut short what the second began, the cleaning up.

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

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
