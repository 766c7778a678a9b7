"""How much of documents is in memory at once, by all threads of a publication together."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from benchyard.publish.compression import LARGEST, Compression

#: JSON is rarely compressed further. What is goes beside others all the same, and takes more.
_RATIO = 100


class Room:
    """Room for so many bytes.

    Args:
        size: That one document may have, or several together.
    """

    def __init__(self, size: int = LARGEST) -> None:
        self._size = size
        self._free = size
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, wanted: int) -> Generator[None]:
        """Wait until there is room, and take it while the block runs; all of it is enough."""
        taken = min(wanted, self._size)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= taken)
            self._free -= taken
        try:
            yield
        finally:
            with self._changed:
                self._free += taken
                self._changed.notify_all()


def expected(size: int, how: Compression) -> int:
    """Return how many bytes a file of this size holds, at a guess."""
    return size if how is Compression.NONE else size * _RATIO
