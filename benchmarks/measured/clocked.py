"""A resource that does nothing but let time pass, and says how much passed by its own clock."""

import platform
import time
from collections.abc import Callable

from benchyard.case.resource import CommandResult, NoSettings, Resource, command


class Clocked(Resource[NoSettings]):
    """Steps of a known length, for measuring the lab itself."""

    def version(self) -> str:
        """Return the interpreter's version, which is all that it consists of."""
        return platform.python_version()

    @command
    def nothing(self) -> None:
        """Return at once."""

    @command
    def sleep(self, seconds: float) -> CommandResult:
        """Sleep."""
        return _clocked(lambda: time.sleep(seconds))

    @command
    def spin(self, seconds: float) -> CommandResult:
        """Keep a core busy."""
        return _clocked(lambda: _spin(seconds))


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _clocked(work: Callable[[], None]) -> CommandResult:
    start = time.monotonic_ns()
    work()
    return CommandResult({"own_duration_ns": time.monotonic_ns() - start})
