"""A program of this host that serves: its start, its log, its end."""

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from signal import Signals
from typing import Any

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.process.children import Child, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.usage import Ended
from resources._readiness import LOOPBACK, PATIENCE
from resources.process import Call


class ServerProcess:
    """A server of this host, which starts when it is made; thread-safe.

    Args:
        title: What errors call it, such as ``the service 'web'``.
        program: What is started; both its streams go to one log.
        labels: By which its processes are found when the lab is gone.
        hear_end: Called, in another thread, when it ended.

    Raises:
        CommandFailedError: If the program cannot be started.
    """

    def __init__(
        self, title: str, program: Call, labels: Mapping[str, str], hear_end: Callable[[], None]
    ) -> None:
        self.title = title
        self._program = program
        self._labels = labels
        self._hear_end = hear_end
        self._over = threading.Event()
        with ExitStack() as files:
            log = files.enter_context(kept_output(program.stdout))
            self._child = self._spawn(program.arguments, stdout=log, stderr=subprocess.STDOUT)
            self._files = files.pop_all()
        name = f"wait for {title}"
        threading.Thread(target=self._attend, name=name, daemon=True).start()

    def _spawn(self, arguments: Sequence[str], **streams: Any) -> Child:
        program = self._program
        environment = program.environment
        return spawn(
            arguments,
            folder=program.folder,
            environment=environment,
            labels=self._labels,
            **streams,
        )

    def _attend(self) -> None:
        try:
            # Without its launcher nobody can tell how it ended; that it did is sure.
            with suppress(CommandFailedError):
                self._child.wait()
        finally:
            self._over.set()
            self._hear_end()

    def stop(self, number: Signals, grace: float) -> None:
        """Ask it to end, kill what has not ended after ``grace`` seconds, and close its log."""
        try:
            self._child.stop(grace, number)
            self._child.kill()  # what an end of its own left behind
            self._over.wait()
        finally:
            self._files.close()

    def kill(self) -> None:
        """Kill it with all that descends from it."""
        self._child.kill()

    @property
    def pid(self) -> int | None:
        """Its process id; None once it was accounted for."""
        return None if self._child.ended else self._child.pid

    @property
    def ended(self) -> Ended | None:
        """How it ended, once it was accounted for."""
        return self._child.ended

    # -- what is asked of it while it is waited for

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self._over.is_set() and self._child.running

    def wait(self, timeout: float | None = None) -> object | None:
        """Wait until it ends; None if the time (s) was over before."""
        return self._over.wait(timeout) or None

    def address(self) -> str:
        """Return where its ports are asked."""
        return LOOPBACK

    def succeeds(self, command: Sequence[str]) -> bool:
        """Execute a program on this host, and tell whether that ended well in time."""
        child = self._spawn(command)
        killer = threading.Timer(PATIENCE, child.kill)
        killer.start()
        try:
            return child.wait().exit_status == 0
        finally:
            killer.cancel()
            child.kill()

    def logs(self) -> Sequence[Path]:
        """Return its log."""
        return (self._program.stdout,)

    def said(self) -> str:
        """Return the end of its log."""
        return tail(self._program.stdout) or "nothing"

    def died(self, doing: str) -> NotReadyError:
        """Return the error for one that died before it was ready."""
        return NotReadyError(f"{self.title} died while {doing}: {self.last_words()}")

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        self._over.wait(PATIENCE)
        with suppress(CommandFailedError):
            self._files.close()  # all that it said is in the file then
        how = self.ended.describe() if self.ended else "it was lost sight of"
        stays = "; a service must stay in the foreground" if how == "exit code 0" else ""
        return f"{how}{stays}; it said: {self.said()}"
