"""The file that the sampling process writes, read back: what changed, when.

It begins with ``process.MAGIC``. Records follow, little-endian: kind (one byte), size of the
payload (u32), payload.

``O`` opened: number of a thing (u32), length of its name (u32), then owner, what and name as words.
``G`` gone: the number (u32) and 0 (u32); it could be read no more, or was to be forgotten.
``T`` tick: monotonic nanoseconds (i64), classes that were read (u8, bits of ``process``), and for
each thing whose content changed its number (u32), length (u32) and content.
``M`` late: the first deadline that passed by (i64, ns) and how many did (u64).
``N`` note: text.
``S`` the process itself was stopped: the last instant before (i64, ns) and the first after (u64).

A record that is cut off (SIGKILL, full disk) ends the file; so does damage.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from benchyard.host.sampler import process
from benchyard.host.sampler.process import FRAME, MAGIC, MISSED, PART, TICK

#: No record of ours comes near; a larger one is damage.
LARGEST = 1 << 26


class Opened(NamedTuple):
    """From now on the thing with this number is read."""

    ident: int
    owner: str
    what: str
    name: str


class Gone(NamedTuple):
    """It is not read any more."""

    ident: int


class Tick(NamedTuple):
    """One sample; what is not in ``changed`` is as it was if its class was read."""

    at_ns: int
    classes: int
    changed: list[tuple[int, bytes]]


class Late(NamedTuple):
    """Deadlines without a sample."""

    due_ns: int
    missed: int


class RawNote(NamedTuple):
    """A remark of the sampling process: something could not be opened."""

    text: str


class Stopped(NamedTuple):
    """The sampling process was stopped."""

    since_ns: int
    until_ns: int


Record: TypeAlias = "Opened | Gone | Tick | Late | RawNote | Stopped"


def read_raw(path: Path) -> Iterator[Record]:
    """Yield the records; none if there is no such file or it is of another kind.

    Raises:
        OSError: If the file cannot be read.
    """
    try:
        stream = path.open("rb", buffering=1 << 18)
    except FileNotFoundError:
        return
    with stream:
        if stream.read(len(MAGIC)) == MAGIC:
            yield from records(stream)


def records(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the records that are there, from where a stream is, behind the magic words.

    The sampler may still write: the stream is left before a record that is not yet whole, so that
    the next call begins with it.
    """
    length, unpack, read = FRAME.size, FRAME.unpack, stream.read
    at = stream.tell()
    while len(head := read(length)) == length:
        kind, size = unpack(head)
        if size > LARGEST or len(payload := read(size)) < size:
            break
        try:
            record = _tick(payload) if kind == process.TICKED else _other(kind, payload)
        except (struct.error, ValueError):
            break
        at += length + size
        yield record
    stream.seek(at)


def _tick(payload: bytes) -> Tick:
    at_ns, classes = TICK.unpack_from(payload)
    at, size, unpack, head = TICK.size, len(payload), PART.unpack_from, PART.size
    changed: list[tuple[int, bytes]] = []
    while at < size:
        ident, length = unpack(payload, at)
        at += head
        if at + length > size:
            raise ValueError("a part is longer than its record")
        changed.append((ident, payload[at : at + length]))
        at += length
    return Tick(at_ns, classes, changed)


def _other(kind: bytes, payload: bytes) -> Record:
    match kind:
        case process.OPENED:
            words = payload[PART.size :].decode(errors="replace").split(" ", 2)
            owner, what, name = words
            return Opened(PART.unpack_from(payload)[0], owner, what, name)
        case process.GONE:
            return Gone(PART.unpack_from(payload)[0])
        case process.LATE:
            return Late(*MISSED.unpack_from(payload))
        case process.NOTE:
            return RawNote(payload.decode(errors="replace"))
        case process.STOPPED:
            return Stopped(*MISSED.unpack_from(payload))
        case _:
            raise ValueError("it is no record")
