"""The file of what was tried: adding to it, and reading it.

Every line that can be read is; for each that cannot there is a sentence.
"""

import errno
import logging
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from benchyard.core.json_text import decoded, encoded
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.core.wording import shorten
from benchyard.process.labels import this_owner
from benchyard.results.attempts.attempt import FailedAttempt, RunAttempt, TriedStep, try_of
from benchyard.results.folders import Results
from benchyard.results.record import ErrorRecord, RunRecord

logger = logging.getLogger(__name__)

VERSION = 1
#: No line that we write comes near it: a case of 1,000 steps that all fail twice has 3 MB.
_LONGEST_LINE = 16_000_000


def note_began(
    results: Path, case: str, run: int, started_at: str, flow_run: Mapping[str, Json]
) -> None:
    """Write down that a try begins; a file that cannot be written ends no run.

    Args:
        results: Folder with the runs of the case.
        case: Its title.
    """
    _note(results, RunAttempt(case, run, platform.node(), started_at, flow_run, this_owner()))


def note_ended(results: Path, record: RunRecord) -> None:
    """Write down how a try ended; a file that cannot be written ends no run."""
    _note(results, try_of(record))


def _note(results: Path, made: RunAttempt) -> None:
    document = cast("JsonObject", {"version": VERSION, **asdict(made)})
    line = encoded(document).encode(errors="backslashreplace") + b"\n"
    file = Results(results).tries
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


def read_tries(results: Path, run: int | None = None) -> tuple[list[RunAttempt], list[str]]:
    """Read what was tried of a case, in the order of the beginnings.

    Args:
        results: Folder with the runs of the case.
        run: Only of this one; the lines of the others are not looked into.

    Returns:
        The tries, and a sentence for each line that cannot be read.
    """
    file = Results(results).tries
    found: dict[tuple[str, int, str], RunAttempt] = {}
    problems: list[str] = []
    mark = b"" if run is None else f'"run":{run},'.encode()
    try:
        for number, line in enumerate(_lines(file), 1):
            try:
                if mark in line:
                    _take(found, line)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                problems.append(f"{file} line {number}: not readable: {_said(error)}")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        problems.append(f"{file}: not readable: {error.strerror or error}")
    tries = [one for one in found.values() if run in (None, one.run)]
    return sorted(tries, key=lambda one: one.began), problems


def _said(error: Exception) -> str:
    text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return shorten(text, 200)


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines; of one without an end only as much as any of ours can have."""
    # Else the opening of a named pipe would wait for ever.
    if file.exists() and not file.is_file():
        raise OSError(f"{file} is no file")
    with file.open("rb") as stream:
        while line := stream.readline(_LONGEST_LINE):
            yield line


def _take(found: dict[tuple[str, int, str], RunAttempt], line: bytes) -> None:
    if not line.strip():
        return
    made = _try(decoded(line))
    key = (made.case, made.run, made.started_at)
    if key not in found or made.outcome is not None:
        found[key] = made


def _try(document: Any) -> RunAttempt:
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']} is of another Benchyard")
    outcome, ended, length = (document[name] for name in ("outcome", "ended_at", "duration_s"))
    return RunAttempt(
        case=_text(document, "case"),
        run=_whole(document, "run"),
        host=_text(document, "host"),
        started_at=_moment(document, "started_at"),
        flow_run=_object(document, "flow_run"),
        owner=_text(document, "owner"),
        ended_at=None if ended is None else _moment(document, "ended_at"),
        duration_s=None if length is None else _amount(document, "duration_s"),
        outcome=None if outcome is None else Outcome(outcome),
        error=_error(document["error"]),
        tags=tuple(map(str, document["tags"])),
        steps=tuple(_step(step) for step in document["steps"]),
    )


def _step(document: Any) -> TriedStep:
    reason = document["reason"]
    return TriedStep(
        index=_whole(document, "index"),
        id=_text(document, "id"),
        name=_text(document, "name"),
        outcome=Outcome(document["outcome"]),
        attempts=_whole(document, "attempts"),
        duration_s=_amount(document, "duration_s"),
        failed=tuple(_failed(one) for one in document["failed"]),
        reason=None if reason is None else str(reason),
    )


def _failed(document: Any) -> FailedAttempt:
    error = _error(document["error"])
    if error is None:
        raise ValueError("a failed attempt has no 'error'")
    return FailedAttempt(
        number=_whole(document, "number"),
        started_at=_moment(document, "started_at"),
        duration_s=_amount(document, "duration_s"),
        outcome=Outcome(document["outcome"]),
        error=error,
    )


def _error(document: Any) -> ErrorRecord | None:
    if document is None:
        return None
    return ErrorRecord(_text(document, "type"), _text(document, "message"))


def _text(document: Any, name: str) -> str:
    value = document[name]
    if not isinstance(value, str):
        raise TypeError(f"'{name}' is no text")
    return value


def _whole(document: Any, name: str) -> int:
    value = document[name]
    if type(value) is not int or not 0 <= value <= 10**9:
        raise ValueError(f"'{name}' is no number of anything")
    return value


def _amount(document: Any, name: str) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e12:
        raise ValueError(f"'{name}' is no length of time")
    return float(value)


def _moment(document: Any, name: str) -> str:
    text = _text(document, name)
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(f"'{name}' has no time zone")
    return text


def _object(document: Any, name: str) -> dict[str, Json]:
    value = document[name]
    if not isinstance(value, dict):
        raise TypeError(f"'{name}' is no object")
    return cast("dict[str, Json]", value)
