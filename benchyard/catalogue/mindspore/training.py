"""The summary of a training: its scalars, and how much there is of everything else.

As in MindInsight, the newest summary file alone is read. Lineage files have other messages.
"""

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.catalogue.mindspore.folder import LAST_SECOND, contents, summary_files
from benchyard.catalogue.mindspore.records import RecordReader
from benchyard.core.errors import RecordError
from benchyard.core.files import opened
from benchyard.traces.protobuf import WireError, fields, signed

#: Values in memory; what a file has beyond them is not read.
MOST_VALUES = 300_000
#: Fields of Summary.Value. Source: mindinsight_summary.proto of MindInsight.
_TAG, _SCALAR = 1, 3
_OTHERS = {4: "images", 8: "tensors", 9: "histograms", 11: "landscapes"}
_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5


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
            for tag, found in _values(memoryview(payload)):
                values += 1
                if isinstance(found, Scalar):
                    scalars.setdefault(tag, []).append(found)
                else:
                    others[found] += 1
        except WireError as error:
            reader.problems.add(f"before byte {reader.offset:,}: a record is no event: {error}")
        if values > MOST_VALUES:
            reader.stopped = (
                f"byte {reader.offset:,}: more than {MOST_VALUES:,} values are not read"
            )
            break
    stopped = (reader.stopped,) if reader.stopped else ()
    return Training(name, scalars, others, reader.unfinished, (*reader.problems.told, *stopped))


def _values(event: memoryview) -> Iterator[tuple[str, Scalar | str]]:
    time_s: float | None = None
    step, summary = 0, None
    for number, value in fields(event):
        if number == _STEP and isinstance(value, int):
            step = signed(value)
        elif number == _WALL_TIME and not isinstance(value, int) and len(value) == 8:
            time_s = _time(value)
        elif number == _SUMMARY and not isinstance(value, int):
            summary = value
    for _, value in fields(summary or memoryview(b"")):
        if not isinstance(value, int):
            yield from _value(value, step, time_s)


def _time(value: memoryview) -> float | None:
    (time_s,) = struct.unpack("<d", value)
    return time_s if 0 <= time_s <= LAST_SECOND else None


def _value(
    message: memoryview, step: int, time_s: float | None
) -> Iterator[tuple[str, Scalar | str]]:
    tag = ""
    found: Scalar | str | None = None
    for number, value in fields(message):
        if isinstance(value, int):
            continue
        if number == _TAG:
            tag = str(value, "utf-8", "replace")
        elif number == _SCALAR and len(value) == 4:
            found = Scalar(step, time_s, struct.unpack("<f", value)[0])
        elif number in _OTHERS:
            found = _OTHERS[number]
    if found is not None:
        yield tag, found
