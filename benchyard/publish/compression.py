"""Compressing and decompressing documents, and the endings of their names."""

import gzip
import io
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from typing import IO, cast

from benchyard.core import zstandard
from benchyard.core.errors import DocumentRejectedError

#: Bytes that a document may have, uncompressed: that of a run of 20,000 steps has 24 MiB. A sink
#: holds some twelve times as much of it in memory, and a few kilobytes can be made to claim
#: terabytes. What a service takes is less (Datastore 1 MiB in a property, Azure 64 KiB); sinks cut
#: what is longer, and the archive has the whole.
LARGEST = 64 * 1024**2
_CUT_OFF = "its compression is damaged: the end is missing"


class Compression(StrEnum):
    """How a file is compressed."""

    NONE = "none"
    GZ = "gz"
    ZST = "zst"

    @property
    def ending(self) -> str:
        """What a name ends in: ``.gz``; nothing where nothing is compressed."""
        return "" if self is Compression.NONE else f".{self.value}"


def split_name(name: str) -> tuple[str, Compression]:
    """Split ``a.json.gz`` into the name of what is inside, ``a.json``, and how it is compressed."""
    for how in (Compression.GZ, Compression.ZST):
        if name.endswith(how.ending):
            return name.removesuffix(how.ending), how
    return name, Compression.NONE


def compress(content: bytes, how: Compression) -> bytes:
    """Compress; the same content becomes the same bytes."""
    match how:
        case Compression.NONE:
            return content
        case Compression.GZ:
            return gzip.compress(content, mtime=0)
        case Compression.ZST:
            checked = {int(zstandard.CompressionParameter.checksum_flag): 1}
            return zstandard.compress(content, options=checked)


def decompress(content: bytes, how: Compression, largest: int = LARGEST) -> bytes:
    """Decompress.

    Raises:
        DocumentRejectedError: If it is damaged, cut off, or more than ``largest`` bytes.
    """
    if how is not Compression.NONE and not content:
        raise DocumentRejectedError(_CUT_OFF)
    with reading(io.BytesIO(content), how) as stream:
        plain = stream.read(largest + 1)
    if len(plain) > largest:
        raise too_large(largest)
    return plain


@contextmanager
def reading(stream: IO[bytes], how: Compression) -> Generator[IO[bytes]]:
    """Read what is compressed in a stream.

    Raises:
        DocumentRejectedError: If it is damaged or cut off.
    """
    try:
        match how:
            case Compression.NONE:
                yield stream
            case Compression.GZ:
                with gzip.GzipFile(fileobj=stream) as plain:
                    yield cast("IO[bytes]", plain)
            case Compression.ZST:
                with zstandard.ZstdFile(stream) as plain:
                    yield cast("IO[bytes]", plain)
    except EOFError:
        raise DocumentRejectedError(_CUT_OFF) from None
    except (OSError, zlib.error, zstandard.ZstdError) as error:
        raise DocumentRejectedError(f"its compression is damaged: {error}") from error


def too_large(largest: int = LARGEST, size: int | None = None) -> DocumentRejectedError:
    """Return the error of a document that is too large.

    Args:
        largest: How many it may have.
        size: How many it has, if that is known.
    """
    has = f" ({size / 1024**2:,.0f} MiB)" if size else ""
    return DocumentRejectedError(
        f"it is larger than {largest // 1024**2:,} MiB{has}, the most that is published of one "
        "document; make several of it"
    )
