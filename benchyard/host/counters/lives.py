"""Watching one program in a control group, from its start to its end.

A container's group vanishes soon after its last process, and what it counted with it. But a process
that ended is told of (pidfd_open(2)) before anybody else can take it away, so whoever waits for
that reads the whole account. The same moment is the end of a program that was executed in a
container which runs on.

The begin is known as well: until a container's runtime has executed the program, it works under a
name of its own inside of the container's group, for 20 to 100 ms. What others of its processes used
there is not the program's. What it used in the very process that becomes the program is: there the
kernel makes no difference, nor does the program when it asks (getrusage(2)).
Source: pidfd_open(2); runc, libcontainer/nsenter/nsexec.c, which sets the name.
"""

import os
import select
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchyard.core.clock import cpu_ns
from benchyard.core.errors import MeasurementError
from benchyard.host.counters.account import NETWORK, MetricBook, unknown
from benchyard.host.counters.group_parsing import group_cpu
from benchyard.host.counters.group_usage import CPU, tell_cpu, used_by_group
from benchyard.host.counters.groups import FILES, Group, GroupReading
from benchyard.host.counters.kernel import KernelFile, read_once
from benchyard.host.counters.traffic import Traffic, carried, read_network, why_unknown
from benchyard.process.cgroups import Cgroup, cgroup_of

#: What a runtime's own process is called, until it executes the program.
RUNTIMES = (b"runc", b"crun", b"youki")
#: Seconds between two looks for a program that is about to begin.
_PAUSE = 0.001
#: The same after so many seconds: it will not be seen any more, but somebody may still name it.
_RARE_PAUSE, _SOON = 0.1, 10.0
#: Milliseconds after which the wait for an end is given up that nobody wants to know any more.
_CLOSED_WITHIN_MS = 200
#: Seconds between two looks at the traffic of one that ended: what it sent last is still under way.
_LAST_BYTES = 0.002


class GroupLife:
    """What a program used, from readings of its group; see ``benchyard.process.usage.Life``.

    Args:
        start: When it began; None if that was not seen, and all that the group counted is its own.
        end: When it ended; None if that was not seen in time.
        others_s: CPU time that the group had counted for others by then, when it began; None if
            that is not known.
        traffic: Of its network namespace, soon after its begin and at its end.
        is_alone: Whether the group is its own; else it tells only the CPU time, if it knows that.
    """

    def __init__(
        self,
        start: GroupReading | None,
        end: GroupReading | None,
        others_s: float | None,
        traffic: tuple[Traffic, Traffic],
        *,
        is_alone: bool,
    ) -> None:
        self._readings = start, end
        self._others_s = others_s
        self._traffic = traffic
        self._is_alone = is_alone
        self._account: MetricBook | None = None

    def told(
        self, began_ticks: int, devices: Collection[str] | None
    ) -> tuple[Mapping[str, float | None], Mapping[str, str]]:
        """Return metric to value, and to why it is None; decoded once, and the bytes let go."""
        if self._account is None:
            self._account = self._decoded(began_ticks, devices)
            self._readings = None, None
        return self._account.values, self._account.reasons

    def _decoded(self, began_ticks: int, devices: Collection[str] | None) -> MetricBook:
        start, end = self._readings
        whole = unknown("its container ended before anybody could read what it had used")
        if end is not None and not end.is_gone:
            whole = used_by_group(start, end, began_ticks, devices)
            total_s = group_cpu(end.raw["cpu"] or b"").total_s
            if total_s is not None and self._others_s is not None:
                tell_cpu(whole, total_s - self._others_s, "")
        if self._is_alone:
            self._tell_network(whole)
            return whole
        part = MetricBook()
        # What was not seen of a program that others are beside stays that of all together.
        for metric in CPU if whole.values[CPU[0]] is not None else ():
            part.tell(metric, whole.values[metric], whole.reasons.get(metric, ""))
        return part

    def _tell_network(self, account: MetricBook) -> None:
        first, last = self._traffic
        why = "its network was taken away before its traffic could be read"
        if not first.name:
            why = why_unknown(first, first)
        # The namespace is as new as the program, which may have been quicker than the first look.
        moved = carried(Traffic(), last, began_inside=True)
        account.tell_all(NETWORK, moved, f"its container: {why}")


