"""Watching one program in a control group, from its start to its end.

A container's group vanishes soon after its last process, and what it counted with it. But a process
that ended is told of (pidfd_open(2)) before anybody else can take it away, so whoever waits for
that reads the whole account. The same moment is the end of a program that was executed in a
container which runs on.

The begin is known as well: until a container's runtime has executed the program, it works under a
name of its own inside of the container's group, for 20 to 100 ms. It is watched from then on, for
its pidfd and its group stay what they are when it executes the program. What other processes of the
runtime used there is not the program's. What it used in the very process that becomes the program
is: there the kernel makes no difference, nor does the program when it asks (getrusage(2)).

Whoever watches may get a CPU late. The kernel's own times of exec and exit are taken where it tells
them; else begin and end lie somewhere between two looks, and that is the error of the length. What
the group counted for others was read at a look, too; what came in between is the account's error.
Source: pidfd_open(2); runc, libcontainer/nsenter/nsexec.c, which sets the name.
"""

import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchyard.core.clock import cpu_ns
from benchyard.core.errors import MeasurementError
from benchyard.host.counters.account import difference
from benchyard.host.counters.group_usage import GroupLife, Others
from benchyard.host.counters.groups import FILES, ControlGroup, GroupReading, amount
from benchyard.host.counters.kernel import KernelFile, Traffic, read_network, read_once
from benchyard.host.counters.parsing import pressure
from benchyard.host.counters.process_events import ProcessEvents
from benchyard.process.cgroups import cgroup_of
from benchyard.process.usage import MOST_ERROR, LifeSpan

#: What a runtime's own process is called, until it executes the program.
RUNTIMES = (b"runc", b"crun", b"youki")
#: Seconds between two looks for a program that is about to begin.
_PAUSE = 0.001
#: The same after so many seconds: it will not be seen any more, but somebody may still name it.
_RARE_PAUSE, _SOON = 0.1, 10.0
#: Milliseconds after which the wait for an end is given up that nobody wants to know any more.
_CLOSED_WITHIN_MS = 200
#: Where the kernel does not tell when it ends: this share of its time so far is between two looks.
_LOOKS = 250
#: Seconds between two looks at the traffic of one that ended: what it sent last is still under way.
_LAST_BYTES = 0.002
#: Nanoseconds that a process may use while its group is read, for both to be of one moment.
_ONE_MOMENT_NS = 200_000


class _Edge(NamedTuple):
    """The begin or the end of a program.

    Args:
        at_ns: When it was seen, or was; None if it was not seen.
        gap_ns: How long before that it may have been.
        reading: Of its group, right after that; None if it came too late.
        waited_s: How long anybody on this host had waited for a CPU by then.
        read_ns: When the group had been read.
    """

    at_ns: int | None = None
    gap_ns: int = 0
    reading: GroupReading | None = None
    waited_s: float | None = None
    read_ns: int = 0

    @classmethod
    def seen(cls, before_ns: int | None, group: ControlGroup) -> "_Edge":
        """Return one that just was, and was not yet at ``before_ns``."""
        now_ns = time.monotonic_ns()
        # How long anybody on this host has waited for a CPU so far.
        waited_s = pressure(read_once("/proc/pressure/cpu") or b"").some_s
        if before_ns is None:
            return cls(waited_s=waited_s)
        return cls(now_ns, now_ns - before_ns, group.read(), waited_s, time.monotonic_ns())

    def exact(self, at_ns: int | None) -> "_Edge":
        """Return it with the kernel's own time, if that told one."""
        if at_ns is None:
            return self
        # The kernel tells of an end before it notes the time.
        return self._replace(at_ns=min(at_ns, self.at_ns or at_ns), gap_ns=0)


