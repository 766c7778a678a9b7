"""The summary of a training: its scalars, and how much there is of everything else.

As in MindInsight, the newest summary file alone is read. Lineage files have other messages.
"""

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

from benchyard.catalogue.mindspore.folder import LAST_SECOND, contents, summary_files
from benchyard.catalogue.mindspore.records import RecordReader
from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.traces import protobuf

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


@dataclass(frozen=True, slots=True)
class Training:
    """What a summary file holds.

    Args:
        file: Its name; empty if there are graphs or profiles alone.
        scalars: By tag, in the order of the file.
        others: How many ``images``, ``tensors``, ``histograms`` and ``landscapes`` there are.
        unfinished: Whether the file breaks off within a record.
        problems: What could not be read, and why.
    """

    file: str
    scalars: Mapping[str, Sequence[Scalar]]
    others: Mapping[str, int]
    unfinished: bool
    problems: Sequence[str]


def read_training(folder: Path) -> Training:
    """Read the newest summary of a folder.

    Raises:
        RecordError: If it cannot be read.
    """
    try:
        files = summary_files(contents(folder).files)
        names = [file.name for file in files if file.counted_as == "summary_files"]
        if not names:
            return Training("", {}, {}, unfinished=False, problems=())
        with opened(folder / names[-1]) as stream:
            return _read(names[-1], RecordReader(stream))
    except OSError as error:
        raise RecordError(f"{folder}: the summary cannot be read: {error}") from error


def _read(name: str, reader: RecordReader) -> Training:
    scalars: dict[str, list[Scalar]] = {}
    others: Counter[str] = Counter()
    values = 0
    for payload in reader:
        try:
            for tag, found in _event(memoryview(payload)):
                values += 1
                if isinstance(found, Scalar):
                    scalars.setdefault(tag, []).append(found)
                else:
                    others[found] += 1
        except protobuf.WireError as error:
            reader.problems.add(f"before byte {reader.offset:,}: a record is no event: {error}")
        if values > MOST_VALUES:
            reader.stopped = (
                f"byte {reader.offset:,}: more than {MOST_VALUES:,} values are not read"
            )
            break
    stopped = (reader.stopped,) if reader.stopped else ()
    return Training(name, scalars, others, reader.unfinished, (*reader.problems.told, *stopped))


def _time(value: protobuf.Value) -> float | None:
    if isinstance(value, int) or len(value) != 8:
        return None
    (time_s,) = struct.unpack("<d", value)
    return time_s if 0 <= time_s <= LAST_SECOND else None


def _content(tag: str, scalars: Sequence[float], *others: bool) -> _Tagged:
    """Return a tag with its scalar, or with the kind of what else it has."""
    kinds = compress(_OTHERS.values(), others)
    return tag, scalars[-1] if scalars else next(kinds, None)


# Source: mindinsight_summary.proto of MindInsight.
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
