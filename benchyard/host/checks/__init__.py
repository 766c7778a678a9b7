"""Whether this host can be measured on now: all checks, made before a run."""

import os
import tempfile
from pathlib import Path

from benchyard.host.checks import confinement, neighbours, processor, storage
from benchyard.host.checks.check_context import CheckContext, Checks, Finding, Status, look, unknown
from benchyard.host.facts.reading import UNTOLD, Host
from benchyard.host.facts.system import meet_engine, read_clock

#: Seconds of the look: 5 % of a core are then 15 ms, which every scheduler has handed out by then.
LOOK_SECONDS = 0.3
#: The same for the engine's answer: one that is slower than this is worth a finding itself.
_PATIENCE = 0.2

#: All checks, in the order of the report.
CHECKS: Checks = {
    **processor.CHECKS,
    **storage.MEMORY_CHECKS,
    **neighbours.CHECKS,
    **storage.FOLDER_CHECKS,
    **processor.CLOCK_CHECKS,
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
