"""The sampling process: a recorder of raw bytes that knows nothing of what it reads.

It keeps files open, reads them at absolute deadlines, and appends what changed to a file that
``benchyard.host.sampler.raw`` describes and reads back; decoding happens after the run. It is
started by file path, isolated, and imports nothing of Benchyard and as little as possible of
Python.

Its input is a pipe that the parent holds, and its only master: it ends when the input ends, so
with its parent, whatever killed that. Signals that ask a whole group to end are ignored, for the
parent still measures while it winds up. Commands, one a line, words apart by one blank:

``open OWNER WHAT FILE SIZE PATH``  record this file; SIZE bytes of it, or 0 for all of it.
``tree OWNER WHAT PID``             record a process and its descendants.
``gpus OWNER WHAT LIBRARY``         record the GPUs that this NVML library knows.
``forget OWNER WHAT``               close all that was opened under these two words.
``begin``                           take the first sample; before it no time counts.

It writes ``ready`` to its output after the first sample, and its account as JSON at the end.

After a sleep all caches are cold, so a tick costs by the code that it runs through: it reads and
keeps, nothing else. What changed is worked out when several ticks are written together. A command
comes with a signal, for waiting for a signal is cheaper than asking about a pipe.
"""

import fcntl
import gc
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from select import select

# Not from ``typing``, which takes longer to load than all the rest; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from benchyard.host.sampler.descendants import Trees

MAGIC = b"benchyard samples 2\n"
#: Kind and size of a record; a tick's instant and which classes were read; a file in a tick.
FRAME = struct.Struct("<cI")
TICK = struct.Struct("<qB")
PART = struct.Struct("<II")
MISSED = struct.Struct("<qQ")
#: Kinds of records.
OPENED, GONE, TICKED, LATE, NOTE, STOPPED = b"O", b"G", b"T", b"M", b"N", b"S"
#: Classes of files: read at each deadline; processes; devices whose driver is slow to answer.
STEADY, PROCESSES, DEVICES = 1, 2, 4

Key = tuple[bytes, bytes]  # owner and what

#: At most so long (ns) do samples wait in memory, and new descendants to be found.
FLUSH_NS = 500_000_000
#: GPUs are asked at most so often (ns): their drivers' own averages are longer than that.
DEVICES_NS = 100_000_000
#: Reading processes may take one part in so many of a core.
SHARE = 400
#: The kernel hands out long lists in parts of at most a page, each of whole lines.
PAGE = 4096
_LONGEST_LINE = 512
#: Signals of a pipe with something to read or without a writer (fcntl(2), O_ASYNC), and of a stop.
_HEARD, _STOPPED = (signal.SIGIO,), (signal.SIGCONT,)


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
        #: Ticks not yet encoded: instant, classes, files and what each held.
        self._ticks: list[tuple[int, int, list[File], list[bytes]]] = []
        self._idents = 0
        self.steady: list[File] = []
        self.members: list[File] = []
        self.devices: list[File] = []
        self.samples = 0
        self._members_due = self._devices_due = 0

    def open(self, files: list[File], file: File, name: bytes) -> File:
        """Record a file from now on, under owner, what and ``name``; return it."""
        file.ident = self._idents
        self._idents += 1
        self.put(OPENED, PART.pack(file.ident, len(name)) + b" ".join((*file.key, name)))
        files.append(file)
        return file

    def open_member(self, key: Key, path: bytes, name: bytes) -> File:
        """Record a file of a process from now on; OSError if it cannot be opened."""
        return self.open(self.members, File(key, 1024, path), name)

    def forget(self, key: Key) -> None:
        """Close all files of ``key``."""
        for files in (self.steady, self.members, self.devices):
            for file in [file for file in files if file.key == key]:
                self._drop(files, file)

    def sample(self, at_ns: int) -> None:
        """Read what is due."""
        steady = self.steady
        try:
            contents = [file.read(file.descriptor, file.size, 0) for file in steady]
        except OSError:
            contents = self._survivors(steady)
        self._ticks.append((at_ns, STEADY, steady, contents))
        self.samples += 1
        if self.members or self.devices:
            self._sample_rest(at_ns)

    def _sample_rest(self, at_ns: int) -> None:
        """Read what is not read at each tick, and belongs to the last one."""
        if self.members and at_ns >= self._members_due:
            begun = time.thread_time_ns()
            self._add(PROCESSES, self.members)
            self._members_due = at_ns + SHARE * (time.thread_time_ns() - begun)
        if self.devices and at_ns >= self._devices_due:
            self._devices_due = at_ns + DEVICES_NS
            self._add(DEVICES, self.devices)

    def _add(self, classes: int, files: list[File]) -> None:
        at_ns, known, others, held = self._ticks.pop()
        contents = self._survivors(files)
        self._ticks.append((at_ns, known | classes, others + files, held + contents))

    def _survivors(self, files: list[File]) -> list[bytes]:
        """Read files one by one; those that vanished are dropped from the list."""
        contents: list[bytes] = []
        for file in tuple(files):
            try:
                contents.append(file.read(file.descriptor, file.size, 0))
            except OSError:
                self._drop(files, file)
        return contents

    def _drop(self, files: list[File], file: File) -> None:
        file.close()
        # First, for earlier ticks hold this list.
        self.put(GONE, PART.pack(file.ident, 0))
        files.remove(file)

    def put(self, kind: bytes, payload: bytes) -> None:
        """Append a record to what waits."""
        self._encode()
        self._waiting += FRAME.pack(kind, len(payload)), payload

    def _encode(self) -> None:
        """Turn ticks into records; what has not changed takes no place."""
        pack, ticks, self._ticks = PART.pack, self._ticks, []
        for at_ns, classes, files, contents in ticks:
            parts = [TICK.pack(at_ns, classes)]
            for file, content in zip(files, contents, strict=True):
                if content != file.last:
                    file.last = content
                    parts += pack(file.ident, len(content)), content
            self._waiting += FRAME.pack(TICKED, sum(map(len, parts))), *parts

    def flush(self) -> None:
        """Hand what waits to the kernel; OSError if the disk takes no more."""
        self._encode()
        waiting = memoryview(b"".join(self._waiting))
        self._waiting = []
        while waiting:
            waiting = waiting[os.write(self._raw, waiting) :]


