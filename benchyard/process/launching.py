"""The lab's side of the launcher: one such process for this one, and a line to each child.

What goes over the wire, and why children are not started from here, says
``benchyard.process.launcher``.
A launcher is started with the first child, together with its parent, the adopter
(``benchyard.process.adopter``); if somebody killed it, the next child gets new ones.
"""

import contextlib
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from benchyard.core.errors import CommandFailedError
from benchyard.process.guard import python
from benchyard.process.labels import OWNER, this_owner
from benchyard.process.launcher import ANSWER, LAST, MORE, PART
from benchyard.process.usage import note_stop

_GONE = (
    "the process that starts the lab's children was killed, so nobody can tell how this one ended; "
    "it is killed too: run it again"
)


class StartOrder(NamedTuple):
    """A program to start.

    Args:
        arguments: Program and arguments.
        folder: Its working folder, absolute.
        environment: All of it; nothing is added.
        streams: Descriptors of its three standard streams.
    """

    arguments: Sequence[bytes]
    folder: bytes
    environment: Mapping[bytes, bytes]
    streams: Sequence[int]


class Spent(NamedTuple):
    """What the launcher tells of a child that ended, as the kernel counts it.

    Args:
        status: The wait status.
        user_s: CPU seconds in user mode.
        system_s: CPU seconds in the kernel.
        peak_kib: Largest resident set, or ``floor_kib`` where that was larger.
        minor_faults: Page faults without a disk.
        major_faults: Page faults that had to read a disk.
        read_blocks: Blocks of 512 bytes, as are those written.
        written_blocks: The same, written.
        floor_kib: The largest resident set of the launcher itself.
        on_cpu_ns: How long the child's first thread was on a CPU; -1 if that is not known.
        waited_ns: How long that thread waited for one; -1 if that is not known.
    """

    status: int
    user_s: float
    system_s: float
    peak_kib: int
    minor_faults: int
    major_faults: int
    read_blocks: int
    written_blocks: int
    floor_kib: int
    on_cpu_ns: int
    waited_ns: int


class Launched:
    """What connects this process, the launcher and one child. Made by ``launch``.

    Args:
        pid: The child's process id; nobody else gets it before ``reap``.
        began_ns: Monotonic nanoseconds just before the launcher asked the kernel for it.
        ours: The end of the line that this process holds.
    """

    def __init__(self, pid: int, began_ns: int, ours: socket.socket) -> None:
        self.pid, self.began_ns = pid, began_ns
        self._ours = ours
        self._asked = False
        self._child = os.pidfd_open(pid)
        self._close = weakref.finalize(self, _close, ours, self._child)
        self._close.atexit = False  # the kernel does

    def wait(self) -> None:
        """Return when the child has ended or the launcher is gone."""
        if self._close.alive:
            _readable(self._child, self._ours.fileno(), timeout=None)

    @property
    def running(self) -> bool:
        """Whether the child has not ended yet."""
        return self._close.alive and not _readable(self._child, timeout=0)

    @property
    def holds_pid(self) -> bool:
        """Whether the pid can be nobody else's: it was not let go, and the launcher lives."""
        return not self._asked and not _readable(self._ours.fileno(), timeout=0)

    def reap(self) -> Spent:
        """Let the child's pid go, and get its account; once, and after it ended.

        If it is interrupted it may be called again.

        Raises:
            CommandFailedError: If the launcher is gone.
        """
        self._asked = True
        answer = b""
        if self._close.alive:
            # Again, if an interruption came before: the launcher hears it once.
            with contextlib.suppress(ConnectionError):
                self._ours.send(LAST)
            answer = _answer(self._ours)
        self._close()
        if not answer:
            raise CommandFailedError(_GONE)
        told = marshal.loads(answer)  # noqa: S302 - our own launcher says it
        fields = len(Spent._fields)
        for at_ns in told[fields:]:
            note_stop("the process that starts the lab's children", at_ns)
        return Spent(*told[:fields])


