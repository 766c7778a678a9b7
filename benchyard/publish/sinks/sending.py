"""How all sinks are sent to: in batches, and again, later and later, while one does not answer.

Nothing else repeats a request: the clients' own retries are off, for those of several layers
multiply.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from benchyard.core.errors import SinkUnavailableError, UnreachableError

T = TypeVar("T")
#: Tells whether to ask again after so many seconds, which it waits.
Wait = Callable[[SinkUnavailableError, float], bool]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long, to try a sink that does not answer.

    Args:
        retries: How often a request is sent again; 0 or more.
        first_s: Seconds before the first retry; each further one waits twice as long.
        longest_s: The longest wait.
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


#: For ``benchyard publish``: 31 seconds in all.
HALF_A_MINUTE = RetryPolicy()


#: After a case nobody likes to wait: what is not taken now waits for ``benchyard publish``.
AFTER_A_CASE = RetryPolicy(retries=2)


#: Somebody sits there and wants to see what was published.
READING = RetryPolicy(retries=2)


def sleeping(error: SinkUnavailableError, seconds: float) -> bool:
    """Wait before a retry, unless nobody answers at the address; tell whether to try again."""
    if isinstance(error, UnreachableError):
        return False
    time.sleep(seconds)
    return True


def retried(attempt: Callable[[], T], policy: RetryPolicy, wait: Wait = sleeping) -> T:
    """Return what ``attempt`` returns once it succeeds.

    Args:
        attempt: What is to succeed.
        policy: How often, and how long, to try.
        wait: Waits before a retry; a server that says when to come back is obeyed.

    Raises:
        SinkUnavailableError: If it did not succeed.
    """
    for delay in policy.delays():
        try:
            return attempt()
        except SinkUnavailableError as error:
            if not wait(error, delay if error.after_s is None else error.after_s):
                raise
    return attempt()


def batches(
    things: Iterable[T], size: Callable[[T], int], most: int, most_bytes: int
) -> Iterator[list[T]]:
    """Yield all things in order; one that is too large by itself gets a batch of its own.

    Args:
        things: What is to be sent.
        size: Bytes of one thing.
        most: Things in a batch.
        most_bytes: Bytes of a batch.
    """
    batch: list[T] = []
    filled = 0
    for thing in things:
        needed = size(thing)
        if batch and (len(batch) >= most or filled + needed > most_bytes):
            yield batch
            batch, filled = [], 0
        batch.append(thing)
        filled += needed
    if batch:
        yield batch
