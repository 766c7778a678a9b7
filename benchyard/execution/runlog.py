"""``log.txt`` of a run: every line of the lab while the run lasts, secrets taken out."""

import logging
from collections.abc import Callable
from pathlib import Path

LOGGER = "benchyard"


class RunLog:
    """Writes the lab's log lines into one file from ``open`` to ``close``.

    Args:
        file: Where to.
        redact: Takes secrets out of a line.
    """

    def __init__(self, file: Path, redact: Callable[[str], str]) -> None:
        self._file = file
        self._redact = redact
        self._handler: logging.Handler | None = None

    def open(self) -> None:
        """Begin to write."""
        handler = logging.FileHandler(self._file, encoding="utf-8", errors="replace")
        handler.setFormatter(_Redacting(self._redact))
        logger = logging.getLogger(LOGGER)
        logger.addHandler(handler)
        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)
        self._handler = handler

    def close(self) -> None:
        """End writing; nothing happens if it has ended already."""
        handler, self._handler = self._handler, None
        if handler is not None:
            logging.getLogger(LOGGER).removeHandler(handler)
            handler.close()


class _Redacting(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._take_out = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._take_out(super().format(record))
