"""Child processes: started with argument lists, measured by the kernel, surely stopped.

A child leads a session of its own, so that Ctrl-C in a terminal does not reach it and the whole
group can be killed; it carries labels, so that descendants which left the group are found too.

Its environment is the user's own, the same however the lab was started: a program must not see how
it is measured, through Prefect, on a worker of a lab, or directly. Nor is it told what only the lab
must know, such as the password of its database.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from benchyard.core.clock import Deadline, seconds
from benchyard.core.errors import CommandFailedError
from benchyard.core.redaction import longest_known, note_arguments, redacted_end
from benchyard.process.guard import ensure_guard
from benchyard.process.labels import CHILD, OWNER, kill_labelled, this_owner
from benchyard.process.launching import Launched, Spent, StartOrder, launch
from benchyard.process.usage import Ended

#: The lab's and Prefect's own variables begin with these; Prefect reads them in either case.
_OURS = ("BENCHYARD_", "PREFECT_")
#: Whoever starts a lab through Prefect has it set, and a program that reports home while it is
#: measured measures something else: so it is set for all.
_ALWAYS = {"DO_NOT_TRACK": "1"}
#: A checkout that is not installed gets onto the path of a lab's processes: see
#: ``benchyard.lab.supervisor``.
_ROOT = str(Path(__file__).resolve().parents[2])

#: Variables that change how a program works and hold no secrets; others are recorded by name alone.
_TOLD = frozenset(
    {
        *("PATH", "HOME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "DO_NOT_TRACK"),
        *("PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME"),
        *("GOMAXPROCS", "GOGC", "GOMEMLIMIT", "CUDA_VISIBLE_DEVICES"),
    }
)
_TOLD_BEGIN = ("LC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "MALLOC_")


def child_environment(inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that a child of the lab gets, without its labels and its own.

    Args:
        inherited: The lab's; by default this process's.
    """
    given = os.environ if inherited is None else inherited
    passed = {name: value for name, value in given.items() if not name.upper().startswith(_OURS)}
    if "PYTHONPATH" in passed:
        rest = [one for one in passed.pop("PYTHONPATH").split(os.pathsep) if one != _ROOT]
        passed |= {"PYTHONPATH": os.pathsep.join(rest)} if any(rest) else {}
    return passed | _ALWAYS


