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
from benchyard.host.counters.parsing import pressure
from benchyard.host.counters.process_events import ProcessEvents
from benchyard.host.counters.traffic import Traffic, carried, read_network, why_unknown
from benchyard.process.cgroups import Cgroup, cgroup_of
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
#: What the runtime used (s) in a time so short is not told from what the program did.
_SHORT_S = 2 * _PAUSE


class Others(NamedTuple):
    """What a group counted for others than the program, up to its begin.

    Args:
        cpu_s: Of CPU time.
        error_s: Length of the gaps, at begin and end, in which they may have used more.
    """

    cpu_s: float
    error_s: float


class GroupLife:
    """What a program used, from readings of its group; see ``benchyard.process.usage.Life``.

    Args:
        readings: At its begin, None if that was not seen; and at its end, None if that was not
            seen in time.
        others: None if that is not known.
        traffic: Of its network namespace, soon after its begin and at its end.
        is_alone: Whether the group is its own; else it tells only the CPU time, if it knows that.
    """

    def __init__(
        self,
        readings: tuple[GroupReading | None, GroupReading | None],
        others: Others | None,
        traffic: tuple[Traffic, Traffic],
        span: LifeSpan,
        *,
        is_alone: bool,
    ) -> None:
        self.span = span
        self._readings = readings
        self._others = others
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
            self._tell_cpu(whole, group_cpu(end.raw["cpu"] or b"").total_s)
        if self._is_alone:
            self._tell_network(whole)
            return whole
        part = MetricBook()
        # Whatever else is counted in its group is that of all together.
        for metric in CPU:
            part.tell(metric, whole.values[metric], whole.reasons.get(metric, ""))
        return part

    def _tell_cpu(self, account: MetricBook, total_s: float | None) -> None:
        """Take off what others used, unless nobody knows that well enough."""
        if total_s is None or self._others is None:
            why = "its begin was not seen, so it is not told from its runtime's"
            account.tell_all(CPU, None, why)
            return
        own_s, error_s = total_s - self._others.cpu_s, self._others.error_s
        tell_cpu(account, own_s, "")
        if error_s > max(MOST_ERROR * own_s, _SHORT_S):
            why = f"it was not told from others' for {error_s:.2g} s: the lab got a CPU too late"
            account.tell_all(CPU, None, why)

    def _tell_network(self, account: MetricBook) -> None:
        first, last = self._traffic
        why = "its network was taken away before its traffic could be read"
        if not first.name:
            why = why_unknown(first, first)
        # The namespace is as new as the program, which may have been quicker than the first look.
        moved = carried(Traffic(), last, began_inside=True)
        account.tell_all(NETWORK, moved, f"its container: {why}")


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
        self.group = Group(cgroup_of(pid), keeps_peaks=is_alone)
        self.ending = os.pidfd_open(pid)

    def look(self, now_ns: int, usage: KernelFile) -> None:
        """Note that it is the runtime's own, and what others than it have used in its group."""
        self.looked_ns = now_ns
        with suppress(MeasurementError):
            # The runtime enters one hierarchy after the other.
            if (group := cgroup_of(self.pid)) != self.group.cgroup:
                self.group.close()
                self.group = Group(group, keeps_peaks=self._is_alone)
        own_ns = cpu_ns(self.pid)
        total_s = group_cpu(usage.read() or b"").total_s
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
        self._readings: list[GroupReading | None] = [None, None]
        self._traffic = Traffic(), Traffic()
        # When it was seen to have begun and ended, and how long before that it may have been.
        self._times: list[int | None] = [None, None]
        self._gaps = [0, 0]
        self._waited: list[float | None] = [None, None]
        self._read_ns = 0
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
        self._events.read()
        self._take_kernels_times()
        self._events.close()
        began, ended = self._times
        span = LifeSpan(began, ended, sum(self._gaps), self._waited_s(), self._is_real_time)
        others, first, last = self._others(), *self._readings
        if pid not in (None, self.pid):
            others, first, last, span = None, None, None, LifeSpan()
        return GroupLife((first, last), others, self._traffic, span, is_alone=self._is_alone)

    def _take_kernels_times(self) -> None:
        """Put the kernel's times in the place of those at which somebody looked."""
        process = self.starting.get(self.pid or 0)
        since = process.looked_ns or 0 if process else 0
        for edge, at_ns in enumerate(self._events.span(self.pid or 0, since)):
            if at_ns is not None:
                # The kernel tells of an end before it notes the time.
                self._times[edge] = min(at_ns, self._times[edge] or at_ns)
                self._gaps[edge] = 0

    def _waited_s(self) -> float | None:
        before, after = self._waited
        return None if before is None or after is None else after - before

    def _others(self) -> Others | None:
        known = self.starting.get(self.pid or 0)
        began, ended = self._times
        if known is None or known.others is None or began is None or ended is None:
            return None
        looked_ns, cpu_s = known.others
        late_ns = max(0, began - looked_ns)
        if not self._is_alone:
            late_ns += max(0, self._read_ns - ended + self._gaps[1])
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
        began = time.monotonic_ns()
        self._waited[0] = _host_waited_s()
        reading = process.group.read()
        if process.looked_ns is not None:
            self._readings[0] = reading
            self._times[0], self._gaps[0] = began, began - process.looked_ns
        traffic = _Interfaces(self.pid) if self._is_alone else None
        alive = self._wait(process.ending, process.looked_ns or 0)
        if alive is None:
            return
        ended = time.monotonic_ns()
        self._readings[1] = process.group.read()
        self._read_ns = time.monotonic_ns()
        self._times[1], self._gaps[1] = ended, ended - alive
        self._waited[1] = _host_waited_s()
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
                time.sleep(_PAUSE if time.monotonic() < soon else _RARE_PAUSE)
        finally:
            usage.close()
        return self._hint

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


def _host_waited_s() -> float | None:
    """Return how long anybody on this host has waited for a CPU so far."""
    return pressure(read_once("/proc/pressure/cpu") or b"").some_s


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
