"""One execution of a command: how long it took, what it used, how it ended."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchyard.core.errors import CommandFailedError
from benchyard.process.children import Child, spawn
from benchyard.process.guard import ensure_guard
from benchyard.process.launching import ensure_launcher
from benchyard.timing.commands import TimedCommand

#: Bytes of a failing command's messages that are shown.
_QUOTED = 2000


@dataclass(frozen=True, slots=True)
class Execution:
    """What one execution came to.

    Args:
        wall_s: From the order to start the program to the kernel's word of its end.
        user_s: CPU seconds in user mode, of it and of what it waited for.
        system_s: CPU seconds in the kernel.
        peak_rss_bytes: Largest resident set of any one of its processes; None where it is not above
            ``peak_floor_bytes``.
        peak_floor_bytes: What the starting process holds; the kernel tells no smaller peak.
        exit_code: Negative for a signal.
        waited_s: How long it waited for a CPU; None where the kernel cannot tell.
        position: Which of all executions it was, from 0 on.
    """

    wall_s: float
    user_s: float
    system_s: float
    peak_rss_bytes: int | None
    peak_floor_bytes: int
    exit_code: int
    waited_s: float | None
    position: int = 0

    @property
    def cpu_s(self) -> float:
        """CPU seconds of both kinds."""
        return self.user_s + self.system_s


@dataclass(frozen=True, slots=True)
class Streams:
    """Where the commands read and write.

    Args:
        input: What each execution reads from its beginning; None for nothing.
        output: A file that each execution writes anew; None discards it.
        show: Whether the output goes to the terminal.
    """

    input: Path | None = None
    output: Path | None = None
    show: bool = False


class Executor:
    """Executes commands one after the other, in the current folder. Made by ``executor``."""

    def __init__(self, streams: Streams, messages: IO[bytes], nothing: int) -> None:
        self._streams = streams
        self._messages = messages
        self._nothing = nothing

    def time(self, command: TimedCommand, position: int) -> Execution:
        """Execute a command once, and measure it.

        Raises:
            CommandFailedError: If it cannot be started.
        """
        with ExitStack() as files:
            child = self._start(command.arguments, files)
            ended = child.wait()
        return Execution(
            child.wall_s,
            ended.user_s,
            ended.system_s,
            ended.peak_rss_bytes,
            ended.peak_floor_bytes,
            ended.exit_status,
            ended.cpu_wait_s,
            position,
        )

    def call(self, arguments: Sequence[str], what: str) -> None:
        """Execute what surrounds a command, unmeasured.

        Raises:
            CommandFailedError: If it cannot be started or fails.
        """
        if not arguments:
            return
        with ExitStack() as files:
            ended = self._start(arguments, files, surrounding=True).wait()
        if ended.exit_status:
            raise CommandFailedError(
                f"{what} '{_shown(arguments)}' failed: {ended.describe()}{self.messages()}"
            )

    def messages(self) -> str:
        """Return the end of what the last execution wrote to stderr, as part of a sentence."""
        size = self._messages.seek(0, os.SEEK_END)
        self._messages.seek(max(0, size - _QUOTED))
        text = self._messages.read().decode(errors="replace").strip()
        return f"; on stderr: {text}" if text else ""

    def _start(
        self, arguments: Sequence[str], files: ExitStack, *, surrounding: bool = False
    ) -> Child:
        self._messages.seek(0)
        self._messages.truncate()
        stdin, stdout = self._nothing, self._nothing
        if self._streams.input and not surrounding:
            stdin = files.enter_context(self._streams.input.open("rb")).fileno()
        if self._streams.show:
            stdout = 1
        elif self._streams.output and not surrounding:
            stdout = files.enter_context(self._streams.output.open("wb")).fileno()
        stderr = 2 if self._streams.show else self._messages.fileno()
        return spawn(arguments, folder=Path.cwd(), stdin=stdin, stdout=stdout, stderr=stderr)


def _shown(arguments: Sequence[str]) -> str:
    return arguments[-1] if tuple(arguments[:2]) == ("/bin/sh", "-c") else " ".join(arguments)


@contextmanager
def executor(streams: Streams) -> Generator[Executor]:
    """Open what the executions share."""
    ensure_guard()
    ensure_launcher()
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        with tempfile.TemporaryFile() as messages:
            yield Executor(streams, messages, nothing)
    finally:
        os.close(nothing)