class _Process:
    """A process that is going to be the program, or is.

    Args:
        pid: On this host.

    Raises:
        OSError: If it has ended.
        MeasurementError: If nobody can tell its group.
    """

    def __init__(self, pid: int, *, is_alone: bool) -> None:
        self.pid = pid
        self._is_alone = is_alone
        #: When it was certainly not the program yet; None if that was never seen.
        self.looked_ns: int | None = None
        #: When it was read what others had used, and that.
        self.others: tuple[int, float] | None = None
        self.group = ControlGroup(cgroup_of(pid), keeps_peaks=is_alone)
        self.ending = os.pidfd_open(pid)

    def look(self, now_ns: int, usage: KernelFile) -> None:
        """Note that it is the runtime's own, and what others than it have used in its group."""
        self.looked_ns = now_ns
        with suppress(MeasurementError):
            # The runtime enters one hierarchy after the other.
            if (group := cgroup_of(self.pid)) != self.group.cgroup:
                self.group.close()
                self.group = ControlGroup(group, keeps_peaks=self._is_alone)
        own_ns = cpu_ns(self.pid)
        total_s = amount({"cpu": usage.read()}, "resource_cpu_s")
        later_ns = cpu_ns(self.pid)
        if own_ns is None or later_ns is None or total_s is None:
            return
        if later_ns - own_ns <= _ONE_MOMENT_NS:
            self.others = now_ns, total_s - own_ns / 1e9

    def close(self) -> None:
        os.close(self.ending)
        self.group.close()


