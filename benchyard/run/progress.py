"""What happens during execution: events, their words, who hears them, and the log of a run.

``log.txt`` of a run has every line of the lab while the run lasts, secrets taken out. Others may
listen to the same lines (Prefect does, and shows them): what reaches them has passed through the
same filter.
"""

import logging
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchyard.core.errors import BenchyardError
from benchyard.core.model import Outcome
from benchyard.core.quantity import duration
from benchyard.core.wording import printable
from benchyard.results.record import ErrorRecord, RunRecord
from benchyard.run.secrets import Secrets

LOGGER = "benchyard"
logger = logging.getLogger(LOGGER)
# Without any handler Python prints warnings to stderr itself, tracebacks included.
logger.addHandler(logging.NullHandler())


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
class _StepEvent:
    case: str
    run: int
    index: int
    name: str


@dataclass(frozen=True, slots=True)
class StepStarted(_StepEvent):
    """A step begins."""


@dataclass(frozen=True, slots=True)
class AttemptFailed(_StepEvent):
    """An attempt failed; ``left`` more will be made."""

    message: str
    left: int


@dataclass(frozen=True, slots=True)
class StepEnded(_StepEvent):
    """A step ended; ``seconds`` is the median of its measured repetitions, if it has any."""

    outcome: Outcome
    seconds: float | None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run ended; its record is written in ``folder``."""

    record: RunRecord
    folder: Path


@dataclass(frozen=True, slots=True)
class QuietMoment:
    """Nothing is measured until all listeners have returned.

    Args:
        case: Title of the case.
        run: Number of the run.
        share: Share of its steps that have ended, 0 to 1.
        next: What follows.
        warn: Adds a sentence to the warnings of the run's record.
    """

    case: str
    run: int
    share: float
    next: str
    warn: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Summarized:
    """The summary of a case is written; nothing is measured any more."""

    case: str
    results: Path


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
    CaseStarted
    | RunStarted
    | QuietMoment
    | StepStarted
    | AttemptFailed
    | StepEnded
    | RunEnded
    | Summarized
    | Waiting
    | Notice
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
    """Return one event as a sentence, an error in several lines; empty for programs alone."""
    match event:
        case StepStarted() | AttemptFailed() | StepEnded():
            text = _about_step(event)
        case RunStarted(case, run, steps):
            text = f"{printable(case)} run {run}: {steps} step{'s' * (steps != 1)}"
        case RunEnded(record):
            ended = f"{MARKS[record.outcome]} {record.outcome} after {duration(record.duration_s)}"
            text = f"{printable(str(record.case['title']))} run {record.run}: {ended}"
        case CaseStarted():
            text = _case_started(event)
        case Waiting(reason, seconds):
            text = reason + (f" for {duration(seconds)}" if seconds is not None else "")
        case Notice(message):
            text = message
        case QuietMoment() | Summarized():
            text = ""
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


# -- in the log of a run


class Reporter:
    """Speaks for one run.

    Args:
        listener: Hears the events.
        secrets: Whose values are taken out of all that is said.
    """

    def __init__(self, listener: Listener, secrets: Secrets) -> None:
        self._listener = listener
        self._secrets = secrets
        self._log = ExitStack()
        self._ended = False

    def open(self, file: Path) -> None:
        """Write what is said from now on to ``file`` too, until ``close``."""
        handler = _Lines(file, encoding="utf-8", errors="replace")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._log.callback(_close, handler)
        logger.addHandler(handler)
        self._log.callback(logger.removeHandler, handler)
        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)
        redaction = partial(_redacted, self._secrets.redact)
        for listening in list(_handlers(logger)):
            listening.addFilter(redaction)
            self._log.callback(listening.removeFilter, redaction)

    def close(self) -> None:
        """End writing; nothing happens if it never began, or has ended already."""
        self._log.close()

    def tell(self, event: Event) -> None:
        """Tell of an event."""
        logger.info("%s", self._secrets.redact(say(event)))
        tell(self._listener, event)

    def end(self, event: RunEnded) -> None:
        """Write how the run ended, unless that is done, and close the log."""
        if not self._ended:
            self._ended = True
            self.tell(event)
        self.close()

    def describe(self, error: BaseException) -> ErrorRecord:
        """Return an error as the record holds it."""
        text = self._secrets.redact(str(error) or type(error).__name__)
        return ErrorRecord(type(error).__name__, text)

    def trace(self, error: Exception) -> None:
        """Log where an error comes from, unless it is one that we raise ourselves."""
        if not isinstance(error, BenchyardError | OSError):
            text = "".join(traceback.format_exception(error))
            logger.error("%s", self._secrets.redact(text))

    def shows_a_secret(self, error: Exception) -> bool:
        """Tell whether an error, with its causes, holds the value of a secret."""
        shown = "".join(traceback.format_exception(error))
        return self._secrets.redact(shown) != shown


def _handlers(logger: logging.Logger | None) -> Iterator[logging.Handler]:
    """Yield every handler that hears what ``logger`` says."""
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


def _close(handler: logging.Handler) -> None:
    with suppress(OSError):  # a full disk has been told of where it matters
        handler.close()


class _Lines(logging.FileHandler):
    """A file that is no reason to print a traceback for each line that it cannot take."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        del record


def _redacted(redact: Callable[[str], str], record: logging.LogRecord) -> bool:
    """Take secrets out of what is logged; ``logging`` calls it as a filter."""
    record.msg, record.args = redact(record.getMessage()), None
    if record.exc_info:
        text = logging.Formatter().formatException(record.exc_info)
        record.exc_info, record.exc_text = None, redact(text)
    return True
