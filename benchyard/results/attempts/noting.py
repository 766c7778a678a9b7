"""Writing down what is tried."""

import errno
import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import cast

from benchyard.core.json_text import encoded
from benchyard.core.model import Json, JsonObject
from benchyard.process.labels import this_owner
from benchyard.results.attempts.reading import VERSION
from benchyard.results.attempts.trying import Try, try_of
from benchyard.results.folders import TRIES_FILE
from benchyard.results.record import RunRecord

logger = logging.getLogger(__name__)


def note_began(
    results: Path, case: str, run: int, started_at: str, flow_run: Mapping[str, Json]
) -> None:
    """Write down that a try begins; a file that cannot be written ends no run.

    Args:
        results: Folder with the runs of the case.
        case: Its title.
    """
    _note(results, Try(case, run, platform.node(), started_at, flow_run, this_owner()))


def note_ended(results: Path, record: RunRecord) -> None:
    """Write down how a try ended; a file that cannot be written ends no run."""
    _note(results, try_of(record))


def _note(results: Path, made: Try) -> None:
    document = cast("JsonObject", {"version": VERSION, **asdict(made)})
    line = encoded(document).encode(errors="backslashreplace") + b"\n"
    file = results / TRIES_FILE
    try:
        _append(file, line)
    except OSError as error:
        logger.warning("%s: what was tried could not be noted: %s", file, error.strerror or error)


def _append(file: Path, line: bytes) -> None:
    """Add a line and bring it to disk; one that a power cut tore off is ended first.

    Raises:
        OSError: If the disk is full or not writable.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(file, flags, 0o666)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line
        if os.write(descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
