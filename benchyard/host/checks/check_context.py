"""What checks work on and what they return: files, counters over a moment; findings."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from benchyard.core.clock import cpu_ns, seconds
from benchyard.core.model import JsonObject
from benchyard.host.counters.account import difference
from benchyard.host.counters.host import HostFiles, Values, counters
from benchyard.host.counters.parsing import TICKS_PER_S, process_stat
from benchyard.host.facts.hardware import online
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
        counted: As ``counted`` returns it.
        processes: Pid to seconds of CPU time.
    """

    at_s: float
    counted: Values
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

    def grown(self, metric: str) -> float:
        """Return how far a counter of the host went; 0 if that is not told."""
        return difference(self.before.counted[metric], self.after.counted[metric]) or 0

    def shares(self) -> dict[int, float]:
        """Return the share of a core that each process used, those that began meanwhile too."""
        before = self.before.processes
        return {
            pid: max(used - before.get(pid, 0.0), 0.0) / self.seconds
            for pid, used in self.after.processes.items()
        }


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
    pids = [int(name) for name in host.names("proc") if name.isdecimal() and len(name) < 10]
    used = {pid: _cpu_s(host, pid) for pid in pids}
    return Glance(
        time.monotonic() if at_s is None else at_s,
        counted(host),
        {pid: seconds for pid, seconds in used.items() if seconds is not None},
    )


def _cpu_s(host: Host, pid: int) -> float | None:
    """Return the CPU time of a process: exact on this host, in ticks on a recorded one."""
    if host == Host():
        spent_ns = cpu_ns(pid)
        return None if spent_ns is None else seconds(spent_ns)
    told = process_stat(host.content(f"proc/{pid}/stat"))
    return None if told is None else (told.user_ticks + told.system_ticks) / TICKS_PER_S


def counted(host: Host) -> Values:
    """Return what a host counted since boot, by the names in the record; None for what it did not.

    Energy is not among it.
    """
    files = HostFiles(host.root)
    try:
        return counters(files.read())
    finally:
        files.close()


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
