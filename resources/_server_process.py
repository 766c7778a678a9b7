"""A program of this host that serves: its start, its log, its end."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from signal import Signals

from benchyard.core.errors import CommandFailedError, NotReadyError
from benchyard.process.children import Child, spawn, tail
from benchyard.process.files import kept_output
from benchyard.process.usage import Ended
from benchyard.run.checks import PatternSearch
from resources._readiness import LOOPBACK, PATIENCE, PAUSE
from resources.process import Call

_PIECE = 1 << 16


class ServerProcess:
    """A server of this host; thread-safe once it was started.

    Args:
        title: What errors call it, such as ``the service 'web'``.
        program: What is started; its log is where both its streams go.
        labels: By which its processes are found when the lab is gone.
        hear_end: Called, in another thread, when it ended.
    """

    def __init__(
        self, title: str, program: Call, labels: Mapping[str, str], hear_end: Callable[[], None]
    ) -> None:
        self.title = title
        self._program = program
        self._labels = labels
        self._hear_end = hear_end
        self._files = ExitStack()
        self._search: PatternSearch | None = None
        self._child: Child | None = None
        self._over = threading.Event()

    # -- life

    def start(self) -> None:
        """Start it.

        Raises:
            CommandFailedError: If the program cannot be started.
        """
        program = self._program
        log = self._files.enter_context(kept_output(program.stdout))
        self._child = child = spawn(
            program.arguments,
            folder=program.folder,
            environment=program.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            labels=self._labels,
        )
        threading.Thread(
            target=self._attend, args=(child,), name=f"wait for {self.title}", daemon=True
        ).start()

    def _attend(self, child: Child) -> None:
        try:
            # Without its launcher nobody can tell how it ended; that it did is sure.
            with suppress(CommandFailedError):
                child.wait()
        finally:
            self._over.set()
            self._hear_end()

    def stop(self, number: Signals, grace: float) -> None:
        """Ask it to end, kill what has not ended after ``grace`` seconds, and close its log."""
        if self._search is not None:
            self._search.give_up()
        try:
            if self._child is not None:
                self._child.stop(grace, number)
                self._child.kill()  # what an end of its own left behind
                self._over.wait()
        finally:
            self._files.close()

    def kill(self) -> None:
        """Kill it with all that descends from it."""
        if self._child is not None:
            self._child.kill()

    @property
    def pid(self) -> int | None:
        """Its process id; None before its start, and once it was accounted for."""
        child = self._child
        return None if child is None or child.ended else child.pid

    @property
    def ended(self) -> Ended | None:
        """How it ended, once it was accounted for."""
        return None if self._child is None else self._child.ended

    # -- what is asked of it while it is waited for

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._child is not None and not self._over.is_set() and self._child.running

    def wait(self, timeout: float | None = None) -> object | None:
        """Wait until it ends; None if the time (s) was over before."""
        return self._over.wait(timeout) or None

    def address(self) -> str:
        """Return where its ports are asked."""
        return LOOPBACK

    def succeeds(self, command: Sequence[str]) -> bool:
        """Execute a program on this host, and tell whether that ended well in time."""
        program = self._program
        child = spawn(
            command,
            folder=program.folder,
            environment=program.environment,
            labels=self._labels,
        )
        killer = threading.Timer(PATIENCE, child.kill)
        killer.start()
        try:
            return child.wait().exit_status == 0
        finally:
            killer.cancel()
            child.kill()

    def expect(self, pattern: str) -> None:
        """Look for a pattern in its log; called before it starts."""
        self._search = PatternSearch(pattern)

    def has_said(self, deadline: float) -> bool:
        """Wait for the pattern; False if it died or the time is over.

        Raises:
            NotReadyError: If looking for it takes too long.
        """
        search = self._search
        if search is None:
            return False
        with self._program.stdout.open("rb") as log:
            while time.monotonic() < deadline:
                running = self.running
                piece = log.read(_PIECE)
                if not search.feed(0, piece):  # it was found, or cannot be looked for
                    return search.wait(deadline)
                if not piece and not running:
                    search.finish()
                    return search.wait(deadline)
                if not piece:
                    self.wait(PAUSE)
        search.give_up()
        return False

    def said(self) -> str:
        """Return the end of its log."""
        return tail(self._program.stdout) or "nothing"

    def died(self, doing: str) -> NotReadyError:
        """Return the error for one that died before it was ready."""
        return NotReadyError(f"{self.title} died while {doing}: {self.last_words()}")

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        self._over.wait(PATIENCE)
        with contextlib.suppress(CommandFailedError):
            self._files.close()  # all that it said is in the file then
        how = self.ended.describe() if self.ended else "it was lost sight of"
        stays = "; a service must stay in the foreground" if how == "exit code 0" else ""
        return f"{how}{stays}; it said: {self.said()}"
