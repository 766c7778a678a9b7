"""What happens during execution, told to whoever listens: events, and one listener."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from benchyard.core.model import Outcome

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
