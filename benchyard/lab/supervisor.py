"""What keeps a lab up until its user wants it to end: parts that die are started again."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from benchyard.lab import state
from benchyard.lab.checkout import SOURCE
from benchyard.process.children import tail
from tasks.names import HOME, PART, without_labels

#: Seconds before the first new start, and at most; doubled each time it fails soon.
FIRST_DELAY, MOST_DELAY = 1.0, 60.0
#: Seconds after which a part that has died did not die soon.
_SETTLED = 60.0
_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# -- requests


class Requests:
    """How often the end was asked for, and a sleep that such a request ends."""

    def __init__(self, wake: int) -> None:
        self._wake = wake
        self.count = 0
        #: Whether somebody else than the user at the terminal asked: systemd, a shutdown.
        self.by_machine = False

    def note(self, number: int) -> None:
        """Take note of a signal."""
        if number != signal.SIGCHLD:
            self.count += 1
            self.by_machine = self.by_machine or number != signal.SIGINT

    def sleep(self, seconds: float | None) -> None:
        """Sleep until a request comes, a child ends, or ``seconds`` have passed.

        Nothing wakes up in between: the lab must not disturb what it measures.
        """
        if select.select([self._wake], [], [], seconds if seconds is None else max(0, seconds))[0]:
            os.read(self._wake, 64)


@contextmanager
def listening() -> Generator[Requests]:
    """Count signals that ask for the end, instead of dying of them."""
    heard, told = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    requests = Requests(heard)

    def hear(number: int, _frame: FrameType | None) -> None:
        requests.note(number)
        os.write(told, b"!")

    try:
        with _handling((*_HEARD, signal.SIGCHLD), hear):
            yield requests
    finally:
        os.close(heard)
        os.close(told)


def as_interrupts() -> AbstractContextManager[None]:
    """Let SIGTERM and SIGHUP be what Ctrl-C is: for the time before a lab is up."""
    return _handling(_HEARD[1:], signal.default_int_handler)


@contextmanager
def _handling(
    numbers: Sequence[int], handle: Callable[[int, FrameType | None], object]
) -> Generator[None]:
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- parts


@dataclass
class LabProcess:
    """A process of the lab.

    Args:
        name: What people call it.
        module: Its main module.
        arguments: Of the module.
        environment: Added to ours.
        folder: Its working folder.
        delay: Seconds from its last end to its next start.
    """

    name: str
    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None
    again_at: float | None = None
    delay: float = FIRST_DELAY
    _began: float = 0.0
    log: Path = field(default_factory=Path)

    @property
    def alive(self) -> bool:
        """Whether its process has not ended."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start its process, in a session of its own: the terminal's Ctrl-C is for the lab."""
        self.log = state.log_of(self.name)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", self.module, *self.arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                cwd=self.folder,
                start_new_session=True,
            )
        self.again_at = None
        self._began = time.monotonic()

    def _environment(self) -> dict[str, str]:
        kind = self.name.partition(" ")[0]
        ours = {**without_labels(), **self.environment, PART: kind, HOME: str(state.folder())}
        # A checkout that is not installed; the paths of an installed one are known.
        if (SOURCE / "pyproject.toml").exists():
            ours["PYTHONPATH"] = os.pathsep.join(
                filter(None, [str(SOURCE), ours.get("PYTHONPATH")])
            )
        return ours

    def reap(self) -> str | None:
        """Take note of its end and plan the next start; return how it ended, None if it lives."""
        if self.process is None or self.process.poll() is None:
            return None
        code = self.process.returncode
        self._close()
        lived = time.monotonic() - self._began
        self.delay = FIRST_DELAY if lived > _SETTLED else min(self.delay * 2, MOST_DELAY)
        self.again_at = time.monotonic() + self.delay
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"

    def cut(self) -> None:
        """Ask it to end once its work is done: close its pipe."""
        if self.process is not None and self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def end(self, seconds: float, *, at_once: bool = False) -> None:
        """Tell it to end, wait so long, and kill it if it has not.

        Args:
            at_once: It need not look whether another part still needs it.
        """
        if self.process is None:
            return
        self.cut()
        if at_once:
            self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self) -> None:
        self.cut()
        self.process = None

    def last_words(self) -> str:
        """Return the end of what it printed, on one line."""
        return " / ".join(tail(self.log, 500).splitlines()[-3:])


Say = Callable[[str], None]
