"""What else the host did meanwhile, as far as it spoils the times."""

import os
from collections.abc import Iterator, Sequence

from benchyard.core.quantity import number, percent
from benchyard.statistics.advice import advise
from benchyard.statistics.measures import median
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution

#: Share of its time that a command may wait for a CPU; as for the steps of a case
#: (``benchyard.host.checks.suspicion``).
WAIT_SHARE = 0.05
#: Shorter times than this are mostly the start of a process.
SHORT_S = 0.005


def load_before() -> float:
    """Return the load average of the last minute; 0 where it is not known."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def warnings(course: Course, load: float, until: float) -> list[str]:
    """Say why the times are not to be trusted, most urgent first.

    Args:
        course: What was executed.
        load: The load average before it began.
        until: Relative differences below it are not worth words.
    """
    doubts = [*_busy(course, load)]
    # How far values lie apart on a busy host says nothing of the commands.
    return [*doubts, *_failed(course), *(() if doubts else _advised(course, until))]


def _busy(course: Course, load: float) -> Iterator[str]:
    """Say in one line that other work disturbed the commands."""
    cores = os.cpu_count() or 1
    shares = {
        command.name: share
        for command, done in zip(course.commands, course.executions, strict=True)
        if (share := _wait_share(done)) >= WAIT_SHARE
    }
    parts = [f"load {number(load)} on {cores} cores before the first execution"] * (load >= cores)
    if shares:
        name, most = max(shares.items(), key=lambda item: item[1])
        more = f" ({len(shares)} of {len(course.commands)} commands waited)"
        beside = "" if parts or load < 1 else f", load {number(load)} on {cores} cores"
        parts.append(
            f"'{name}' waited for a CPU for {percent(most)} of its time"
            f"{more if len(shares) > 1 else ''}{beside}: something else is at work"
        )
    if parts:
        yield f"{'; '.join(parts)}, do not trust"


def _wait_share(done: Sequence[Execution]) -> float:
    known = [one.waited_s / one.wall_s for one in done if one.waited_s is not None]
    long = [one.wall_s for one in done if one.wall_s >= SHORT_S]
    return median(known) if known and long else 0.0


def _failed(course: Course) -> Iterator[str]:
    for command, done in zip(course.commands, course.executions, strict=True):
        failed = sum(1 for one in done if one.exit_code)
        if failed:
            yield f"'{command.name}' failed in {failed} of {len(done)} executions"


def _advised(course: Course, until: float) -> Iterator[str]:
    for command, done in zip(course.commands, course.executions, strict=True):
        if len(done) < 2:
            continue
        found = advise([one.wall_s for one in done], until=until)
        # How many executions it takes is decided here, not by the user.
        yield from (
            f"'{command.name}': {one}"
            for one in found
            if "needed" not in one and "needs" not in one
        )
