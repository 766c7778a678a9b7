"""Asking a sink again that does not answer, later and later."""

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

#: How often it is looked whether the user wants to stop, in seconds.
_GLANCE = 0.05


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on with a sink that does not answer.

    Args:
        retries: How often it is asked again; 0 or more.
        first_s: Seconds before the first time; each further one takes twice as long.
        longest_s: What they grow to.
    """

    retries: int = 5
    first_s: float = 1.0
    longest_s: float = 30.0

    def delays(self) -> Iterator[float]:
        """Yield the seconds before each retry, up to a quarter shorter.

        They differ by chance so that publishers which were refused together do not come back
        together. Source: AWS Architecture Blog, "Exponential Backoff And Jitter", 2015.
        """
        for number in range(self.retries):
            # The bound keeps a large number of retries from becoming an infinite float.
            full = min(self.first_s * 2.0 ** min(number, 64), self.longest_s)
            yield full * random.uniform(0.75, 1.0)  # noqa: S311 - guards no secret


#: Half a minute in all.
PATIENT = Patience()
#: After a case nobody likes to wait: what is not taken now waits for ``benchyard publish``.
AFTER_A_CASE = Patience(retries=2)


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
