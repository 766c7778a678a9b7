"""Events in words: for logs, for plain terminals, for people."""

from collections.abc import Sequence

from benchyard.case.problems import printable
from benchyard.execution.progress import (
    AttemptFailed,
    CaseStarted,
    Event,
    Notice,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    Waiting,
)
from benchyard.model import Outcome

MARKS = {
    Outcome.COMPLETED: "✓",
    Outcome.TOLERATED: "~",
    Outcome.FAILED: "✗",
    Outcome.TIMED_OUT: "✗",
    Outcome.SKIPPED: "-",
    Outcome.CANCELLED: "-",
}


def say(event: Event) -> str:
    """Return one event as a sentence; several lines where an error has several."""
    match event:
        case StepStarted() | AttemptFailed() | StepEnded():
            text = _about_step(event)
        case RunStarted(case, run, steps):
            text = f"{printable(case)} run {run}: {steps} step{'s' * (steps != 1)}"
        case RunEnded(case, run, outcome, seconds):
            ended = f"{MARKS[outcome]} {outcome} after {duration(seconds)}"
            text = f"{printable(case)} run {run}: {ended}"
        case CaseStarted():
            text = _case_started(event)
        case Waiting(reason, seconds):
            text = reason + (f" for {duration(seconds)}" if seconds is not None else "")
        case Notice(message):
            text = message
    return text


def _about_step(event: StepStarted | AttemptFailed | StepEnded) -> str:
    case, name = printable(event.case), printable(event.name)
    where = f"{case} run {event.run} step {event.index} {name}"
    if isinstance(event, StepStarted):
        return f"{where}: started"
    if isinstance(event, StepEnded):
        took = f" {duration(event.seconds)}" if event.seconds is not None else ""
        why = f": {event.message}" if event.message else ""
        return f"{where}: {MARKS[event.outcome]} {event.outcome}{took}{why}"
    left = event.left
    tries = f"{left} more attempt{'s' * (left != 1)}" if left else "no attempt left"
    return f"{where}: attempt failed, {tries}: {event.message}"


def _case_started(event: CaseStarted) -> str:
    done = f", {len(event.done)} done before" if event.done else ""
    runs = len(event.runs)
    return f"{printable(event.case)}: {runs} run{'s' * (runs != 1)} to do{done}"


def runs_and(numbers: Sequence[int], one: str, more: str) -> str:
    """Return ``run 3 was`` or ``runs 1, 2 were``.

    Args:
        one: The verb for one run.
        more: The verb for several.
    """
    listed = ", ".join(map(str, numbers))
    return f"run {listed} {one}" if len(numbers) == 1 else f"runs {listed} {more}"


def duration(seconds: float) -> str:
    """Write a length of time with the unit that suits it."""
    # The next unit begins where rounding would show a thousand of this one.
    if seconds < 999.5e-6:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.99995:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 119.995:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
