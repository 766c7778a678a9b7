"""The sampling process: a recorder of raw bytes that knows nothing of what it reads.

It keeps files open, reads them at absolute deadlines, and appends what changed to a file that
``benchyard.samplers.raw`` describes and reads back; decoding happens after the run. It is started
by file path, isolated, and imports nothing of Benchyard and as little as possible of Python.

Its input is a pipe that the parent holds, and its only master: it ends when the input ends, so
with its parent, whatever killed that. Signals that ask a whole group to end are ignored, for the
parent still measures while it winds up. Commands, one a line, words apart by one blank:

``open OWNER WHAT FILE SIZE PATH``  record this file; SIZE bytes of it, or 0 for all of it.
``tree OWNER WHAT PID``             record a process and its descendants.
``gpus OWNER WHAT LIBRARY``         record the GPUs that this NVML library knows.
``forget OWNER WHAT``               close all that was opened under these two words.
``begin``                           take the first sample; before it no time counts.

It writes ``ready`` to its output after the first sample, and its account as JSON at the end.
"""

import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from select import select

MAGIC = b"benchyard samples 2\n"
#: Kind and size of a record; a tick's instant and which classes were read; a file in a tick.
FRAME = struct.Struct("<cI")
TICK = struct.Struct("<qB")
PART = struct.Struct("<II")
MISSED = struct.Struct("<qQ")
#: Kinds of records.
OPENED, GONE, TICKED, LATE, NOTE = b"O", b"G", b"T", b"M", b"N"
#: Classes of files: read at each deadline; processes; devices whose driver is slow to answer.
STEADY, PROCESSES, DEVICES = 1, 2, 4

#: Owner and what.
Key = tuple[bytes, bytes]

#: At most so long (ns) do samples wait in memory, and new descendants to be found.
FLUSH_NS = 500_000_000
#: GPUs are asked at most so often (ns): their drivers' own averages are longer than that.
DEVICES_NS = 100_000_000
#: Reading processes, and looking for new ones, may each take one part in so many of a core.
SHARE = 400
#: The kernel hands out long lists in parts of at most a page, each of whole lines.
PAGE = 4096
_LONGEST_LINE = 512