class Sight:
    """Watches one program. Make it before the runtime is asked to start it, and close it.

    Args:
        folder: Of the control group, in the hierarchy that counts CPU time; it may not be there
            yet. None if nobody knows it: then ``hint`` is needed.
        is_alone: Whether the program is what the group is for.
    """

    def __init__(self, folder: Path | None, *, is_alone: bool) -> None:
        self._folder = folder
        self._is_alone = is_alone
        self._before = frozenset(self._members())
        self._hint: int | None = None
        self._over = threading.Event()
        self._edges = [_Edge(), _Edge()]
        self._traffic = Traffic(), Traffic()
        self._is_real_time = False
        self._events = ProcessEvents()
        #: The runtime's own processes, by their ids.
        self.starting: dict[int, _Process] = {}
        #: The program's process id on this host, once it is known.
        self.pid: int | None = None
        self._thread = threading.Thread(target=self._watch, name="sight", daemon=True)
        self._thread.start()

    def hint(self, pid: int) -> None:
        """Name the process, in case its start was not seen."""
        self._hint = pid

    def close(self, pid: int | None = None) -> GroupLife:
        """End watching, after the program's end; return its account.

        Args:
            pid: The program's, if that is known: whatever else began meanwhile is not meant.
        """
        self._hint = pid or self._hint
        self._over.set()
        self._thread.join()
        process = self.starting.get(self.pid or 0)
        self._events.read()
        times = self._events.span(self.pid or 0, (process and process.looked_ns) or 0)
        begin, end = map(_Edge.exact, self._edges, times)
        self._events.close()
        if pid not in (None, self.pid):
            begin = end = _Edge()
        waited_s = difference(begin.waited_s, end.waited_s)
        error_ns = begin.gap_ns + end.gap_ns
        span = LifeSpan(begin.at_ns, end.at_ns, error_ns, waited_s, self._is_real_time)
        others = self._others(process, begin, end)
        readings = begin.reading, end.reading
        return GroupLife(readings, others, self._traffic, span, is_alone=self._is_alone)

    def _others(self, process: _Process | None, begin: _Edge, end: _Edge) -> Others | None:
        if not process or not process.others or begin.at_ns is None or end.at_ns is None:
            return None
        looked_ns, cpu_s = process.others
        late_ns = max(0, begin.at_ns - looked_ns)
        # What else runs in its group is counted with it, but not for longer than it took.
        after_ns = 0 if self._is_alone else end.read_ns - end.at_ns + end.gap_ns
        if after_ns > MOST_ERROR * (end.at_ns - begin.at_ns):
            late_ns += after_ns
        return Others(cpu_s, late_ns / 1e9)

    # -- in the thread

    def _watch(self) -> None:
        # It sleeps nearly always, and what it waits for is gone 20 ms later. Only root may do so.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            self._is_real_time = True
        try:
            self.pid = self._begin()
            if self.pid is not None:
                self._events.only(self.pid)
                self._look(self._process(self.pid))
        except (OSError, MeasurementError):  # it has ended
            return
        finally:
            for each in self.starting.values():
                each.close()

    def _look(self, process: _Process) -> None:
        self._edges[0] = _Edge.seen(process.looked_ns, process.group)
        traffic = _Interfaces(self.pid) if self._is_alone else None
        alive_ns = self._wait(process.ending, process.looked_ns or 0)
        if alive_ns is None:
            return
        self._edges[1] = _Edge.seen(alive_ns, process.group)
        if traffic is not None:
            self._traffic = traffic.follow(self._over)

    def _wait(self, ending: int, alive: int) -> int | None:
        """Wait for the end; return when it had certainly not come, None if nobody waits for it.

        Args:
            alive: When it had certainly not come before this was called.
        """
        poller = select.poll()
        poller.register(ending, select.POLLIN)
        began = now = time.monotonic_ns()
        pause_ms = _CLOSED_WITHIN_MS
        while True:
            if not self._events.are_heard:
                pause_ms = min(_CLOSED_WITHIN_MS, 1 + (now - began) // (_LOOKS * 1_000_000))
            if poller.poll(pause_ms):
                return alive
            if self._over.is_set():
                return None
            alive = now + pause_ms * 1_000_000
            now = time.monotonic_ns()

    def _begin(self) -> int | None:
        """Wait until the runtime executes the program, and return it."""
        usage = KernelFile(None)
        soon = time.monotonic() + _SOON
        try:
            while not self._over.is_set():
                usage = usage if usage.is_open else KernelFile(self._cpu_file())
                self._events.read()
                for pid in {*self._members(), *self.starting} - self._before:
                    if self._is_program(pid, usage):
                        return pid
                if self._hint is not None:
                    break
                self._pause(soon)
        finally:
            usage.close()
        return self._hint

    def _pause(self, soon: float) -> None:
        time.sleep(_PAUSE if time.monotonic() < soon else _RARE_PAUSE)

    def _is_program(self, pid: int, usage: KernelFile) -> bool:
        now_ns = time.monotonic_ns()
        name = read_once(f"/proc/{pid}/comm") or b""
        if name.startswith(RUNTIMES):
            with suppress(OSError, MeasurementError):
                self._process(pid).look(now_ns, usage)
            return False
        process = self.starting.get(pid)
        if process is None or process.looked_ns is None:
            return False
        # One that ended was the program if it had executed one.
        return bool(name) or self._events.span(pid, process.looked_ns)[0] is not None

    def _process(self, pid: int) -> _Process:
        if pid not in self.starting:
            self.starting[pid] = _Process(pid, is_alone=self._is_alone)
        return self.starting[pid]

    def _members(self) -> Iterator[int]:
        if self._folder is not None:
            yield from map(int, (read_once(f"{self._folder}/cgroup.procs") or b"").split())

    def _cpu_file(self) -> Path | None:
        names = [name for _, name in FILES["cpu"]]
        places = [self._folder / name for name in names] if self._folder else []
        return next((place for place in places if place.exists()), None)


class _Interfaces:
    """The interfaces of a process's network namespace, which outlive it for a moment."""

    def __init__(self, pid: int | None) -> None:
        self._start = read_network(pid)
        self._file = KernelFile(Path(f"/proc/{pid}/net/dev"), records=True)

    def follow(self, over: threading.Event) -> tuple[Traffic, Traffic]:
        """Read until they are taken away, or it is over; return the first and the last sight."""
        last = Traffic(problem=self._start.problem)
        try:
            lines = self._start.net_dev.count(b"\n")
            while self._start.name and (now := self._file.read()) and now.count(b"\n") >= lines:
                last = Traffic(self._start.name, now)
                if over.wait(_LAST_BYTES):
                    break
        finally:
            self._file.close()
        return self._start, last