def launch(order: StartOrder) -> Launched:
    """Let this process's launcher start a program.

    Raises:
        OSError: If it is not there or may not be executed, with the file's name.
        CommandFailedError: If the launcher cannot be started or dies meanwhile.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with theirs:
            first, *rest = _parts(order)
            # Before the launcher looks, so that it need not wait again; one part always fits.
            ours.send(first)
            _hand_over([theirs.fileno(), *order.streams])
        return _watched(*_agreed(ours, order, rest), ours)
    except BaseException:
        ours.close()
        raise


def _watched(pid: int, began_ns: int, ours: socket.socket) -> Launched:
    try:
        return Launched(pid, began_ns, ours)
    except OSError as error:
        raise CommandFailedError(f"process {pid} was started and cannot be watched") from error


def _parts(order: StartOrder) -> list[bytes]:
    wanted = marshal.dumps((list(order.arguments), order.folder, dict(order.environment)))
    last = (len(wanted) - 1) // PART * PART
    more = [MORE + wanted[start : start + PART] for start in range(0, last, PART)]
    return [*more, LAST + wanted[last:]]


def _agreed(ours: socket.socket, order: StartOrder, rest: Sequence[bytes]) -> tuple[int, int]:
    """Say the rest of what is to be started; return the child's pid and when it was started."""
    with contextlib.suppress(ConnectionError):
        for part in rest:
            ours.send(part)
    answer = _answer(ours)
    if not answer:
        raise CommandFailedError(_GONE)
    pid, number, about_folder, began_ns = marshal.loads(answer)  # noqa: S302 - as above
    if not pid:
        file = order.folder if about_folder else order.arguments[0]
        raise OSError(number, os.strerror(number), os.fsdecode(file))
    return pid, began_ns


def _answer(ours: socket.socket) -> bytes:
    """Wait for what the launcher says; nothing if it is gone."""
    # If it left something unheard the kernel says so first, and once; an answer comes after that.
    for _ in range(2):
        with contextlib.suppress(ConnectionResetError):
            return ours.recv(ANSWER)
    return b""


def _readable(*descriptors: int, timeout: int | None) -> bool:
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout))


def _close(ours: socket.socket, child: int) -> None:
    ours.close()
    os.close(child)


# -- the launchers


@dataclass(frozen=True, slots=True)
class _Launcher:
    """A launcher and its parent; the sockets are bare descriptors, as the guard's pipe is."""

    pid: int
    control: int
    adopter: int
    lifeline: int

    def send(self, descriptors: list[int]) -> None:
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, self.control)
        try:
            socket.send_fds(control, [LAST], descriptors)
        finally:
            control.detach()

    def let_go(self) -> None:
        os.close(self.control)
        os.close(self.lifeline)


_lock = threading.Lock()
_launchers: dict[str, _Launcher] = {}


def ensure_launcher() -> None:
    """Start this process's launcher if there is none yet, so that no child waits for it."""
    owner = this_owner()
    with _lock:
        if owner not in _launchers:
            _launchers[owner] = _start(owner)


def launcher_pid() -> int | None:
    """Return the process id of this process's launcher; None if there is none now."""
    with _lock:
        launcher = _launchers.get(this_owner())
        return launcher.pid if launcher and not _readable(launcher.control, timeout=0) else None


def adoption() -> tuple[int, int] | None:
    """Return the process ids of this process's adopter and launcher; None before the first child.

    Either may have been killed.
    """
    with _lock:
        launcher = _launchers.get(this_owner())
        return (launcher.adopter, launcher.pid) if launcher else None


def _hand_over(descriptors: list[int]) -> None:
    """Give descriptors to this process's launcher, a new one if the last is gone."""
    owner = this_owner()
    # The lock covers sending: a descriptor that another thread closes may soon mean another file.
    with _lock:
        if owner in _launchers:
            try:
                _launchers[owner].send(descriptors)
            except ConnectionError:
                _launchers.pop(owner).let_go()
            else:
                return
        _launchers[owner] = _start(owner)
        _launchers[owner].send(descriptors)


def _start(owner: str) -> _Launcher:
    with ExitStack() as ours:
        ends = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        control, lifeline = [ours.enter_context(one) for one, _ in ends]
        process = _execute(owner, *[theirs for _, theirs in ends])
        try:
            pid = _pid(_answer(control))
            # From now on no orphan escapes, whoever dies.
            _pid(_answer(lifeline))
        except BaseException:
            ours.close()
            process.wait()
            raise
        # It outlives this process for a moment: nobody waits for it, and that is no mistake.
        process.returncode = 0
        return _Launcher(pid, control.detach(), process.pid, lifeline.detach())


def _execute(
    owner: str, control: socket.socket, lifeline: socket.socket
) -> "subprocess.Popen[bytes]":
    """Execute the launcher's program; its process becomes the adopter, and the launcher a fork."""
    with control, lifeline:
        return subprocess.Popen(
            [*python("launcher"), *python("adopter")],
            stdin=control.fileno(),
            stdout=lifeline.fileno(),
            env={**os.environ, OWNER: owner},
            start_new_session=True,
        )


def _pid(said: bytes) -> int:
    if not said:
        raise CommandFailedError(f"no children can be started: {sys.executable} ended at once")
    (pid,) = marshal.loads(said)  # noqa: S302 - as above
    return pid


def _after_fork() -> None:
    """Leave the parent's launcher to the parent: ends held here would keep both alive."""
    global _lock  # noqa: PLW0603 - another thread may hold it at the fork, for ever
    _lock = threading.Lock()
    while _launchers:
        _launchers.popitem()[1].let_go()


os.register_at_fork(after_in_child=_after_fork)