class LifeSpan(NamedTuple):
    """When a program began and ended, in monotonic nanoseconds; None where that was not seen."""

    began_ns: int | None
    ended_ns: int | None

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if self.began_ns is None or self.ended_ns is None:
            return None
        return (self.ended_ns - self.began_ns) / 1e9


#: Of what was not watched.
NEVER = LifeSpan(None, None)


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
        self._others_s: float | None = None
        self._start: GroupReading | None = None
        self._end: GroupReading | None = None
        self._traffic = Traffic(), Traffic()
        self._times: list[int | None] = [None, None]
        #: The runtime's own processes to the CPU time that others had used by the last look.
        self.starting: dict[int, float | None] = {}
        #: The program's process id on this host, once it is known.
        self.pid: int | None = None
        self._thread = threading.Thread(target=self._watch, name="sight", daemon=True)
        self._thread.start()

    def hint(self, pid: int) -> None:
        """Name the process, in case its start was not seen."""
        self._hint = pid

    def close(self) -> tuple[GroupLife, LifeSpan]:
        """End watching, after the program's end; return its account."""
        self._over.set()
        self._thread.join()
        life = GroupLife(
            self._start, self._end, self._others_s, self._traffic, is_alone=self._is_alone
        )
        return life, LifeSpan(*self._times)

    # -- in the thread

    def _watch(self) -> None:
        # It sleeps nearly always, and what it waits for is gone 20 ms later. Only root may do so.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self.pid = self._begin()
        if self.pid is None:
            return
        try:
            ending = os.pidfd_open(self.pid)
            group = Group(cgroup_of(self.pid), keeps_peaks=self._is_alone)
        except (OSError, MeasurementError):  # it has ended
            return
        try:
            self._look(ending, group)
        finally:
            os.close(ending)
            group.close()

    def _look(self, ending: int, group: Group) -> None:
        reading = group.read()
        if self._times[0] is not None:
            self._start = reading
        traffic = _Interfaces(self.pid) if self._is_alone else None
        poller = select.poll()
        poller.register(ending, select.POLLIN)
        while not poller.poll(_CLOSED_WITHIN_MS):
            if self._over.is_set():
                return
        self._times[1] = time.monotonic_ns()
        self._end = group.read()
        if traffic is not None:
            self._traffic = traffic.follow(self._over)

    def _begin(self) -> int | None:
        """Wait until the runtime executes the program, and return it."""
        usage = KernelFile(None)
        soon = time.monotonic() + _SOON
        try:
            while not self._over.is_set():
                usage = usage if usage.is_open else KernelFile(self._cpu_file())
                for pid in self._members():
                    if self._is_program(pid):
                        self._times[0] = time.monotonic_ns()
                        self._others_s = self.starting[pid]
                        return pid
                if self._hint is not None:
                    return self._hint
                total_s = group_cpu(usage.read() or b"").total_s
                self.starting |= {pid: _without(total_s, pid) for pid in self.starting}
                time.sleep(_PAUSE if time.monotonic() < soon else _RARE_PAUSE)
        finally:
            usage.close()
        return None

    def _is_program(self, pid: int) -> bool:
        if pid in self._before:
            return False
        name = read_once(f"/proc/{pid}/comm") or b""
        if name.startswith(RUNTIMES):
            self.starting.setdefault(pid, None)
            return False
        return bool(name) and pid in self.starting

    def _members(self) -> Iterator[int]:
        if self._folder is not None:
            yield from map(int, (read_once(f"{self._folder}/cgroup.procs") or b"").split())

    def _cpu_file(self) -> Path | None:
        names = [name for _, name in FILES["cpu"]]
        places = [self._folder / name for name in names] if self._folder else []
        return next((place for place in places if place.exists()), None)


def _without(total_s: float | None, pid: int) -> float | None:
    """Return what others used of a group's CPU time than one process in it."""
    own_ns = cpu_ns(pid)
    return None if total_s is None or own_ns is None else total_s - own_ns / 1e9


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


def cpu_folder(group: Cgroup) -> Path | None:
    """Return a group's folder in the hierarchy that counts CPU time."""
    return group.folders.get("cpuacct") or group.folders.get("")