def told(inherited: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """Return what a record says of them: every name, and the values that cannot be secrets.

    Args:
        inherited: As above.
    """
    passed = child_environment(inherited)
    shown = {name for name in passed if name in _TOLD or name.startswith(_TOLD_BEGIN)}
    return {
        _readable(name): _readable(value) if name in shown else None
        for name, value in sorted(passed.items())
    }


def _readable(text: str) -> str:
    return os.fsencode(text).decode(errors="replace")


#: Bytes of stderr that an error message quotes.
TAIL = 2000
#: How much of a child's CPU time must be its first thread's for its wait to be the child's.
_FIRST_THREADS = 0.95


class Child:
    """One child process. Made by ``spawn``.

    Args:
        line: Its line to the launcher.
        label: The value of its child label.
        stdin: Where its input is written, if a pipe was asked for; so with the other two.
        stdout: Where its output is read, if a pipe was asked for.
        stderr: The same for its errors.
    """

    def __init__(
        self,
        line: Launched,
        label: str,
        stdin: IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
    ) -> None:
        self.label = label
        self._ended_ns = line.began_ns
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self._line = line
        self._ended: Ended | None = None
        self._waiting = threading.Lock()
        self._reaping = threading.Lock()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._line.pid

    @property
    def ended(self) -> Ended | None:
        """How it ended, once it was waited for."""
        return self._ended

    @property
    def wall_s(self) -> float:
        """Seconds from the kernel's order to start it to its word of the end; after ``wait``."""
        return seconds(self._ended_ns - self._line.began_ns)

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet; its end is left for ``wait`` to see."""
        with self._reaping:
            return self._line.running

    def wait(self) -> Ended:
        """Wait for the end; the kernel's own account of the child comes with it.

        If the wait itself is interrupted (Ctrl-C, a termination signal), the whole tree is
        killed before the interruption goes on.

        Raises:
            CommandFailedError: If the launcher was killed: nobody can tell how the child ends
                then, and the whole tree is killed.
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
        self._line.wait()
        self._ended_ns = time.monotonic_ns()
        with self._reaping:
            return _account(self.pid, self._line.reap())

    def kill(self) -> None:
        """Kill the child and every descendant, those in other sessions included."""
        self._signal_group(signal.SIGKILL)
        kill_labelled(CHILD, lambda value: value == self.label)

    def stop(self, grace: float = 5.0, number: signal.Signals = signal.SIGTERM) -> Ended:
        """Ask the group to end, and kill what has not ended after ``grace`` seconds.

        Args:
            grace: Seconds.
            number: By what it is asked.
        """
        if self._ended is None:
            self._signal_group(number)
            try:
                with Deadline(grace, self.kill).armed():
                    self.wait()
            finally:
                self.kill()
        return self.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self._line.holds_pid:
                os.killpg(self.pid, number)


def _account(pid: int, spent: Spent) -> Ended:
    """Give the kernel's account SI units; it counts KiB, and blocks of 512 bytes."""
    known = spent.peak_kib > spent.floor_kib
    return Ended(
        os.waitstatus_to_exitcode(spent.status),
        user_s=spent.user_s,
        system_s=spent.system_s,
        peak_rss_bytes=spent.peak_kib * 1024 if known else None,
        minor_faults=spent.minor_faults,
        major_faults=spent.major_faults,
        read_bytes=spent.read_blocks * 512,
        write_bytes=spent.written_blocks * 512,
        pid=pid,
        peak_floor_bytes=spent.floor_kib * 1024,
        cpu_wait_s=_waited(spent),
    )


def _waited(spent: Spent) -> float | None:
    """Return how long a child waited for a CPU; nobody knows where others worked for it, too."""
    total_s = spent.user_s + spent.system_s
    alone = 0 < spent.on_cpu_ns >= _FIRST_THREADS * total_s * 1e9
    return spent.waited_ns / 1e9 if alone else None


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

    It is the launcher's child: see ``benchyard.process.launcher`` for what it inherits.

    Args:
        arguments: Program and arguments.
        folder: Its working folder.
        environment: Added to what ``child_environment`` lets through of this process's own.
        stdin: ``DEVNULL``, ``PIPE``, a descriptor or an open file, as for ``subprocess``.
        stdout: The same.
        stderr: The same, or ``STDOUT``.
        labels: Further labels beside owner and child.

    Raises:
        CommandFailedError: If the program is not there or may not be executed.
    """
    ensure_guard()
    note_arguments(arguments)
    label = uuid.uuid4().hex
    own = {OWNER: this_owner(), CHILD: label, **(labels or {})}
    with ExitStack() as kept, ExitStack() as given:
        try:
            theirs, ours = _streams((stdin, stdout, stderr), kept, given)
            words = [_plain(os.fsencode(word)) for word in arguments]
            variables = _variables({**(environment or {}), **own})
            order = StartOrder(words, os.fsencode(folder.absolute()), variables, theirs)
            line = launch(order)
            kept.pop_all()
        except (OSError, ValueError) as error:
            raise CommandFailedError(f"cannot start '{arguments[0]}': {_why(error)}") from error
        except BaseException:
            kill_labelled(CHILD, lambda value: value == label)
            raise
    return Child(line, label, *ours)


def _why(error: OSError | ValueError) -> str:
    """Say what an error says, without its number: that says nothing to a user."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror


def _streams(
    wanted: tuple[int | IO[bytes], ...], kept: ExitStack, given: ExitStack
) -> tuple[list[int], list[IO[bytes] | None]]:
    """Open a child's three streams; return its descriptors, and the lab's ends of pipes.

    Args:
        wanted: What each stream is to be, in the order of their numbers.
        kept: Closes the lab's ends of pipes.
        given: Closes what only the child is to have.

    Raises:
        OSError: If there cannot be more descriptors.
        ValueError: If a file is closed.
    """
    theirs: list[int] = []
    ours: list[IO[bytes] | None] = [None] * len(wanted)
    for number, one in enumerate(wanted):
        if not isinstance(one, int):
            theirs.append(one.fileno())
        elif one == subprocess.PIPE:
            end, own = os.pipe() if number == 0 else reversed(os.pipe())
            given.callback(os.close, end)
            ours[number] = stream = open(own, "rb" if number else "wb")  # noqa: SIM115, PTH123 - a descriptor
            kept.callback(stream.close)
            theirs.append(end)
        elif one == subprocess.DEVNULL:
            theirs.append(os.open(os.devnull, os.O_RDWR))
            given.callback(os.close, theirs[-1])
        else:
            theirs.append(theirs[1] if one == subprocess.STDOUT else one)
    return theirs, ours


def _variables(added: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return what a child inherits and what is added, as the kernel takes it."""
    encoded = {os.fsencode(name): os.fsencode(value) for name, value in added.items()}
    for name, value in encoded.items():
        _plain(value)
        if b"=" in _plain(name):
            raise ValueError(f"illegal environment variable name '{os.fsdecode(name)}'")
    inherited = child_environment()
    return {os.fsencode(name): os.fsencode(inherited[name]) for name in inherited} | encoded


def _plain(text: bytes) -> bytes:
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """Return the lab's end of a pipe that was asked for."""
    if stream is None:
        raise ValueError("the child was started without this pipe")
    return stream


def tail(path: Path, size: int = TAIL) -> str:
    """Return the last ``size`` bytes of a text file, blanks stripped; empty if it is not there.

    What of a secret would be cut off is taken out first.
    """
    more = longest_known()
    try:
        with path.open("rb") as stream:
            begin = max(0, stream.seek(0, os.SEEK_END) - size - more)
            stream.seek(begin)
            text = redacted_end(stream.read(), more if begin else 0)
    except OSError:
        return ""
    return text[-size:].decode(errors="replace").strip()
