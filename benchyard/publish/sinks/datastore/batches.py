"""Many things in groups that are neither too many nor too large."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(
    things: Iterable[T], size: Callable[[T], int], most: int, most_bytes: int
) -> Iterator[list[T]]:
    """Yield all things in order; one that is too large by itself gets a batch of its own.

    Args:
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
