"""Asking a sink again that does not answer, later and later: the one place where that is done.

Clients' own retries are off, for those of several layers multiply.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from benchyard.core.errors import SinkUnavailableError, UnreachableError

T = TypeVar("T")
#: Tells whether to ask again after so many seconds, which it waits.
Wait = Callable[[SinkUnavailableError, float], bool]


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


#: Somebody sits there and wants to see what was published.
READING = Patience(retries=2)


def sleeping(error: SinkUnavailableError, seconds: float) -> bool:
    """Wait; tell that it is worth while, unless nobody is there."""
    if isinstance(error, UnreachableError):
        return False
    time.sleep(seconds)
    return True


def retried(attempt: Callable[[], T], patience: Patience, wait: Wait = sleeping) -> T:
    """Return what ``attempt`` returns once it succeeds.

    Args:
        wait: Waits before a retry; a server that says when to come back is obeyed.

    Raises:
        SinkUnavailableError: If it did not succeed.
    """
    for delay in patience.delays():
        try:
            return attempt()
        except SinkUnavailableError as error:
            if not wait(error, delay if error.after_s is None else error.after_s):
                raise
    return attempt()
