"""The user's wishes while a lab is up: Ctrl-C once, twice, three times; systemd's SIGTERM."""

import os
import select
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType

_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Requests:
    """How often an end was asked for, and a sleep that a wish ends."""

    def __init__(self, wake: int) -> None:
        self._wake = wake
        self.count = 0
        #: Whether somebody else than the user at the terminal asked: systemd, a shutdown.
        self.by_machine = False

    def note(self, number: int) -> None:
        """Take note of a signal."""
        self.count += 1
        self.by_machine = self.by_machine or number != signal.SIGINT

    def sleep(self, seconds: float | None, descriptors: Sequence[int] = ()) -> None:
        """Sleep until a wish comes, one of the processes ends, or ``seconds`` have passed.

        Nothing wakes up in between: the lab must not disturb what it measures.
        """
        poll = select.poll()
        for descriptor in (self._wake, *descriptors):
            poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll(None if seconds is None else max(0, seconds) * 1000):
            if descriptor == self._wake:
                os.read(self._wake, 64)


@contextmanager
def listening() -> Generator[Requests]:
    """Hear wishes for the end instead of dying of them."""
    heard, told = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    requests = Requests(heard)

    def hear(number: int, _frame: FrameType | None) -> None:
        requests.note(number)
        os.write(told, b"!")

    before = {number: signal.signal(number, hear) for number in _HEARD}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(heard)
        os.close(told)


@contextmanager
def as_interrupts() -> Generator[None]:
    """Let SIGTERM and SIGHUP be what Ctrl-C is: for the time before a lab is up."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _HEARD[1:]}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
