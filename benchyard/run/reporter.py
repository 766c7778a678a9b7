"""What a run says: to its log, to the listener, and of errors; never a secret."""

import logging
import traceback
from pathlib import Path

from benchyard.core.errors import BenchyardError
from benchyard.results.record import ErrorRecord
from benchyard.run.progress import Event, Listener, RunEnded, tell
from benchyard.run.runlog import LOGGER, RunLog
from benchyard.run.secrets import Secrets
from benchyard.run.wording import say

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
        self._log: RunLog | None = None
        self._ended = False

    def open(self, file: Path) -> None:
        """Write what is said from now on to ``file`` too."""
        self._log = RunLog(file, self._secrets.redact)
        self._log.open()

    def close(self) -> None:
        """End writing, if it began."""
        if self._log is not None:
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
