"""What checks work on and what they return: files, counters over a moment; findings."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from benchyard.core.clock import cpu_ns, seconds
from benchyard.core.model import JsonObject
from benchyard.host.counters.host import thermal_counters
from benchyard.host.counters.kernel import read_once
from benchyard.host.counters.parsing import (
    TICKS_PER_S,
    CpuTimes,
    cpu_times,
    memory_events,
    number,
    process_stat,
    sum_of,
)
from benchyard.host.facts.hardware import CPU, online
from benchyard.host.facts.reading import Host
from benchyard.host.facts.system import ClockState, EngineFacts


class Status(StrEnum):
    """How a check stands.

    ``fail``: numbers taken now would be wrong, or the run would break. ``warn``: they would be
    noisier than they need be, or biased; or something is kept from being measured. ``unknown``:
    the host does not tell, so a reader cannot rely on it. ``ok``: nothing speaks against it.
    """

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        check: Its name, the same on every host.
        finding: What was found, with figures.
        advice: What to do, with the command where there is one; "" if there is nothing to do.
    """

    check: str
    status: Status
    finding: str
    advice: str = ""

    def to_json(self) -> JsonObject:
        """Return it for the record."""
        return asdict(self)


#: What a check concludes: a finding without the check's name.
Judgement: TypeAlias = tuple[Status, str, str]


def ok(finding: str) -> Judgement:
    """Judge that nothing speaks against measuring."""
    return Status.OK, finding, ""


def warn(finding: str, advice: str) -> Judgement:
    """Judge that numbers would be noisier or biased."""
    return Status.WARN, finding, advice


def fail(finding: str, advice: str) -> Judgement:
    """Judge that numbers would be wrong, or the run would break."""
    return Status.FAIL, finding, advice


def unknown(finding: str, advice: str = "") -> Judgement:
    """Judge that the host does not tell."""
    return Status.UNKNOWN, finding, advice


@dataclass(frozen=True, slots=True)
class Glance:
    """The counters at one instant.

    Args:
        swapped_bytes: Both ways, since boot.
        throttled: How often a CPU was slowed down for heat since boot.
        processes: Pid to seconds of CPU time.
    """

    at_s: float
    cpu: CpuTimes
    swapped_bytes: int | None
    throttled: int | None
    processes: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Load:
    """What happened between two glances."""

    before: Glance
    after: Glance

    @property
    def seconds(self) -> float:
        """How long it took; never zero."""
        return max(self.after.at_s - self.before.at_s, 1e-3)

    @property
    def swapped_bytes(self) -> int:
        """How much was swapped in and out; nothing if that is not told."""
        return _grown(self.before.swapped_bytes, self.after.swapped_bytes)

    @property
    def throttled(self) -> int:
        """How often a CPU was slowed down for heat; never if that is not told."""
        return _grown(self.before.throttled, self.after.throttled)

    @property
    def stolen_s(self) -> float | None:
        """Seconds of CPU time that a hypervisor took; None if that is not told."""
        before, after = self.before.cpu.steal_s, self.after.cpu.steal_s
        return None if before is None or after is None else max(after - before, 0.0)

    def shares(self) -> dict[int, float]:
        """Return the share of a core that each process used, those that began meanwhile too."""
        before = self.before.processes
        return {
            pid: max(used - before.get(pid, 0.0), 0.0) / self.seconds
            for pid, used in self.after.processes.items()
        }


def _grown(before: int | None, after: int | None) -> int:
    return max(after - before, 0) if before is not None and after is not None else 0


def look(host: Host, seconds: float, sleep: Callable[[float], None] = time.sleep) -> Load | None:
    """Look for so many seconds; not at all for none."""
    if seconds <= 0:
        return None
    before = glance(host)
    sleep(seconds)
    return Load(before, glance(host))


def glance(host: Host, at_s: float | None = None) -> Glance:
    """Read the counters now.

    Args:
        at_s: When that is, of a recorded host.
    """
    events = memory_events(host.content("proc/vmstat"))
    pids = [int(name) for name in host.names("proc") if name.isdecimal() and len(name) < 10]
    used = {pid: _cpu_s(host, pid) for pid in pids}
    return Glance(
        time.monotonic() if at_s is None else at_s,
        cpu_times(host.content("proc/stat")),
        sum_of((events.swap_in_bytes, events.swap_out_bytes)),
        throttled(host),
        {pid: seconds for pid, seconds in used.items() if seconds is not None},
    )


def _cpu_s(host: Host, pid: int) -> float | None:
    """Return the CPU time of a process: exact on this host, in ticks on a recorded one."""
    if host == Host():
        spent_ns = cpu_ns(pid)
        return None if spent_ns is None else seconds(spent_ns)
    told = process_stat(host.content(f"proc/{pid}/stat"))
    return None if told is None else (told.user_ticks + told.system_ticks) / TICKS_PER_S


def throttled(host: Host) -> int | None:
    """Return how often CPUs were slowed down for heat since boot; None if that is not told."""
    told = [number(read_once(str(path)) or b"") for path in thermal_counters(host.at(CPU))]
    return sum_of(count for count in told if count is not None)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """Everything that a check may use.

    Args:
        look: None if there was no time for one.
        results: Folder for results.
        temporary: Folder for temporary files.
        clock: What the kernel says of its clock; None if it does not.
        user: Effective user id.
    """

    host: Host
    results: Path
    temporary: Path
    engine: EngineFacts
    look: Load | None = None
    clock: ClockState | None = None
    user: int = 0

    @property
    def cores(self) -> int:
        """How many CPUs are online."""
        return len(online(self.host))
