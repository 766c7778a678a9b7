"""Events in words: for logs, for plain terminals, for people."""

from benchyard.core.model import Outcome
from benchyard.core.wording import duration, printable
from benchyard.run.progress import (
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
