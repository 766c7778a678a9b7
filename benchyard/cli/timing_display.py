"""The table of ``benchyard time`` while it is still executing."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from benchyard.cli.terminal import console, safe
from benchyard.core.quantity import duration, shorten
from benchyard.statistics.measures import median
from benchyard.timing.course import Course, Watcher
from benchyard.timing.wording import verdicts

#: Seconds between two pictures; drawing takes a CPU that the commands are to have.
_EVERY_S = 0.5
_LONGEST_NAME = 48


@contextmanager
def progress(*, quiet: bool) -> Generator[Watcher]:
    """Show the running estimates on a terminal; elsewhere nothing.

    Args:
        quiet: Whether the commands themselves write to the terminal.
    """
    import sys  # noqa: PLC0415 - only to ask

    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.live import Live  # noqa: PLC0415 - 60 ms that only a terminal needs

    with Live(console=console(), transient=True, auto_refresh=False) as live:
        shown = 0.0

        def watch(course: Course) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _EVERY_S:
                live.update(picture(course), refresh=True)
                shown = time.monotonic()

        yield watch


def picture(course: Course) -> str:
    """Return a line for each command, and what the last look said."""
    lines = [
        f"{_median(course, at):>10}  {len(done):>5} x  {shorten(one.name, _LONGEST_NAME, 2)}"
        for at, (one, done) in enumerate(zip(course.commands, course.executions, strict=True))
    ]
    said = verdicts(course.ranking) if course.ranking else []
    return safe("\n".join([*lines, *said]))


def _median(course: Course, at: int) -> str:
    done = course.executions[at]
    return duration(median([one.wall_s for one in done])) if done else "-"
