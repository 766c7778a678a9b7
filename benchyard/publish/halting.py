"""Whether a publication goes on."""

import threading
import time

#: How often it is looked whether the user wants to stop, in seconds.
_GLANCE = 0.05


class Halt:
    """Whether to go on: the user may want to stop, or it may be of no use.

    Args:
        asked: Set by whoever wants to stop.
    """

    def __init__(self, asked: threading.Event | None = None) -> None:
        self._asked = asked or threading.Event()
        self._given_up = threading.Event()
        self._lock = threading.Lock()
        self.reason: str | None = None

    def give_up(self, reason: str) -> None:
        """Stop, because of this; only the first reason is kept."""
        with self._lock:
            self.reason = self.reason or reason
        self._given_up.set()

    @property
    def is_asked(self) -> bool:
        """Whether the user wants to stop."""
        return self._asked.is_set()

    def __bool__(self) -> bool:
        return self.is_asked or self._given_up.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, at most until it is to stop; tell whether it is."""
        end = time.monotonic() + seconds
        while not self:
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._given_up.wait(min(left, _GLANCE))
        return True
