"""``log.txt`` of a run: every line of the lab while the run lasts, secrets taken out.

Others may listen to the same lines (Prefect does, and shows them): what reaches them has passed
through the same filter.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

LOGGER = "benchyard"
# Without any handler Python prints warnings to stderr itself, tracebacks included.
logging.getLogger(LOGGER).addHandler(logging.NullHandler())


class RunLog:
    """Writes the lab's log lines into one file from ``open`` to ``close``.

    Args:
        file: Where to.
        redact: Takes secrets out of a line.
    """

    def __init__(self, file: Path, redact: Callable[[str], str]) -> None:
        self._file = file
        self._filter = _Redaction(redact)
        self._handler: logging.Handler | None = None
        self._filtered: list[logging.Handler] = []

    def open(self) -> None:
        """Begin to write."""
        handler = _Lines(self._file, encoding="utf-8", errors="replace")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger = logging.getLogger(LOGGER)
        logger.addHandler(handler)
        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)
        self._handler = handler
        self._filtered = list(_handlers(logger))
        for listening in self._filtered:
            listening.addFilter(self._filter)

    def close(self) -> None:
        """End writing; nothing happens if it has ended already."""
        handler, self._handler = self._handler, None
        if handler is None:
            return
        for listening in self._filtered:
            listening.removeFilter(self._filter)
        logging.getLogger(LOGGER).removeHandler(handler)
        with contextlib.suppress(OSError):  # a full disk has been told of where it matters
            handler.close()


def _handlers(logger: logging.Logger | None) -> Iterator[logging.Handler]:
    """Yield every handler that hears what ``logger`` says."""
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


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
