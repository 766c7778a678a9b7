"""The launcher: a small process that starts the lab's children, so that their peaks are their own.

When a process executes a program, Linux books the peak of the memory that it leaves behind, which
is its parent's, as its own: no child of a flow process of 200 MB would seem smaller than that. A
child of this process has its own peak, unless it is smaller than this process.
Source: Linux, fs/exec.c (``exec_mmap``); posix_spawn(3), which borrows the parent's memory.

So it is made small. It imports as little as it can; hence ``_socket`` and ``_signal``: the modules
around them would make it larger by more than a megabyte. And it is a fork of the process that the
lab started, which becomes the adopter then: a fork begins without the pages of files that only
starting a Python takes, 7 MB instead of 9, and without a peak of its own that began with the lab's.
Source: Linux, mm/memory.c (``vma_needs_copy``); kernel/fork.c (``copy_signal``).

A child inherits from here what is neither descriptor nor folder nor environment: limits, umask,
niceness, affinity, control group. They are those that the lab had when it started its first child.

The control socket is standard input. On it this process tells its pid; then the lab sends one
message for each child, with four descriptors: the child's line, which is a sequenced socket, and
its three streams. On the line go:

1. from the lab the order, in parts: (arguments, folder, environment), all bytes;
2. to the lab (pid, 0, False, the instant just before the program was started, monotonic ns), or
   (0, error number, whether it is about the folder, 0);
3. from the lab, once it saw the child end, one byte: until then a zombie keeps the pid;
4. to the lab the account: (wait status, seconds of user and of system time, peak in KiB, minor and
   major faults, blocks of 512 bytes read and written, this process's own peak in KiB, nanoseconds
   that the child's first thread was on a CPU and waited for one, -1 if not known), and then each
   instant (monotonic ns) not yet told at which this process went on after it was stopped.

If the lab lets go of the line, the child is waited for and forgotten. If the control socket
closes, the lab is dead; then this process ends, and guard and adopter kill the children.
"""

import marshal
import os
import resource
import select
import sys
import time
from _socket import CMSG_SPACE, MSG_CMSG_CLOEXEC, MSG_NOSIGNAL, socket

#: The first byte of a part of an order.
MORE, LAST = b"+", b"."
#: Bytes that a part may have; a sequenced socket takes no message of any length.
PART = 60_000
#: Bytes that no answer to the lab exceeds.
ANSWER = 4096

_DESCRIPTORS = 4
#: Stops of this process that are remembered until somebody can be told; the last ones.
_MOST_STOPS = 100
_SIGKILL = 9
_NOWHERE = (FileNotFoundError, NotADirectoryError)

_signal = __import__("_signal")


def main() -> None:
    """Serve the lab at the other end of standard input until it is dead.

    The arguments are the adopter's command; it gets standard output, its own socket to the lab.
    """
    # What is ignored or blocked here would be so in each child. Python ignores two by itself.
    for number in _signal.valid_signals():
        if _signal.getsignal(number) == _signal.SIG_IGN:
            _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    # Streams of children must not arrive under the numbers that they are moved to.
    taken = os.open("/dev/null", os.O_RDWR)
    while taken <= 2:
        taken = os.dup(taken)
    os.chdir("/")
    if os.fork():
        _adopt(taken)
    os.dup2(taken, 1, inheritable=False)
    os.close(taken)
    control = socket(fileno=0)
    _say(control, (os.getpid(),))
    Launcher(control).serve()
    os._exit(0)


def _adopt(nothing: int) -> None:
    """Become the adopter of this process's only child, and of what that starts.

    Without labels, by which the guard would kill it before its work is done.
    """
    os.dup2(nothing, 0)
    os.dup2(nothing, 2)
    unlabelled = {name: os.environ[name] for name in os.environ if name[:10] != "BENCHYARD_"}
    try:
        os.execve(sys.argv[1], sys.argv[1:], unlabelled)  # noqa: S606 - no shell is wanted
    finally:
        os._exit(127)


