"""Files beside the runs that grow line by line: JSON documents, each on disk before the next.

Every line that can be read is read; for each other one there is a sentence.
"""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from benchyard.core.files import opened
from benchyard.core.json_text import decoded, encoded, is_moment, read_as
from benchyard.core.quantity import shorten

T = TypeVar("T")

#: No line that we write comes near it: a case of 1,000 steps that all fail twice has 3 MB.
_LONGEST_LINE = 16_000_000


def append_line(file: Path, version: int, made: Any) -> None:
    """Add a line and bring it to disk; one that a power cut tore off is ended first.

    Args:
        version: Of the file's format.
        made: A dataclass.

    Raises:
        OSError: If the disk is full or not writable.
    """
    document = encoded({"version": version, **asdict(made)})
    line = document.encode(errors="backslashreplace") + b"\n"
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


def parse_line(line: bytes, version: int, kind: type[T]) -> T:
    """Return what ``append_line`` was given.

    Raises:
        ValueError: If it is of another version, or damaged.
    """
    document = decoded(line)
    if (told := document.pop("version")) != version:
        raise ValueError(f"version {told} is of another Benchyard")
    return read_as(kind, document)


def check_moments(*texts: str | None) -> None:
    """Refuse a time without a zone.

    Raises:
        ValueError: If a text is not None, and no such time.
    """
    for text in texts:
        if text is not None and not is_moment(text):
            raise ValueError(f"'{text}' is not a time with a time zone")


def read_lines(file: Path, take: Callable[[bytes], None]) -> list[str]:
    """Hand on each line that is not empty; return a sentence for each that was not taken."""
    problems: list[str] = []
    try:
        for number, line in enumerate(_lines(file), 1):
            try:
                if line.strip():
                    take(line)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                problems.append(f"{file} line {number}: not readable: {_said(error)}")
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"{file}: not readable: {error.strerror or error}")
    return problems


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines; of one without an end only as much as any of ours can have."""
    with opened(file) as stream:
        while line := stream.readline(_LONGEST_LINE):
            yield line


def _said(error: Exception) -> str:
    text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return shorten(text, 200)
