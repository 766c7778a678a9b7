"""All checks of a host, made before it is measured on."""

import os
import tempfile
from pathlib import Path

from benchyard.host.checks import clocks, confinement, memory, neighbours, processor, storage
from benchyard.host.checks.check_context import CheckContext, Checks, look, meet_engine
from benchyard.host.checks.finding import Finding, Status, unknown
from benchyard.host.facts.reading import UNTOLD, Host

#: Seconds of the look: 5 % of a core are then 15 ms, which every scheduler has handed out by then.
LOOK_SECONDS = 0.3


def clock_synchronization(context: CheckContext) -> Finding:
    """Check that the clock is kept right."""
    return clocks.synchronization(context.host, context.clock)


def clocksource(context: CheckContext) -> Finding:
    """Check what the time is read from."""
    return clocks.source(context.host)


#: In the order in which a person would look.
CHECKS: Checks = {
    **processor.CHECKS,
    **memory.CHECKS,
    **neighbours.CHECKS,
    **storage.CHECKS,
    "clock synchronization": clock_synchronization,
    "clocksource": clocksource,
    **confinement.CHECKS,
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
        engine=meet_engine(host),
        clock=clocks.read_clock() if root == Path("/") else None,
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
    made = (_made(name, context) for name in CHECKS)
    return tuple(finding for finding in made if finding is not None)


def _made(name: str, context: CheckContext) -> Finding | None:
    try:
        return CHECKS[name](context)
    except UNTOLD as error:
        return unknown(name, f"what the kernel tells cannot be understood: {error}")


def worst_first(found: tuple[Finding, ...]) -> list[Finding]:
    """Return findings in the order of their weight, else as they were made."""
    order = list(Status)
    return sorted(found, key=lambda finding: order.index(finding.status))
