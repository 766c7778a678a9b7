"""A deadline that aborts work which takes too long."""

import contextlib
import threading
from collections.abc import Callable, Generator


class Deadline:
    """Kills work that takes too long.

    Args:
        seconds: How long it may take, or None.
        abort: Kills it; called from another thread.
    """

    def __init__(self, seconds: float | None, abort: Callable[[], None]) -> None:
        self.passed = False
        self._timer = None
        if seconds is not None:
            self._timer = threading.Timer(seconds, self._pass)
            self._timer.daemon = True
        self._abort = abort

    def _pass(self) -> None:
        self.passed = True
        self._abort()

    @contextlib.contextmanager
    def armed(self) -> Generator[None]:
        """Let the deadline count while inside; a kill under way is over before this is left."""
        if self._timer is not None:
            self._timer.start()
        try:
            yield
        finally:
            if self._timer is not None:
                self._timer.cancel()
                # Else it would hit what comes next, which is not late.
                self._timer.join()
