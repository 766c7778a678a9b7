"""MindSpore's summary files: their names, their records, and what one of a training holds.

A record is ``uint64 length | uint32 checksum of the length | payload | uint32 checksum of the
payload``, little-endian, with CRC32C masked as in TFRecord.

Sources: MindInsight's SummaryWatcher and mindinsight_summary.proto; tensorflow.org/tutorials,
load_data/tfrecord, "TFRecords format details".
"""

import os
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import IO, cast

import google_crc32c

from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.traces import protobuf

# -- which files there are

_SUMMARY = re.compile(r"summary\.([0-9]+)")
#: Of the year 9999.
LAST_SECOND = 253_402_300_799


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """A summary file.

    Args:
        created_s: The number in its name: seconds since the epoch.
    """

    name: str
    created_s: int

    @property
    def kind(self) -> str:
        """``explain``, ``lineage`` or ``summary``."""
        kinds = ("explain", "lineage")
        return next((kind for kind in kinds if self.name.endswith(f"_{kind}")), "summary")


def summary_files(names: Iterable[str], *kinds: str) -> list[SummaryFile]:
    """Return the summary files of some kinds, or of all, the one with the largest number last."""
    found = [
        SummaryFile(name, int(match[1]))
        for name in names
        if (match := _SUMMARY.search(name)) and len(match[1]) <= 12
    ]
    return sorted(
        (one for one in found if one.created_s <= LAST_SECOND and (one.kind in kinds or not kinds)),
        key=lambda file: (file.created_s, file.name),
    )


def files_in(folder: Path, kind: str) -> list[SummaryFile]:
    """Return the summary files of one kind in a folder, the newest last; links do not count.

    Raises:
        OSError: If it cannot be listed.
    """
    with os.scandir(folder) as found:
        return summary_files(
            [one.name for one in found if one.is_file(follow_symlinks=False)], kind
        )


# -- their records

#: A longer record is left out unless its reader sets another bound.
LONGEST_BYTES = 64 * 2**20
_LENGTH, _CHECKSUM = struct.Struct("<Q"), struct.Struct("<I")
_HEAD_BYTES = _LENGTH.size + _CHECKSUM.size
#: So many problems are told; of more only the number.
MOST_PROBLEMS = 20
# The library's C part has no types.
_crc32c = cast("Callable[[bytes], int]", google_crc32c.value)  # pyright: ignore[reportUnknownMemberType]


@dataclass
class Progress:
    """How far a summary file was read.

    Args:
        offset: Where to read on, in bytes: behind the last record that ends.
        unfinished: Whether the file breaks off within a record, as while it is being written.
        stopped: Why nothing behind ``offset`` can be read; empty if there is no such reason.
        left_out: What could not be read, and why: the first ones.
        more_left_out: How many more there are.
    """

    offset: int = 0
    unfinished: bool = False
    stopped: str = ""
    left_out: list[str] = field(default_factory=list[str])
    more_left_out: int = 0

    @property
    def problems(self) -> tuple[str, ...]:
        """All that could not be read, a sentence each."""
        more = f"{self.more_left_out:,} more like these" if self.more_left_out else ""
        return (*self.left_out, *filter(None, [more, self.stopped]))

    def leave_out(self, problem: str) -> None:
        """Note what was left out."""
        if len(self.left_out) < MOST_PROBLEMS:
            self.left_out.append(problem)
        else:
            self.more_left_out += 1

    def stop(self, reason: str) -> None:
        """Note why nothing from here on is read."""
        self.stopped = f"byte {self.offset:,}: {reason}"


def records(stream: IO[bytes], progress: Progress, longest: int = LONGEST_BYTES) -> Iterator[bytes]:
    """Yield the payloads of what is in a file now, those whose checksums are right.

    A wrong payload is left out; behind a wrong length nothing can be found, so reading stops there.

    Args:
        progress: Where to begin; it is kept up to date.
        longest: Payloads of more bytes are left out, without being read.
    """
    progress.unfinished, progress.stopped = False, ""
    end = os.fstat(stream.fileno()).st_size
    while (length := _length(stream, progress, end)) is not None:
        behind = progress.offset + _HEAD_BYTES + length + _CHECKSUM.size
        if behind > end:
            if length > longest:
                progress.stop(
                    f"a record of {length:,} bytes is announced, more than "
                    f"the {longest:,} that are read"
                )
            progress.unfinished = length <= longest
            return
        payload = _payload(stream, progress, length, longest)
        progress.offset = behind
        if payload is not None:
            yield payload


