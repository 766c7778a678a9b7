"""A program that is executed in a container which runs already."""

import time
from collections.abc import Callable
from typing import Any

from benchyard.core.errors import CommandFailedError
from resources._containers.engine import telling
from resources._containers.lines import Line

#: Seconds between two looks at a program whose streams have ended.
PAUSE = 0.002


class Program(Line):
    """A program that was started in a running container.

    Args:
        opened: What the library calls the socket of its streams.
    """

    def __init__(self, api: Any, identity: str, opened: Any) -> None:
        super().__init__(opened)
        self._api = api
        self._id = identity
        #: Its process id, as the engine counts; None as long as it is not known to have begun.
        self.pid: int | None = None

    def exit_code(self, still: Callable[[], bool] = lambda: True) -> int:
        """Wait for its end, which may come after its streams'; return how it ended.

        Args:
            still: Whether waiting makes sense.

        Raises:
            CommandFailedError: If it did not end and waiting makes no sense any more.
            EngineError: If the engine went away.
        """
        while True:
            with telling("nobody can tell how the program in the container ended"):
                told = self._api.exec_inspect(self._id)
            code, self.pid = told.get("ExitCode"), told.get("Pid") or None
            if not told.get("Running") and code is not None:
                return code
            if not still():
                raise CommandFailedError("the program was killed with its container")
            time.sleep(PAUSE)
