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
    about = [text for at in range(len(course.commands)) for text in _misled(course, at)]
    # How far values lie apart on a busy host says nothing of the commands.
    return [*doubts, *about, *(() if doubts else _advised(course, until))]


def _busy(course: Course, load: float) -> Iterator[str]:
    """Say in one line that other work disturbed the commands."""
    cores = os.cpu_count() or 1
    shares = {
        command.name: share
        for at, command in enumerate(course.commands)
        if (share := _wait_share(course.succeeded(at))) >= WAIT_SHARE
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


def _misled(course: Course, at: int) -> Iterator[str]:
    """Say in what a command's executions are not what the user may take them for."""
    name, done = course.commands[at].name, course.executions[at]
    good, left = course.succeeded(at), [one.left_running for one in done if one.left_running]
    if failed := len(done) - len(good):
        apart = "they are not in its numbers" if good else "it is not ranked"
        yield f"'{name}' failed in {failed} of {len(done)} executions: {apart}"
    if left:
        yield f"{left[0]}; so after {len(left)} of {len(done)} executions"
    if at in course.sees_null:
        piped, known = (median([one.wall_s for one in some]) for some in (course.piped[at], good))
        yield (
            f"'{name}' takes {number(piped / known, 3)} times as long if its stdout is a pipe, "
            "not /dev/null: some programs see that and do less; --stdout pipe measures it so"
        )


def _advised(course: Course, until: float) -> Iterator[str]:
    for at, command in enumerate(course.commands):
        done = course.succeeded(at)
        if len(done) < 2:
            continue
        # How many executions it takes is decided here, not by the user.
        found = advise([one.wall_s for one in done], until=until, more_runs=False)
        yield from (f"'{command.name}': {one}" for one in found)