def next_deadline(due_ns: int, now_ns: int, interval_ns: int) -> tuple[int, int]:
    """Return the next deadline after now, and how many passed by without a sample.

    Deadlines are multiples of the interval from the first one, so what a sample costs shifts none.
    """
    missed = max(0, (now_ns - due_ns) // interval_ns)
    return due_ns + (missed + 1) * interval_ns, missed


def whole(descriptor: int, size: int, offset: int) -> bytes:
    """Read all of a file; one more reading for each part of ``size`` that it may be longer."""
    content = os.pread(descriptor, size, offset)
    if len(content) > size - _LONGEST_LINE:
        while more := os.pread(descriptor, size, offset + len(content)):
            content += more
    return content


class File:
    """One thing that is read again and again; raises OSError where it cannot be opened."""

    __slots__ = ("descriptor", "ident", "key", "last", "read", "size")

    def __init__(self, key: Key, size: int, path: bytes) -> None:
        self.key = key
        self.ident = -1
        self.last: bytes | None = None
        self.size = size or PAGE
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if path else -1
        self.read: Callable[[int, int, int], bytes] = os.pread if size else whole

    def close(self) -> None:
        """Close it; closing again does no harm."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


class Recorder:
    """What is open, and what waits to be written."""

    def __init__(self, raw: int) -> None:
        self._raw = raw
        self._waiting = [MAGIC]
        self._idents = 0
        self.steady: list[File] = []
        self.members: list[File] = []
        self.devices: list[File] = []
        self.samples = 0
        self._members_due = self._devices_due = 0

    def open(self, files: list[File], file: File, name: bytes) -> None:
        """Record a file from now on, under owner, what and ``name``."""
        file.ident = self._idents
        self._idents += 1
        self.put(OPENED, PART.pack(file.ident, len(name)) + b" ".join((*file.key, name)))
        files.append(file)

    def forget(self, key: Key) -> None:
        """Close all files of ``key``."""
        for files in (self.steady, self.members, self.devices):
            for file in [file for file in files if file.key == key]:
                self._drop(files, file)

    def sample(self, at_ns: int) -> None:
        """Read what is due; what has not changed takes no place."""
        classes = STEADY
        parts = [b"", b""]
        self._read(self.steady, parts)
        if self.members and at_ns >= self._members_due:
            classes |= PROCESSES
            begun = time.thread_time_ns()
            self._read(self.members, parts)
            self._members_due = at_ns + SHARE * (time.thread_time_ns() - begun)
        if self.devices and at_ns >= self._devices_due:
            classes |= DEVICES
            self._devices_due = at_ns + DEVICES_NS
            self._read(self.devices, parts)
        parts[1] = TICK.pack(at_ns, classes)
        parts[0] = FRAME.pack(TICKED, sum(map(len, parts)))
        self._waiting += parts
        self.samples += 1

    def _read(self, files: list[File], parts: list[bytes]) -> None:
        pack = PART.pack
        vanished: list[File] = []
        for file in files:
            try:
                content = file.read(file.descriptor, file.size, 0)
            except OSError:
                vanished.append(file)
                continue
            if content != file.last:
                file.last = content
                parts += pack(file.ident, len(content)), content
        for file in vanished:
            self._drop(files, file)

    def _drop(self, files: list[File], file: File) -> None:
        file.close()
        files.remove(file)
        self.put(GONE, PART.pack(file.ident, 0))

    def put(self, kind: bytes, payload: bytes) -> None:
        """Append a record to what waits."""
        self._waiting += FRAME.pack(kind, len(payload)), payload

    def flush(self) -> None:
        """Hand what waits to the kernel; OSError if the disk takes no more."""
        waiting = memoryview(b"".join(self._waiting))
        self._waiting = []
        while waiting:
            waiting = waiting[os.write(self._raw, waiting) :]


class Trees:
    """The process trees that are watched, and their living members."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._roots: dict[Key, int] = {}
        self._known: dict[int, File] = {}
        self._newest: bytes = b""
        self._due_ns = 0

    def watch(self, key: Key, pid: int) -> None:
        """Watch ``pid`` and what descends from it."""
        self._roots[key] = pid
        self._newest = b""
        self._due_ns = 0

    def forget(self, key: Key) -> None:
        """Watch a tree no longer."""
        self._roots.pop(key, None)
        self._newest = b""
        self._recorder.forget(key)

    def refresh(self, at_ns: int) -> None:
        """Find new descendants, unless no process was born anywhere or it would cost too much."""
        if not self._roots or at_ns < self._due_ns:
            return
        # It ends in the pid given out last: the cheapest sign that something was born.
        newest = _content("/proc/loadavg").rpartition(b" ")[2]
        if newest and newest == self._newest:
            return
        self._newest = newest
        begun = time.thread_time_ns()
        self._known = {pid: file for pid, file in self._known.items() if file.descriptor >= 0}
        for key, root in self._roots.items():
            self._descend(key, root)
        self._due_ns = at_ns + SHARE * (time.thread_time_ns() - begun)

    def _descend(self, key: Key, root: int) -> None:
        # From every living member, for the root may be gone and its daemons left.
        waiting = [root, *(pid for pid, file in self._known.items() if file.key == key)]
        seen: set[int] = set()
        while waiting:
            pid = waiting.pop()
            if pid not in seen and (pid in self._known or self._join(key, pid)):
                waiting += children(pid)
            seen.add(pid)

    def _join(self, key: Key, pid: int) -> bool:
        try:
            stat = File(key, 1024, b"/proc/%d/stat" % pid)
        except OSError:
            return False
        self._known[pid] = stat
        self._recorder.open(self._recorder.members, stat, b"%d/stat" % pid)
        try:
            moved = File(key, 512, b"/proc/%d/io" % pid)
        except OSError:  # another user's
            return True
        self._recorder.open(self._recorder.members, moved, b"%d/io" % pid)
        return True


def children(pid: int) -> list[int]:
    """Return the living children of a process, of all its threads. Source: proc_pid_task(5)."""
    found: list[int] = []
    with suppress(OSError):  # it ends meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found += map(int, _content(f"/proc/{pid}/task/{thread}/children").split())
    return found


def _content(path: str) -> bytes:
    with suppress(OSError), open(path, "rb", buffering=0) as stream:  # noqa: PTH123
        return stream.read(65536)
    return b""


class Sampling:
    """The loop, and the commands that reach it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._trees = Trees(recorder)
        self._unread = b""
        self._begun = False
        self.missed = 0

    def run(self, interval_ns: int) -> None:
        """Sample from ``begin`` until the input ends, and once more then."""
        ended = False
        while not self._begun and not ended:
            ended = not self._hear()
        due = flushed = time.monotonic_ns()
        self._trees.refresh(due)
        recorder = self._recorder
        while True:
            at = time.monotonic_ns()
            recorder.sample(at)
            late, (due, passed) = due, next_deadline(due, time.monotonic_ns(), interval_ns)
            if passed:
                self.missed += passed
                recorder.put(LATE, MISSED.pack(late + interval_ns, passed))
            if at - flushed >= FLUSH_NS or ended or recorder.samples == 1:
                recorder.flush()
                flushed = at
                if recorder.samples == 1:
                    tell("ready")
                self._trees.refresh(at)
            if ended:
                return
            ended = self._ends_before(due)

    def _ends_before(self, due_ns: int) -> bool:
        """Sleep until ``due_ns``, obeying commands; tell whether the input ended."""
        while select((0,), (), (), max(0, due_ns - time.monotonic_ns()) / 1e9)[0]:
            if not self._hear():
                return True
            self._trees.refresh(due_ns)
        return False

    def _hear(self) -> bool:
        """Read commands and obey; False at the input's end."""
        heard = os.read(0, 65536)
        *lines, self._unread = (self._unread + heard).split(b"\n")
        for line in filter(None, lines):
            try:
                self._obey(line)
            except (OSError, ValueError, ImportError) as error:
                self._recorder.put(NOTE, b"%b: %b" % (line, str(error).encode()))
        return bool(heard)

    def _obey(self, line: bytes) -> None:
        match line.split(b" ", 5):
            case [b"begin"]:
                self._begun = True
            case [b"open", owner, what, name, size, path]:
                file = File((owner, what), int(size), path)
                self._recorder.open(self._recorder.steady, file, name)
            case [b"tree", owner, what, pid]:
                self._trees.watch((owner, what), int(pid))
            case [b"gpus", owner, what, library]:
                self._open_gpus((owner, what), os.fsdecode(library))
            case [b"forget", owner, what]:
                self._trees.forget((owner, what))
            case _:
                raise ValueError("it is no command")

    def _open_gpus(self, key: Key, library: str) -> None:
        from importlib import import_module  # noqa: PLC0415

        sys.path.append(os.path.dirname(__file__))  # noqa: PTH120
        for name, read in import_module("nvml").readers(library):
            file = File(key, 1, b"")
            file.read = read
            self._recorder.open(self._recorder.devices, file, name)


def tell(line: str) -> None:
    """Write a line to the parent; it may be dead, and then the input ends, too."""
    with suppress(OSError):
        os.write(1, line.encode() + b"\n")


def main(arguments: Sequence[str]) -> None:
    """Sample into the file ``arguments[0]`` every ``arguments[1]`` seconds."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        recorder = Recorder(os.open(arguments[0], flags, 0o666))
        sampling = Sampling(recorder)
        sampling.run(max(1, round(float(arguments[1]) * 1e9)))
    except OSError as error:
        sys.exit(f"cannot write {arguments[0]}: {error.strerror}")
    # Not getrusage, whose figure begins with what the parent had when it forked.
    kib = int((_content("/proc/self/status").partition(b"VmHWM:")[2].split() or [b"0"])[0])
    account = (recorder.samples, sampling.missed, kib * 1024)
    tell('{"samples": %d, "missed": %d, "peak_rss_bytes": %d}' % account)  # noqa: UP031


if __name__ == "__main__":
    main(sys.argv[1:])
