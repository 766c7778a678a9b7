"""The end of this process by a signal: once, by an exception, and with an exit code."""

import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

#: So long after a signal began the end, further ones are taken for the same wish.
_SAME_WISH_SECONDS = 10.0
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: When the end began, on the monotonic clock.
_ending_since: float | None = None


@contextmanager
def ending() -> Generator[None]:
    """Let every signal that ends a program be one ``KeyboardInterrupt``, from here to its end.

    Whoever handles signals inside hands them back here: Prefect, after it has taken SIGTERM, sends
    it again. What the program was told to ignore (nohup) stays ignored. Behind this nothing is
    heard any more: the work is done, and the way out takes no time.
    """
    global _ending_since  # noqa: PLW0603 - signals are the process's
    _ending_since = None
    hear = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in hear:
        signal.signal(number, end_once)
    try:
        yield
    finally:
        for number in hear:
            signal.signal(number, signal.SIG_IGN)


def end_once(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal: end the program, once; a second one would hit the code that cleans up."""
    if _ending_since is None or time.monotonic() - _ending_since > _SAME_WISH_SECONDS:
        end()


def end() -> None:
    """Raise ``KeyboardInterrupt``, and take what follows for the same wish.

    Raises:
        KeyboardInterrupt: Always.
    """
    global _ending_since  # noqa: PLW0603
    _ending_since = time.monotonic()
    raise KeyboardInterrupt
