"""Checks outputs; nothing in them can block the measuring process.

A small output is checked at once. A regular expression may take for ever and blocks every thread
of its process meanwhile, and gigabytes take time and memory: a process of its own checks those. It
ends with the step's time, or with the run. ``PatternSearch`` looks for a pattern in output while
it comes.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from benchyard.core.clock import Deadline
from benchyard.core.errors import CheckFailedError, CommandTimedOutError, NotReadyError
from benchyard.core.files import special
from benchyard.core.model import Check
from benchyard.process.children import Child, pipe, spawn
from benchyard.process.usage import Ended
from benchyard.run.judging import (
    HEAD,
    USUAL,
    SearchLimits,
    ask,
    check_output,
    expected_files,
    program,
    search_stdin,
    wrong,
)

#: Bytes of an output, and of what it must equal, that take no time worth a process.
_SMALL = 1 << 20
#: Seconds that a check gets however short the step's ``timeout`` is: hosts are busy.
LEAST_SECONDS = 10.0
_TAIL = 500


class Checks:
    """The checks of one run.

    Args:
        labels: Environment of the processes, by which they are found once the lab is gone.
        limits: Of each process.
    """

    def __init__(
        self, labels: Mapping[str, str] | None = None, limits: SearchLimits = USUAL
    ) -> None:
        self._limits = limits
        self._labels = dict(labels or {})
        self._lock = threading.Lock()
        self._under_way: list[Child] = []
        self._aborted = False

    def abort(self) -> None:
        """End every check, and begin none any more; called from another thread."""
        with self._lock:
            self._aborted = True
            under_way = list(self._under_way)
        for child in under_way:
            child.kill()

    def check(
        self,
        check: Check,
        output: Path,
        shared: Path,
        timeout: float | None = None,
        answer: Path | None = None,
    ) -> None:
        """Check one output.

        Args:
            check: What the output must be.
            output: The file.
            shared: Where the expected file lies.
            timeout: The step's, or None; it holds for the check once more.
            answer: The file with the answer of the step that this one must equal.

        Raises:
            CheckFailedError: If it is not what it must be; the text says the difference.
            CommandTimedOutError: If looking at it takes longer than ``timeout``.
        """
        expected = expected_files(check, shared, answer)
        _refuse_no_file(output, expected, shared)
        size = sum(file.stat().st_size for file in (output, *expected.values()))
        if check.pattern is None and size <= _SMALL:
            said = wrong(check, output, shared, answer=answer)
        else:
            question = ask(check, output, shared, self._limits, answer)
            said = self._asked(check, output, question, timeout)
        if said:
            raise CheckFailedError(f"wrong answer in '{output.name}': {said}")

    def _asked(
        self, check: Check, output: Path, question: str, timeout: float | None
    ) -> str | None:
        seconds = None if timeout is None else max(timeout, LEAST_SECONDS)
        child = self._start(output, question)
        stream = pipe(child.stdout)
        try:
            deadline = Deadline(seconds, child.kill)
            with deadline.armed():
                said = stream.read()
                ended = child.wait()
        finally:
            child.kill()
            stream.close()
            with self._lock:
                self._under_way.remove(child)
        if deadline.passed:
            late = f"the check of '{output.name}' was stopped after {seconds:g} s"
            raise CommandTimedOutError(f"{late} (timeout)")
        return self._answer(check, output, ended, said)

    def _start(self, output: Path, question: str) -> Child:
        # Under the lock: one that starts while abort() looks would otherwise slip through.
        with self._lock:
            if self._aborted:
                raise CheckFailedError(f"'{output.name}' was not checked: the run was stopped")
            child = spawn(
                program(check_output, question),
                folder=Path("/"),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                labels=self._labels,
            )
            self._under_way.append(child)
        return child

    def _answer(self, check: Check, output: Path, ended: Ended, said: bytes) -> str | None:
        """Return what the process says is wrong.

        Raises:
            CheckFailedError: If it could not tell.
        """
        if ended.exit_status == -signal.SIGPROF:
            size = output.stat().st_size
            limit = self._limits.search(size)
            took = f"the pattern takes more than {limit:.2g} s on {size:,} bytes"
            return f"{took}; let its repetitions not overlap: '{check.pattern}'"
        if ended.exit_status != 0:
            if self._aborted:
                raise CheckFailedError(f"the check of '{output.name}' was stopped with the run")
            last = said[-_TAIL:].decode(errors="replace").strip()
            why = f"the process that checks '{output.name}' failed: {ended.describe()}"
            raise CheckFailedError(f"{why}: {last}" if last else why)
        return json.loads(said)


def _refuse_no_file(output: Path, expected: Mapping[str, Path], shared: Path) -> None:
    wanted = {output: (f"the output '{output.name}'", "was not made")}
    for name, file in expected.items():
        where = " in data/shared" if file.is_relative_to(shared) else ""
        wanted[file] = name + where, "is not there any more"
    for file, (name, absent) in wanted.items():
        if not file.is_file():
            what = special(file) if file.exists() else None
            raise CheckFailedError(f"{name} {f'is {what}, not a file' if what else absent}")


class PatternSearch:
    """Looks for a pattern until it is found, or the output ends.

    One thread may hand output over while another waits.

    Args:
        pattern: A regular expression.
        limits: Of looking at one piece.

    Raises:
        CommandFailedError: If the process cannot be started.
    """

    def __init__(self, pattern: str, limits: SearchLimits = USUAL) -> None:
        self._pattern, self._limits = pattern, limits
        self._found = False
        self._problem: str | None = None
        self._over = threading.Event()
        self._child = spawn(
            program(search_stdin, str(limits.search_seconds)),
            folder=Path("/"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        threading.Thread(target=self._attend, name="search", daemon=True).start()
        self.feed(0, os.fsencode(pattern))

    def _attend(self) -> None:
        try:
            with pipe(self._child.stdout) as said:
                self._found = said.read() == b"+"
            ended = self._child.wait()
            if ended.exit_status == -signal.SIGPROF:
                self._problem = (
                    f"the pattern takes more than {self._limits.search_seconds:.2g} s; let its "
                    f"repetitions not overlap: '{self._pattern}'"
                )
            elif ended.exit_status:
                how = ended.describe()
                self._problem = f"the process that looks for '{self._pattern}' failed: {how}"
        finally:
            self.finish()
            self._over.set()

    def feed(self, number: int, piece: bytes) -> bool:
        """Hand over what a stream said; return whether more is wanted."""
        stream = pipe(self._child.stdin)
        try:
            stream.write(HEAD.pack(number, len(piece)) + piece)
            stream.flush()
        except (OSError, ValueError):  # it has ended, or was given up
            return False
        return True

    def finish(self) -> None:
        """Tell that no more will come."""
        with contextlib.suppress(OSError, ValueError):
            pipe(self._child.stdin).close()

    def give_up(self) -> None:
        """Look no further."""
        if not self._over.is_set():
            self._child.kill()

    def wait(self, deadline: float) -> bool:
        """Wait for the pattern; False if the output ended without it or the time is over.

        Args:
            deadline: On the monotonic clock, in seconds.

        Raises:
            NotReadyError: If looking for it takes too long, or fails.
        """
        if not self._over.wait(max(0.0, deadline - time.monotonic())):
            self.give_up()
            return False
        if self._problem is not None:
            raise NotReadyError(self._problem)
        return self._found
