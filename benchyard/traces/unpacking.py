"""Files of others as bytes of UTF-8: unpacked, without a byte order mark."""

import gzip
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from benchyard.core.errors import InputError
from benchyard.core.files import opened, shown

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
#: What a file in another encoding begins with: its byte order mark, or JSON without one.
_ENCODINGS = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
    b"\0{": "utf-16-be",
    b"\0[": "utf-16-be",
}
#: What compressed data raise that are damaged or cut off.
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
#: What is not read piece by piece is read whole, so it must be smaller.
MOST_BYTES = 1 << 30


@contextmanager
def unpacked_stream(path: Path) -> Generator[IO[bytes]]:
    """Open a file, gzipped or not; UTF-16 becomes UTF-8, a byte order mark is passed over.

    Reading it raises one of ``DAMAGE`` where compressed data break.

    Raises:
        OSError: If it cannot be read.
    """
    with opened(path) as file:
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file) if packed else file)
        try:
            start = stream.read(len(_BOM))
        except DAMAGE:
            start = b""
        stream.seek(len(_BOM) if start == _BOM else 0)
        encoding = _ENCODINGS.get(start[:2])
        if encoding:
            stream = BytesIO(stream.read(MOST_BYTES).decode(encoding, "replace").encode())
        yield stream


def unpacked(path: Path, most: int, *, partly: bool = False) -> bytes:
    """Read so many bytes at most of a file, gzipped or not.

    Args:
        path: Of the file.
        most: Bytes of what is unpacked.
        partly: Whether compressed data that break are read up to there.

    Raises:
        InputError: If it cannot be read.
    """
    parts: list[bytes] = []
    try:
        with unpacked_stream(path) as stream:
            while most > 0 and (part := cast("BytesIO", stream).read1(most)):
                parts.append(part)
                most -= len(part)
    except (OSError, *DAMAGE) as error:
        if not (partly and parts):
            said = getattr(error, "strerror", None) or error
            raise InputError(f"{shown(path)} cannot be read: {said}") from error
    return b"".join(parts)