def _length(stream: IO[bytes], progress: Progress, end: int) -> int | None:
    stream.seek(progress.offset)
    left = end - progress.offset
    head = stream.read(_HEAD_BYTES) if left >= _HEAD_BYTES else b""
    if len(head) < _HEAD_BYTES:
        progress.unfinished = left > 0
    elif _is_right(head[: _LENGTH.size], head[_LENGTH.size :]):
        return _LENGTH.unpack_from(head)[0]
    else:
        progress.stop("the checksum of a record's length is wrong; nothing behind it is read")
    return None


def _payload(stream: IO[bytes], progress: Progress, length: int, longest: int) -> bytes | None:
    if length > longest:
        why = f"a record of {length:,} bytes is left out; at most {longest:,} are read"
    elif _is_right(payload := stream.read(length), stream.read(_CHECKSUM.size)):
        return payload
    else:
        why = "the checksum of a record is wrong; it is left out"
    progress.leave_out(f"byte {progress.offset:,}: {why}")
    return None


def _is_right(content: bytes, checksum: bytes) -> bool:
    return checksum == _CHECKSUM.pack(masked_checksum(content))


def masked_checksum(content: bytes) -> int:
    """Return the masked CRC32C of some bytes."""
    crc = _crc32c(content)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# -- of a training: its scalars, and how much there is of everything else

#: Values in memory; what a file has beyond them is not read.
MOST_VALUES = 300_000
_Tagged = tuple[str, float | str | None]
#: What Summary.Value holds beside scalars, by the number of its field.
_OTHERS = {4: "images", 8: "tensors", 9: "histograms", 11: "landscapes"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of a tag.

    Args:
        time_s: Seconds since the epoch; None if no clock says what was written.
    """

    step: int
    time_s: float | None
    value: float


@dataclass
class Training(Progress):
    """What a summary file holds.

    Args:
        file: Its name; empty if there are graphs or profiles alone.
        scalars: By tag, in the order of the file.
        others: How many ``images``, ``tensors``, ``histograms`` and ``landscapes`` there are.
    """

    file: str = ""
    scalars: Mapping[str, list[Scalar]] = field(
        default_factory=lambda: defaultdict[str, list[Scalar]](list)
    )
    others: Counter[str] = field(default_factory=Counter[str])


def read_training(folder: Path) -> Training:
    """Read the newest summary of a folder, as MindInsight does.

    Raises:
        RecordError: If it cannot be read.
    """
    training = Training()
    try:
        for file in files_in(folder, "summary")[-1:]:
            training.file = file.name
            with opened(folder / file.name) as stream:
                _read(stream, training)
    except OSError as error:
        raise RecordError(f"{folder}: the summary cannot be read: {error}") from error
    return training


def _read(stream: IO[bytes], training: Training) -> None:
    values = 0
    for payload in records(stream, training):
        try:
            for tag, found in _event(memoryview(payload)):
                values += 1
                if isinstance(found, Scalar):
                    training.scalars[tag].append(found)
                else:
                    training.others[found] += 1
        except protobuf.WireError as error:
            training.leave_out(f"before byte {training.offset:,}: a record is no event: {error}")
        if values > MOST_VALUES:
            training.stop(f"more than {MOST_VALUES:,} values are not read")
            return


def _time(value: protobuf.Value) -> float | None:
    if isinstance(value, int) or len(value) != 8:
        return None
    (time_s,) = struct.unpack("<d", value)
    return time_s if 0 <= time_s <= LAST_SECOND else None


def _content(tag: str, scalars: Sequence[float], *others: bool) -> _Tagged:
    """Return a tag with its scalar, or with the kind of what else it has."""
    kinds = compress(_OTHERS.values(), others)
    return tag, scalars[-1] if scalars else next(kinds, None)


_value = protobuf.message(
    _content, (1, protobuf.text), (3, protobuf.floats), *((number, bool) for number in _OTHERS)
)
_summary = protobuf.message(tuple[_Tagged, ...], (1, protobuf.each(_value)))


def _contents(
    time_s: float | None, step: int, values: Sequence[_Tagged] | None
) -> list[tuple[str, Scalar | str]]:
    return [
        (tag, content if isinstance(content, str) else Scalar(step, time_s, content))
        for tag, content in values or ()
        if content is not None
    ]


_event = protobuf.message(
    _contents, (1, protobuf.last(_time)), (2, protobuf.integer), (5, protobuf.last(_summary))
)
