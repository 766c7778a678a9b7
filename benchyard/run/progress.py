"""What happens during execution, told to whoever listens: events, and one listener."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from benchyard.core.model import Outcome
from benchyard.core.wording import duration, printable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CaseStarted:
    """A case begins; ``runs`` are still to do, ``done`` were finished before."""

    case: str
    runs: tuple[int, ...]
    done: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; ``steps`` is how many steps it has."""

    case: str
    run: int
    steps: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step begins."""

    case: str
    run: int
    index: int
    name: str


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt failed; ``left`` more will be made."""

    case: str
    run: int
    index: int
    name: str
    message: str
    left: int


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step ended; ``seconds`` is the median of its measured repetitions, if it has any."""

    case: str
    run: int
    index: int
    name: str
    outcome: Outcome
    seconds: float | None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run ended; ``seconds`` is its whole length."""

    case: str
    run: int
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing is measured now, for ``seconds`` if that is known."""

    reason: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the user should know."""

    message: str


Event = (
    CaseStarted | RunStarted | StepStarted | AttemptFailed | StepEnded | RunEnded | Waiting | Notice
)
Listener = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Listen to nothing."""


def tell(listener: Listener, event: Event) -> None:
    """Tell an event; a listener that breaks (a closed terminal) ends no measuring."""
    try:
        listener(event)
    except Exception:
        logger.debug("nobody heard: %s", event, exc_info=True)


_LISTENER: ContextVar[Listener] = ContextVar("benchyard_listener", default=ignore)


def current_listener() -> Listener:
    """Return who listens here."""
    return _LISTENER.get()


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Let ``listener`` hear of everything that is executed inside."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


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
