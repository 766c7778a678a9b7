"""One execution of a command: how long it took, what it used, how it ended."""

import os
import shutil
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.clock import Deadline
from benchyard.core.errors import CommandFailedError
from benchyard.core.outputs import Output
from benchyard.process.children import Child, child_environment, spawn, tail
from benchyard.process.guard import ensure_guard
from benchyard.process.launching import ensure_launcher
from benchyard.process.orphans import Leftovers
from benchyard.timing.commands import TimedCommand


@dataclass(frozen=True, slots=True)
class Execution:
    """What one execution came to.

    Args:
        wall_s: From the call that starts the program to the kernel's word of its end.
        user_s: CPU seconds in user mode, of it and of what it waited for.
        system_s: CPU seconds in the kernel.
        peak_rss_bytes: Largest resident set of any one of its processes; None where it is not above
            ``peak_floor_bytes``.
        peak_floor_bytes: What the starting process holds; the kernel tells no smaller peak.
        exit_code: Negative for a signal.
        waited_s: How long it waited for a CPU; None where the kernel cannot tell.
        position: Which of all executions it was, from 0 on.
        left_running: What it left running, as a sentence; empty for nothing.
    """

    wall_s: float
    user_s: float
    system_s: float
    peak_rss_bytes: int | None
    peak_floor_bytes: int
    exit_code: int
    waited_s: float | None
    position: int = 0
    left_running: str = ""

    @property
    def cpu_s(self) -> float:
        """CPU seconds of both kinds."""
        return self.user_s + self.system_s


@dataclass(frozen=True, slots=True)
class CommandStreams:
    """Where the commands read and write.

    Args:
        input: What each execution reads from its beginning; None for nothing.
        output: A file that each execution writes anew; None discards it.
        errors: The same for stderr.
        show: Whether both go to the terminal.
        pipe: Whether stdout is a pipe that is read and discarded, instead of ``/dev/null``.
    """

    input: Path | None = None
    output: Output | None = None
    errors: Output | None = None
    show: bool = False
    pipe: bool = False


@dataclass(frozen=True, slots=True)
class Executor:
    """Executes commands one after the other, in the current folder. Made by ``executor``.

    Args:
        streams: Where the commands read and write.
        messages: What surrounds the commands writes its stderr here.
        nothing: ``/dev/null``.
    """

    streams: CommandStreams
    messages: Path
    nothing: int

    def time(
        self, command: TimedCommand, position: int, *, pipe: bool, timeout: float | None
    ) -> Execution:
        """Prepare and execute a command once, and measure it; end what it left running.

        Args:
            command: What is executed.
            position: Which of all executions it is.
            pipe: Whether its stdout is a pipe, whatever the streams say.
            timeout: Seconds after which it is killed; None for no limit.

        Raises:
            CommandFailedError: If it cannot be started, or its preparation fails.
        """
        left: list[str] = []
        leftovers = Leftovers(left.append)
        before = leftovers.before()
        programs = self.call(command.prepare, "the preparation")
        with ExitStack() as files:
            child = self._start(command.arguments, self._measured_streams(files, pipe=pipe))
            programs |= {child.pid: child.label}
            files.enter_context(Deadline(timeout, child.kill).armed())
            ended = child.wait()
            leftovers.end(f"'{command.line}'", programs, before)
        return Execution(
            child.wall_s,
            ended.user_s,
            ended.system_s,
            ended.peak_rss_bytes,
            ended.peak_floor_bytes,
            ended.exit_status,
            ended.cpu_wait_s,
            position,
            "; ".join(left),
        )

    def call(self, arguments: Sequence[str], what: str) -> dict[int, str]:
        """Execute what surrounds a command, unmeasured.

        Returns:
            Process id to child label; empty without arguments.

        Raises:
            CommandFailedError: If it cannot be started or fails.
        """
        if not arguments:
            return {}
        with self.messages.open("wb") as messages:
            discarded = (self.nothing, self.nothing, messages.fileno())
            streams = (self.nothing, 1, 2) if self.streams.show else discarded
            child = self._start(arguments, streams)
            ended = child.wait()
        if ended.exit_status:
            raise CommandFailedError(
                f"{what} '{_shown(arguments)}' failed: {ended.describe()}{_quoted(self.messages)}"
            )
        return {child.pid: child.label}

    def refuse_missing(self, commands: Sequence[TimedCommand]) -> None:
        """Refuse programs that are not there; a preparation may still make its command's.

        Raises:
            CommandFailedError: If there is one.
        """
        path = child_environment().get("PATH", os.defpath)
        for command in commands:
            program = (command.prepare or command.arguments)[0]
            if not shutil.which(program, path=path):
                raise CommandFailedError(f"cannot start '{program}': there is no such program")

    def failure(self, done: Execution, timeout: float | None) -> str:
        """Say how an execution failed, with the end of what it wrote to stderr if that is known."""
        if timeout and done.wall_s >= timeout:
            return f"it was killed after {timeout:g} s (--timeout)"
        how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
        errors = self.streams.errors
        if errors and errors.is_file():
            return how + _quoted(errors)
        return how if errors or self.streams.show else f"{how} (--stderr FILE shows what it says)"

    def _measured_streams(self, files: ExitStack, *, pipe: bool) -> tuple[int, int, int]:
        def opened(output: Output | None) -> int:
            return files.enter_context(output.reopened()).fileno() if output else self.nothing

        streams = self.streams
        given = streams.input
        stdin = files.enter_context(given.open("rb")).fileno() if given else self.nothing
        if streams.show:
            return stdin, 1, 2
        stdout = _drained(files) if pipe or streams.pipe else opened(streams.output)
        return stdin, stdout, opened(streams.errors)

    @staticmethod
    def _start(arguments: Sequence[str], streams: tuple[int, int, int]) -> Child:
        stdin, stdout, stderr = streams
        return spawn(arguments, folder=Path.cwd(), stdin=stdin, stdout=stdout, stderr=stderr)


def _drained(files: ExitStack) -> int:
    """Return the end of a new pipe whose other end a thread reads as fast as it can."""
    heard, given = os.pipe()
    files.callback(os.close, given)
    threading.Thread(target=_drain, args=(heard,), daemon=True).start()
    return given


def _drain(heard: int) -> None:
    with open(heard, "rb", buffering=0) as stream:
        while stream.read(1 << 16):
            pass


def _quoted(messages: Path) -> str:
    """Return the end of what was written to stderr, as part of a sentence."""
    text = tail(messages)
    return f"; on stderr: {text}" if text else ""


def _shown(arguments: Sequence[str]) -> str:
    return arguments[-1] if tuple(arguments[:2]) == ("/bin/sh", "-c") else " ".join(arguments)


@contextmanager
def executor(streams: CommandStreams) -> Generator[Executor]:
    """Open what the executions share."""
    ensure_guard()
    ensure_launcher()
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        with tempfile.NamedTemporaryFile() as messages:
            yield Executor(streams, Path(messages.name), nothing)
    finally:
        os.close(nothing)
