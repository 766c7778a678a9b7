"""Compressing and decompressing documents, and the endings of their names."""

import gzip
import io
import zlib
from enum import StrEnum

from benchyard.core.errors import DocumentRejectedError

#: Bytes that a document may have, uncompressed: that of a run of 20,000 steps has 24 MiB. A sink
#: holds some twelve times as much of it in memory, and a few kilobytes can be made to claim
#: terabytes. What a service takes is less (Datastore 1 MiB in a property, Azure 64 KiB); sinks cut
#: what is longer, and the archive has the whole.
LARGEST = 64 * 1024**2
#: Compressed bytes that are looked at in one go. A block of zstd has at most 128 KiB and at least
#: four bytes, so this is at most 32 MiB. Source: RFC 8878, section 3.1.1.2.
_GULP = 1024
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
            from zstandard import ZstdCompressor  # noqa: PLC0415 - only where it is wanted

            return ZstdCompressor(write_checksum=True).compress(content)


def decompress(content: bytes, how: Compression, largest: int = LARGEST) -> bytes:
    """Decompress.

    Raises:
        DocumentRejectedError: If it is damaged, cut off, or more than ``largest`` bytes.
    """
    match how:
        case Compression.NONE:
            plain = content
        case Compression.GZ:
            plain = _from_gz(content, largest)
        case Compression.ZST:
            plain = _from_zst(content, largest)
    if len(plain) > largest:
        raise too_large(largest)
    return plain


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


def _from_gz(content: bytes, largest: int) -> bytes:
    if not content:
        raise DocumentRejectedError(_CUT_OFF)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            return stream.read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DocumentRejectedError(f"its compression is damaged: {error}") from error


def _from_zst(content: bytes, largest: int) -> bytes:
    from zstandard import ZstdError  # noqa: PLC0415 - only where such a file lies

    try:
        return _zst_frames(content, largest)
    except ZstdError as error:
        raise DocumentRejectedError(f"its compression is damaged: {error}") from error


def _zst_frames(content: bytes, largest: int) -> bytes:
    """Decompress frame by frame: zstandard's streams take what is cut off for its end."""
    from zstandard import ZstdDecompressor  # noqa: PLC0415 - only where such a file lies

    rest, plain = memoryview(content), bytearray()
    while True:
        frame = ZstdDecompressor().decompressobj()
        while not frame.eof and rest and len(plain) <= largest:
            plain += frame.decompress(rest[:_GULP])
            rest = rest[min(_GULP, len(rest)) - len(frame.unused_data) :]
        if len(plain) > largest or (frame.eof and not rest):
            return bytes(plain)
        if not frame.eof:
            raise DocumentRejectedError(_CUT_OFF)
