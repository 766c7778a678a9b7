"""A trace of whatever holds one: a run's folder, or a file of others, known by its content."""

import gzip
import zlib
from contextlib import suppress
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.core.files import opened, shown
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.model import Trace
from benchyard.traces.pprof import read_pprof
from benchyard.traces.scanner.profile import Profile
from benchyard.traces.speedscope import read_speedscope
from benchyard.traces.stacks import looks_collapsed, read_collapsed

_GZIP = b"\x1f\x8b"
#: So much tells the format.
_HEAD_BYTES = 1 << 16
#: What is not read piece by piece is read whole, so it must be smaller.
MOST_BYTES = 1 << 30
FORMATS = "Chrome's trace events, Speedscope, pprof, collapsed stacks, a Scanner job"


def read_trace(path: Path) -> Trace:
    """Read a trace or profile of others.

    Args:
        path: A file, gzipped or not, or the folder of a Scanner job.

    Raises:
        InputError: If it cannot be read, or no format is known that looks like it.
    """
    if path.is_dir():
        return Profile(path).trace()
    head = unpacked(path, _HEAD_BYTES)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] in (b"[", b"{") and not _is_speedscope(start):
        return read_chrome(path)
    content = unpacked(path, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: larger than {MOST_BYTES >> 30} GiB, the most of its format")
    if start[:1] == b"{":
        return read_speedscope(content, str(path))
    with suppress(UnicodeDecodeError):
        text = content.decode()
        if looks_collapsed(text[:_HEAD_BYTES]):
            return read_collapsed(text)
    try:
        return read_pprof(content, str(path))
    except InputError as error:
        raise InputError(f"{path}: no known format; known are {FORMATS}") from error


def _is_speedscope(start: bytes) -> bool:
    return b"speedscope.app" in start or (
        b'"traceEvents"' not in start and b'"shared"' in start and b'"frames"' in start
    )


def unpacked(path: Path, most: int) -> bytes:
    """Read so many bytes at most of a file, gzipped or not.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        with opened(path) as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            if not packed:
                return file.read(most)
            with gzip.GzipFile(fileobj=file) as stream:
                return stream.read(most)
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(f"{shown(path)} cannot be read: {said}") from error
