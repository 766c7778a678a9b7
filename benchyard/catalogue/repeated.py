"""Work that is repeated by a thread, which sleeps in between and stops at once."""

from collections.abc import Callable
from threading import Event, Thread

from benchyard.core.errors import InputError


class Repeated:
    """Work that is done at once and then at intervals, or only once.

    Args:
        work: Raises nothing, and looks at its argument now and then: whether it shall end.
    """

    def __init__(self, name: str, work: Callable[[Callable[[], bool]], None]) -> None:
        self._name = name
        self._work = work
        self._stop = Event()
        self._thread: Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether there are rounds still to come, or one is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, interval_s: float = 0) -> None:
        """Begin anew.

        Args:
            interval_s: From the end of one round to the next; 0 makes one round.

        Raises:
            InputError: If it is negative.
        """
        if not interval_s >= 0:
            raise InputError(f"the interval must be 0 or more seconds, not {interval_s}")
        self.stop()
        self._stop = Event()
        arguments = (interval_s, self._stop)
        self._thread = Thread(target=self._rounds, args=arguments, name=self._name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop: a thread that sleeps ends at once, one that works where its work allows it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _rounds(self, interval_s: float, stop: Event) -> None:
        while not stop.is_set():
            self._work(stop.is_set)
            if not interval_s:
                return
            stop.wait(interval_s)
