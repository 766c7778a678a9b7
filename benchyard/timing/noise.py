"""What else the host did meanwhile, as far as it spoils the times."""

import os
from collections.abc import Iterator, Sequence

from benchyard.statistics.advice import advise
from benchyard.statistics.figures import percent, plain
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
    cores = os.cpu_count() or 1
    return [
        *_busy(load, cores),
        *_waited(course, load, cores),
        *_failed(course),
        *_advised(course, until),
    ]


def _busy(load: float, cores: int) -> Iterator[str]:
    if load >= cores:
        yield f"load {plain(load)} on {cores} cores before the first execution: do not trust"


def _waited(course: Course, load: float, cores: int) -> Iterator[str]:
    for command, done in zip(course.commands, course.executions, strict=True):
        share = _wait_share(done)
        if share >= WAIT_SHARE:
            beside = f", load {plain(load)} on {cores} cores" if load >= 1 else ""
            yield (
                f"'{command.name}' waited for a CPU for {percent(share)} of its time{beside}: "
                "something else is at work, do not trust"
            )


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
