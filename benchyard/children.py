"""Child processes: started with argument lists, measured by the kernel, surely stopped.

A child leads a session of its own, so that Ctrl-C in a terminal does not reach it and the whole
group can be killed; it carries labels, so that descendants which left the group are found too.
"""

import contextlib
import os
import resource
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchyard.errors import CommandFailedError
from benchyard.guard import ensure_guard
from benchyard.labels import CHILD, OWNER, kill_labelled, this_owner
from benchyard.usage import Ended

#: Bytes of stderr that an error message quotes.
TAIL = 2000


@dataclass
class Child:
    """One child process. Made by ``spawn``."""

    process: "subprocess.Popen[bytes]"
    label: str
    _ended: Ended | None = None
    _waiting: threading.Lock = field(default_factory=threading.Lock)
    _reaping: threading.Lock = field(default_factory=threading.Lock)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self.process.pid

    @property
    def ended(self) -> Ended | None:
        """How it ended, once it was waited for."""
        return self._ended

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet; its end is left for ``wait`` to see."""
        with self._reaping:
            if self.process.returncode is not None:
                return False
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.process.pid, options) is None

    def wait(self) -> Ended:
        """Wait for the end; the kernel's own account of the child comes with it.

        If the wait itself is interrupted (Ctrl-C, a termination signal), the whole tree is
        killed before the interruption goes on.
        """
        try:
            with self._waiting:
                if self._ended is None:
                    self._ended = self._reap()
        except BaseException:
            self.kill()
            raise
        return self._ended

    def _reap(self) -> Ended:
        # A dead child keeps its pid until it is reaped; afterwards nobody may signal that pid.
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        with self._reaping:
            _, status, usage = os.wait4(self.process.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            self.process.returncode = code  # Popen must not wait for it again
        return _account(self.process.pid, code, usage)

    def kill(self) -> None:
        """Kill the child and every descendant, those in other sessions included."""
        self._signal_group(signal.SIGKILL)
        kill_labelled(CHILD, lambda value: value == self.label)

    def stop(self, grace: float = 5.0) -> Ended:
        """Ask the group to end, and kill what has not ended after ``grace`` seconds."""
        if self._ended is None:
            self._signal_group(signal.SIGTERM)
            timer = threading.Timer(grace, self.kill)
            timer.start()
            try:
                return self.wait()
            finally:
                timer.cancel()
                self.kill()
        return self._ended

    def _signal_group(self, number: signal.Signals) -> None:
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self.process.returncode is None:
                os.killpg(self.process.pid, number)


def _account(pid: int, exit_status: int, usage: resource.struct_rusage) -> Ended:
    """Give the kernel's account SI units; it counts KiB, and blocks of 512 bytes."""
    return Ended(
        exit_status,
        user_s=usage.ru_utime,
        system_s=usage.ru_stime,
        peak_rss_bytes=usage.ru_maxrss * 1024,
        minor_faults=usage.ru_minflt,
        major_faults=usage.ru_majflt,
        read_bytes=usage.ru_inblock * 512,
        write_bytes=usage.ru_oublock * 512,
        pid=pid,
    )


def spawn(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    labels: Mapping[str, str] | None = None,
) -> Child:
    """Start a child; no shell is involved.

    Args:
        arguments: Program and arguments.
        folder: Its working folder.
        environment: Added to this process's own environment.
        labels: Further labels beside owner and child.

    Raises:
        CommandFailedError: If the program is not there or may not be executed.
    """
    ensure_guard()
    label = uuid.uuid4().hex
    own = {OWNER: this_owner(), CHILD: label, **(labels or {})}
    try:
        process = subprocess.Popen(
            list(arguments),
            cwd=folder,
            env={**os.environ, **(environment or {}), **own},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CommandFailedError(f"cannot start '{arguments[0]}': {error}") from error
    return Child(process, label)


def tail(path: Path, size: int = TAIL) -> str:
    """Return the last ``size`` bytes of a text file, blanks stripped; empty if it is not there."""
    try:
        with path.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - size))
            return stream.read().decode(errors="replace").strip()
    except OSError:
        return ""


def wait_until_gone(pid: int, timeout: float) -> bool:
    """Wait until no process ``pid`` is left; False after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.005)
    return False