class Launcher:
    """Serves one lab.

    Args:
        control: The socket that children are asked for on.
    """

    def __init__(self, control: socket) -> None:
        self._control = control
        # Descriptor of a line to the line, its child and this process's peak after its start.
        self._lines: dict[int, tuple[socket, int, int]] = {}
        # Descriptor of a child that the lab let go of to its pid.
        self._left: dict[int, int] = {}
        self._poll = select.poll()
        self._poll.register(control.fileno(), select.POLLIN)
        self._continued: list[int] = []
        _signal.signal(_signal.SIGCONT, self._go_on)

    def serve(self) -> None:
        """Do what the lab asks for; return when it is dead."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._lines:
                    self._account_for(descriptor)
                elif descriptor in self._left:
                    self._forget(descriptor)
                elif not self._hear():
                    return

    def _hear(self) -> bool:
        """Start the next child; False if there is nobody any more who wants one."""
        try:
            said, ancillary, _, _ = self._control.recvmsg(1, CMSG_SPACE(16), MSG_CMSG_CLOEXEC)
        except OSError:  # it died so early that it did not hear the pid
            return False
        came = [number for *_, some in ancillary for number in memoryview(some).cast("i").tolist()]
        if len(came) == _DESCRIPTORS:
            self._begin(socket(fileno=came.pop(0)), came)
        for descriptor in came:
            os.close(descriptor)
        return bool(said)

    def _begin(self, line: socket, streams: list[int]) -> None:
        order = _order(line)
        if order is None:
            line.close()
            return
        pid, *error = _started(*order, streams)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        heard = _say(line, (pid, *error))
        if not pid:
            line.close()
            return
        if not heard:
            _kill(pid)
        self._lines[line.fileno()] = (line, pid, peak)
        self._poll.register(line.fileno(), select.POLLIN)

    def _account_for(self, descriptor: int) -> None:
        line, pid, peak = self._lines.pop(descriptor)
        self._poll.unregister(descriptor)
        if _heard(line):
            waited = _waited(pid)
            _, status, used = os.wait4(pid, 0)
            told, self._continued = self._continued, []
            _say(line, (status, *_numbers(used), peak, *waited, *told))
        else:
            self._leave(pid)
        line.close()

    def _go_on(self, _number: int, _frame: object) -> None:
        self._continued = [*self._continued, time.monotonic_ns()][-_MOST_STOPS:]

    def _leave(self, pid: int) -> None:
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:  # too many are open: it stays a zombie
            return
        self._left[descriptor] = pid
        self._poll.register(descriptor, select.POLLIN)

    def _forget(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        os.waitpid(self._left.pop(descriptor), 0)
        os.close(descriptor)


def _order(line: socket) -> "tuple[list[bytes], bytes, dict[bytes, bytes]] | None":
    """Read what is to be started; None if the lab let go of the line."""
    parts: list[bytes] = []
    while True:
        part = _heard(line)
        if not part:
            return None
        parts.append(part[1:])
        if part[:1] == LAST:
            return marshal.loads(b"".join(parts))  # noqa: S302 - the lab is who says it


def _heard(line: socket) -> bytes:
    try:
        return line.recv(PART + 1)
    except OSError:
        return b""


def _say(line: socket, what: tuple[float, ...]) -> bool:
    try:
        line.send(marshal.dumps(what), MSG_NOSIGNAL)
    except OSError:
        return False
    return True


def _numbers(used: resource.struct_rusage) -> tuple[float, ...]:
    times = (used.ru_utime, used.ru_stime)
    faults = (used.ru_minflt, used.ru_majflt)
    return (*times, used.ru_maxrss, *faults, used.ru_inblock, used.ru_oublock)


def _waited(pid: int) -> tuple[int, int]:
    """Return how long the first thread of a zombie was on a CPU, and waited for one (ns).

    Source: Linux, Documentation/scheduler/sched-stats.rst.
    """
    try:
        file = os.open("/proc/%d/schedstat" % pid, os.O_RDONLY)  # noqa: UP031 - smaller
        try:
            on, waited, *_ = os.read(file, 128).split()
        finally:
            os.close(file)
        return int(on), int(waited)
    except (OSError, ValueError):
        return -1, -1


def _kill(group: int) -> None:
    try:
        os.killpg(group, _SIGKILL)
    except OSError:  # it is somebody else's by now: the guard may not kill it either
        return


def _started(
    arguments: list[bytes], folder: bytes, environment: dict[bytes, bytes], streams: list[int]
) -> tuple[int, int, bool, int]:
    """Start a program; return what the lab is to be told."""
    about_folder = True
    try:
        os.chdir(folder)
        about_folder = False
        began_ns = time.monotonic_ns()
        return start(arguments, environment, streams), 0, False, began_ns
    except OSError as error:
        return 0, error.errno or 0, about_folder, 0
    finally:
        os.chdir("/")  # no file system is kept busy


def start(arguments: list[bytes], environment: dict[bytes, bytes], streams: list[int]) -> int:
    """Start a program of the ``PATH`` in its own environment; return its pid.

    Args:
        arguments: Program and arguments.
        environment: All of it; ``PATH`` in it is searched.
        streams: Descriptors of its three standard streams, none of them below 3.

    Raises:
        OSError: If it is not there or may not be executed.
    """
    failures: list[OSError] = []
    for program in _candidates(arguments[0], environment):
        try:
            return _execute(program, arguments, environment, streams)
        except OSError as error:
            failures.append(error)
    telling = [error for error in failures if not isinstance(error, _NOWHERE)]
    raise (telling or failures)[0]


def _candidates(name: bytes, environment: dict[bytes, bytes]) -> list[bytes]:
    if b"/" in name:
        return [name]
    folders = environment.get(b"PATH", os.defpath.encode()).split(b":")
    paths = [folder + b"/" + name if folder else name for folder in folders]
    return [path for path in paths if _may_be_there(path)] or paths[-1:]


def _may_be_there(path: bytes) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - pathlib would make this process larger
    except _NOWHERE:
        return False
    except OSError:
        return True
    return True


def _execute(
    program: bytes, arguments: list[bytes], environment: dict[bytes, bytes], streams: list[int]
) -> int:
    moves = [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)]
    try:
        return os.posix_spawn(program, arguments, environment, file_actions=moves, setsid=True)
    except NotImplementedError:
        # A Python that was built for a C library older than 2.26, as uv's are, knows no sessions.
        return _fork(program, arguments, environment, streams)


def _fork(
    program: bytes, arguments: list[bytes], environment: dict[bytes, bytes], streams: list[int]
) -> int:
    """Do the same with a copy of this process, which costs the child 0.4 ms."""
    heard, told = os.pipe()
    pid = os.fork()
    if not pid:
        _become(program, arguments, environment, streams, told)
    os.close(told)
    failure = os.read(heard, 16)
    os.close(heard)
    if failure:
        os.waitpid(pid, 0)
        raise OSError(int(failure), os.strerror(int(failure)))
    return pid


def _become(
    program: bytes,
    arguments: list[bytes],
    environment: dict[bytes, bytes],
    streams: list[int],
    told: int,
) -> None:
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.execve(program, arguments, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(told, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)