class Sampling:
    """The loop, and the commands that reach it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._trees: Trees | None = None
        self._unread = b""
        self._begun = False
        self._flushed_ns = 0

    def run(self, interval_ns: int) -> None:
        """Sample from ``begin`` until the input ends, and once more then."""
        ended = False
        while not self._begun and not ended:
            ended = not self._hear()
        now, wait, sample = time.monotonic_ns, signal.sigtimedwait, self._recorder.sample
        due = flush_due = now()
        self._refresh(due)
        while True:
            at = now()
            sample(at)
            late, (due, passed) = due, next_deadline(due, now(), interval_ns)
            if passed:
                self._recorder.put(LATE, MISSED.pack(late + interval_ns, passed))
            if at >= flush_due or ended:
                self._flush(at)
                flush_due = at + FLUSH_NS
            if ended:
                return
            if wait(_HEARD, max(0, due - now()) / 1e9):
                ended = self._ends_before(due)

    def _flush(self, at_ns: int) -> None:
        if signal.sigtimedwait(_STOPPED, 0):
            self._recorder.put(STOPPED, MISSED.pack(self._flushed_ns, at_ns))
        self._flushed_ns = at_ns
        self._recorder.flush()
        if self._recorder.samples == 1:
            tell("ready")
        self._refresh(at_ns)

    def _refresh(self, at_ns: int) -> None:
        if self._trees:
            self._trees.refresh(at_ns)

    def _ends_before(self, due_ns: int) -> bool:
        """Sleep until ``due_ns``, obeying commands; tell whether the input ended."""
        while select((0,), (), (), max(0, due_ns - time.monotonic_ns()) / 1e9)[0]:
            if not self._hear():
                return True
            self._refresh(due_ns)
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
                trees = self._trees = self._trees or _beside("descendants").Trees(self._recorder)
                trees.watch((owner, what), int(pid))
            case [b"gpus", owner, what, library]:
                self._open_gpus((owner, what), os.fsdecode(library))
            case [b"forget", owner, what]:
                self._recorder.forget((owner, what))
                if self._trees:
                    self._trees.forget((owner, what))
            case _:
                raise ValueError("it is no command")

    def _open_gpus(self, key: Key, library: str) -> None:
        for name, read in _beside("nvml").readers(library):
            file = File(key, 1, b"")
            file.read = read
            self._recorder.open(self._recorder.devices, file, name)


def _beside(name: str) -> "Any":
    """Import a module from this file's folder, which only some runs need."""
    from importlib import import_module  # noqa: PLC0415

    sys.path.append(os.path.dirname(__file__))  # noqa: PTH120
    try:
        return import_module(name)
    finally:
        sys.path.pop()


def tell(line: str) -> None:
    """Write a line to the parent; it may be dead, and then the input ends, too."""
    with suppress(OSError):
        os.write(1, line.encode() + b"\n")


def main(arguments: Sequence[str]) -> None:
    """Sample into the file ``arguments[0]`` every ``arguments[1]`` seconds."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD + _STOPPED)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    gc.disable()  # nothing here makes cycles
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        recorder = Recorder(os.open(arguments[0], flags, 0o666))
        sampling = Sampling(recorder)
        sampling.run(max(1, round(float(arguments[1]) * 1e9)))
    except OSError as error:
        sys.exit(f"cannot write {arguments[0]}: {error.strerror}")
    # Not getrusage, whose figure begins with what the parent had when it forked.
    with open("/proc/self/status", "rb", buffering=0) as status:  # noqa: PTH123
        kib = int((status.read(65536).partition(b"VmHWM:")[2].split() or [b"0"])[0])
    tell('{"peak_rss_bytes": %d}' % (kib * 1024))  # noqa: UP031


if __name__ == "__main__":
    main(sys.argv[1:])
