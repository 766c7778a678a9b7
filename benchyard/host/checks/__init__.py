"""Whether this host can be measured on now: all checks, made before a run."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benchyard.host.checks import confinement, neighbours, processor, storage
from benchyard.host.checks.check_context import (
    CheckContext,
    Finding,
    Judgement,
    Status,
    look,
    unknown,
)
from benchyard.host.facts.reading import UNTOLD, Host
from benchyard.host.facts.system import meet_engine, read_clock

#: Seconds of the look: 5 % of a core are then 15 ms, which every scheduler has handed out by then.
LOOK_SECONDS = 0.3
#: The same for the engine's answer: one that is slower than this is worth a finding itself.
_PATIENCE = 0.2

#: Name of each check to what makes it, in the order of the report. A check that does not apply to
#: this host returns None.
CHECKS: Mapping[str, Callable[[CheckContext], Judgement | None]] = {
    "governor": processor.governor,
    "energy preference": processor.energy_preference,
    "turbo": processor.turbo_boost,
    "frequency limits": processor.frequency_limits,
    "kinds of cores": processor.kinds_of_cores,
    "SMT": processor.simultaneous_threads,
    "thermal throttling": processor.thermal_throttling,
    "NUMA": processor.memory_nodes,
    "CPU isolation": processor.isolation,
    "swap": storage.swap,
    "free memory": storage.free_memory,
    "huge pages": storage.transparent_huge_pages,
    "ASLR": storage.address_randomization,
    "load average": neighbours.load_average,
    "pressure": neighbours.pressure,
    "busy processes": neighbours.busy_processes,
    "steal": neighbours.steal,
    "other containers": neighbours.other_containers,
    "other labs": neighbours.other_labs,
    "docker": neighbours.docker,
    "results folder": storage.results_folder,
    "temporary folder": storage.temporary_folder,
    "clock synchronization": processor.clock_synchronization,
    "clocksource": processor.source_of_time,
    "power supply": confinement.power_supply,
    "power profile": confinement.power_profile,
    "virtualization": confinement.virtual,
    "cgroups": confinement.cgroups,
    "limits of the lab": confinement.limits,
    "kernel": confinement.kernel,
    "user": confinement.user,
    "process counters": confinement.process_counters,
    "perf events": confinement.performance_events,
    "energy counters": confinement.energy_counters,
    "open files": confinement.open_files,
}


def findings(
    results: Path | None = None,
    *,
    look_seconds: float = LOOK_SECONDS,
    temporary: Path | None = None,
    root: Path = Path("/"),
) -> tuple[Finding, ...]:
    """Look this host over; nothing is changed, and nothing fails.

    Args:
        results: Folder for results, which need not be there yet; the current one if left out.
        look_seconds: How long the host's counters are watched; 0 leaves out what needs that.
        temporary: Folder for temporary files; that of this process if left out.
        root: Where the kernel's files lie; another one than ``/`` is a recorded host.
    """
    host = Host(root)
    context = CheckContext(
        host=host,
        results=results or Path(),
        temporary=temporary or _temporary(),
        look=look(host, look_seconds),
        engine=meet_engine(host, "/containers/json", _PATIENCE),
        clock=read_clock() if root == Path("/") else None,
        user=os.geteuid(),
    )
    return examine(context)


def _temporary() -> Path:
    """Return where temporary files go; Python raises if it can write to no such folder."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - looked at, not written to


def examine(context: CheckContext) -> tuple[Finding, ...]:
    """Make every check that applies to this host."""
    made = (make(name, context) for name in CHECKS)
    return tuple(finding for finding in made if finding is not None)


def make(name: str, context: CheckContext) -> Finding | None:
    """Make one check; None if it does not apply to this host."""
    try:
        judgement = CHECKS[name](context)
    except UNTOLD as error:
        judgement = unknown(f"what the kernel tells cannot be understood: {error}")
    return Finding(name, *judgement) if judgement else None


def worst_first(found: tuple[Finding, ...]) -> list[Finding]:
    """Return findings in the order of their weight, else as they were made."""
    order = list(Status)
    return sorted(found, key=lambda finding: order.index(finding.status))
