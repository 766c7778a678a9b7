"""Events in words: for logs, for plain terminals, for people."""

from benchyard.model import Outcome
from benchyard.progress import (
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
        case CaseStarted():
            return _case_started(event)
        case RunStarted(case, run, steps):
            return f"{case} run {run}: {steps} step{'s' * (steps != 1)}"
        case StepStarted(case, run, index, name):
            return f"{case} run {run} step {index} {name}: started"
        case AttemptFailed(case, run, index, name, message, left):
            tries = f"{left} more attempt{'s' * (left != 1)}" if left else "no attempt left"
            return f"{case} run {run} step {index} {name}: attempt failed, {tries}: {message}"
        case StepEnded():
            return _step_ended(event)
        case RunEnded(case, run, outcome, seconds):
            return f"{case} run {run}: {MARKS[outcome]} {outcome} after {duration(seconds)}"
        case Waiting(reason, seconds):
            return reason + (f" for {duration(seconds)}" if seconds is not None else "")
        case Notice(message):
            return message


def _case_started(event: CaseStarted) -> str:
    done = f", {len(event.done)} done before" if event.done else ""
    runs = len(event.runs)
    return f"{event.case}: {runs} run{'s' * (runs != 1)} to do{done}"


def _step_ended(event: StepEnded) -> str:
    took = f" {duration(event.seconds)}" if event.seconds is not None else ""
    why = f": {event.message}" if event.message else ""
    where = f"{event.case} run {event.run} step {event.index} {event.name}"
    return f"{where}: {MARKS[event.outcome]} {event.outcome}{took}{why}"


def duration(seconds: float) -> str:
    """Write a length of time with the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 120:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
