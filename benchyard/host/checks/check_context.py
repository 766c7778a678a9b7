"""What the checks look at: the host's files, its counters for a moment, what answers a question."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from benchyard.core.clock import cpu_ns, seconds
from benchyard.core.model import Json
from benchyard.host.checks.clocks import ClockState
from benchyard.host.checks.finding import Finding
from benchyard.host.counters.parsing import cpu_times, memory_events, process_stat
from benchyard.host.counters.values import CpuTimes
from benchyard.host.facts.engine import ask, engine_socket
from benchyard.host.facts.hardware import CPU, online
from benchyard.host.facts.reading import UNTOLD, Host, integer


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
class Look:
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


def look(host: Host, seconds: float, sleep: Callable[[float], None] = time.sleep) -> Look | None:
    """Look for so many seconds; not at all for none."""
    if seconds <= 0:
        return None
    before = glance(host)
    sleep(seconds)
    return Look(before, glance(host))


def glance(host: Host, at_s: float | None = None) -> Glance:
    """Read the counters now.

    Args:
        at_s: When that is, of a recorded host.
    """
    events = memory_events((host.text("proc/vmstat") or "").encode())
    moved = [n for n in (events.swap_in_bytes, events.swap_out_bytes) if n is not None]
    pids = [int(name) for name in host.names("proc") if name.isdecimal() and len(name) < 10]
    used = {pid: _cpu_s(host, pid) for pid in pids}
    return Glance(
        time.monotonic() if at_s is None else at_s,
        cpu_times((host.text("proc/stat") or "").encode()),
        sum(moved) if len(moved) == 2 else None,
        throttled(host),
        {pid: seconds for pid, seconds in used.items() if seconds is not None},
    )


def _cpu_s(host: Host, pid: int) -> float | None:
    """Return the CPU time of a process: exact on this host, in ticks on a recorded one."""
    if str(host.root) == "/":
        spent_ns = cpu_ns(pid)
        return None if spent_ns is None else seconds(spent_ns)
    told = process_stat((host.text(f"proc/{pid}/stat") or "").encode())
    if told.user_s is None or told.system_s is None:
        return None
    return told.user_s + told.system_s


def throttled(host: Host) -> int | None:
    """Return how often CPUs were slowed down for heat since boot; None if that is not told.

    A package's count stands with each of its CPUs: the largest one counts.
    Source: Linux, arch/x86/kernel/cpu/mce/therm_throt.c.
    """
    folders = [name for name in host.names(CPU) if name[:3] == "cpu" and name[3:].isdecimal()]
    told = {
        kind: [_throttled(host, folder, kind) for folder in folders] for kind in ("core", "package")
    }
    cores = [count for count in told["core"] if count is not None]
    package = max((count for count in told["package"] if count is not None), default=None)
    return None if package is None and not cores else sum(cores) + (package or 0)


def _throttled(host: Host, folder: str, kind: str) -> int | None:
    return integer(host.text(f"{CPU}/{folder}/thermal_throttle/{kind}_throttle_count"))


#: Seconds for the engine's answer: one that is slower than this is worth a finding itself.
_PATIENCE = 0.2


class Contact(Enum):
    """Whether the Docker engine of this host answers."""

    ABSENT = "there is no socket"
    ELSEWHERE = "it is on another host"
    REFUSED = "this user may not ask"
    SILENT = "it does not answer"
    ANSWERS = "it answers"


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The Docker engine, as it answered.

    Args:
        place: Its socket.
        server: How it names itself.
        containers: What it says of the running ones; None if it did not answer.
    """

    contact: Contact
    place: str = ""
    server: str = ""
    containers: Json = None


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
    look: Look | None = None
    engine: EngineFacts = EngineFacts(Contact.ABSENT)
    clock: ClockState | None = None
    user: int = 0

    @property
    def cores(self) -> int:
        """How many CPUs are online."""
        return len(online(self.host))


def meet_engine(host: Host) -> EngineFacts:
    """Ask the Docker engine for its running containers."""
    place = engine_socket(host)
    if place is None:
        return EngineFacts(Contact.ELSEWHERE, os.environ.get("DOCKER_HOST", ""))
    if not os.access(place, os.F_OK):
        return EngineFacts(Contact.ABSENT, str(place))
    try:
        answer = ask(place, "/containers/json", _PATIENCE)
    except PermissionError:
        return EngineFacts(Contact.REFUSED, str(place))
    except UNTOLD:
        return EngineFacts(Contact.SILENT, str(place))
    return EngineFacts(Contact.ANSWERS, str(place), answer.server, answer.body)


#: Name of each check to what makes it; None is a check that does not apply to this host.
Checks: TypeAlias = Mapping[str, Callable[[CheckContext], Finding | None]]
