"""Tells what a run does, in its log and to the listener, without secrets.

``log.txt`` of a run has every line of the lab while the run lasts, secrets taken out. Others may
listen to the same lines (Prefect does, and shows them): what reaches them has passed through the
same filter.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from benchyard.core.errors import BenchyardError
from benchyard.results.record import ErrorRecord
from benchyard.run.progress import Event, Listener, RunEnded, say, tell
from benchyard.run.secrets import Secrets

LOGGER = "benchyard"
# Without any handler Python prints warnings to stderr itself, tracebacks included.
logging.getLogger(LOGGER).addHandler(logging.NullHandler())


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


class _Redaction(logging.Filter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._take_out = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._take_out(record.getMessage()), None
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_info, record.exc_text = None, self._take_out(text)
        return True


logger = logging.getLogger(LOGGER)


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
        redaction = _Redaction(self._secrets.redact)
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
        """Tell how the run ended, once, and end writing."""
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
