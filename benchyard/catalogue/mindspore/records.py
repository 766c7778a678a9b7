"""Records of a summary file, their checksums compared.

A record is ``uint64 length | uint32 checksum of the length | payload | uint32 checksum of the
payload``, little-endian, with CRC32C masked as in TFRecord.

Source: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import IO, cast

import google_crc32c

#: A longer record is left out unless its reader sets another bound.
LONGEST_BYTES = 64 * 2**20
_LENGTH, _CHECKSUM = struct.Struct("<Q"), struct.Struct("<I")
_HEAD_BYTES = _LENGTH.size + _CHECKSUM.size
#: So many are told; of more only the number.
MOST_PROBLEMS = 20
# The library's C part has no types.
_crc32c = cast("Callable[[bytes], int]", google_crc32c.value)  # pyright: ignore[reportUnknownMemberType]


def masked_checksum(content: bytes) -> int:
    """Return the masked CRC32C of some bytes."""
    crc = _crc32c(content)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class Problems:
    """Sentences about what is wrong: the first ones, and how many more there were."""

    def __init__(self, told: Sequence[str] = (), more: int = 0) -> None:
        self.told = list(told)
        self.more = more

    def add(self, problem: str) -> None:
        """Add one."""
        if len(self.told) < MOST_PROBLEMS:
            self.told.append(problem)
        else:
            self.more += 1


class RecordReader:
    """The payloads of what is in a file now, one after the other.

    Damage is told with its place. A wrong payload is left out; behind a wrong length nothing can be
    found, so reading stops before it. ``offset`` is where to go on when the file has grown: behind
    the last record that ends.

    Args:
        stream: The file.
        offset: Where to begin, in bytes.
        problems: Where to tell of what is left out; by default its own.
        longest: Payloads of more bytes are left out, without being read.
    """

    def __init__(
        self,
        stream: IO[bytes],
        offset: int = 0,
        problems: Problems | None = None,
        longest: int = LONGEST_BYTES,
    ) -> None:
        self._stream = stream
        self._longest = longest
        self._end = os.fstat(stream.fileno()).st_size
        self.offset = offset
        #: Whether the last record breaks off, as while it is being written.
        self.unfinished = False
        #: Why nothing behind ``offset`` can be read; empty if there is no such reason.
        self.stopped = ""
        self.problems = problems or Problems()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the payloads whose checksums are right."""
        while (length := self._length()) is not None:
            behind = self.offset + _HEAD_BYTES + length + _CHECKSUM.size
            if behind > self._end:
                self._breaks_off(length)
                return
            payload = self._payload(length)
            self.offset = behind
            if payload is not None:
                yield payload

    def _length(self) -> int | None:
        left = self._end - self.offset
        self._stream.seek(self.offset)
        head = self._stream.read(_HEAD_BYTES) if left >= _HEAD_BYTES else b""
        if len(head) < _HEAD_BYTES:
            self.unfinished = left > 0
            return None
        if _is_right(head[: _LENGTH.size], head[_LENGTH.size :]):
            return _LENGTH.unpack_from(head)[0]
        self.stopped = (
            f"byte {self.offset:,}: the checksum of a record's length is wrong; "
            "nothing behind it is read"
        )
        return None

    def _breaks_off(self, length: int) -> None:
        if length > self._longest:
            self.stopped = (
                f"byte {self.offset:,}: a record of {length:,} bytes is announced, "
                f"more than the {self._longest:,} that are read"
            )
        else:
            self.unfinished = True

    def _payload(self, length: int) -> bytes | None:
        if length > self._longest:
            self.problems.add(
                f"byte {self.offset:,}: a record of {length:,} bytes is left out; "
                f"at most {self._longest:,} are read"
            )
            return None
        payload = self._stream.read(length)
        if _is_right(payload, self._stream.read(_CHECKSUM.size)):
            return payload
        self.problems.add(
            f"byte {self.offset:,}: the checksum of a record is wrong; it is left out"
        )
        return None


def _is_right(content: bytes, checksum: bytes) -> bool:
    return checksum == _CHECKSUM.pack(masked_checksum(content))
