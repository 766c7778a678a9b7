"""Files of other benchmark tools, and what they tell in one form.

Numbers are in SI units, unrounded, in the order of the file. Files are found by their ending and
known by their first keys.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import msgspec

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import (
    DESCRIBED_BYTES,
    LOADED_BYTES,
    Candidate,
    FolderListing,
    TooLongError,
    content_of,
    entry_of,
)
from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.model import Json
from benchyard.core.wording import quote, some
from benchyard.results.folders import RUN_FILE, SUMMARY_FILE
from benchyard.statistics.measures import mean, median, stdev
from benchyard.traces.recognising import Head, head_of

T = TypeVar("T")
#: What is told of the values of a measurement.
STATISTICS = ("n", "median", "mean", "stdev", "min", "max")

#: So many make a second; to divide by them rounds once.
IN_A_SECOND = {
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e9),
    **dict.fromkeys(("us", "usec", "microsecond", "microseconds"), 1e6),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
}

#: The first second that no date can name: years have four digits.
_TOO_LATE = 253_402_300_800


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of one benchmark.

    Args:
        name: Of the benchmark.
        metric: What was measured, such as ``wall`` or ``memory``.
        unit: Of all its numbers: ``s``, ``B``, ``1/s``, ``B/s``; ``1`` for a mere number; empty if
            the file does not tell.
        values: In the order in which they were measured; empty if only statistics are told.
        told: Statistics by the file itself, among ``STATISTICS``.
        parameters: Of the benchmark.
        note: What else is to be said: why there is no value.
        direction: ``SMALLER`` or ``LARGER``; None where the unit tells, or nothing does.
    """

    name: str
    metric: str
    unit: str
    values: Sequence[float] = ()
    told: Mapping[str, float] = field(default_factory=dict[str, float])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    note: str = ""
    direction: str | None = None

    def statistic(self, name: str) -> float | None:
        """Return one of ``STATISTICS``: as the file tells it, or else of the values."""
        if name in self.told:
            return self.told[name]
        if not self.values or (name == "stdev" and len(self.values) < 2):
            return None
        found = {"n": len, "median": median, "mean": mean, "stdev": stdev, "min": min, "max": max}
        return found[name](self.values)


@dataclass(frozen=True, slots=True)
class Measurements:
    """A file of measurements.

    Args:
        rows: In the order of the file.
        host: Where they were measured.
        commit: What was measured.
        started_s: When, in seconds since the epoch.
        about: What else the file tells of the circumstances.
        one_process: Whether all values of a benchmark may be of one process.
        in_turns: Whether the benchmarks took turns.
        earlier: What the file has of before, oldest first: other commits, or other days.
        commit_s: When the commit was made, if commits are not measured in their order.
    """

    rows: Sequence[Measurement]
    host: str = ""
    commit: str = ""
    started_s: float | None = None
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    one_process: bool = False
    in_turns: bool = False
    earlier: Sequence["Measurements"] = ()
    commit_s: float | None = None


def number(value: object) -> float | None:
    """Return a number of a file as a double; None for what is none, or not finite."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def known(numbers: Iterable[float | None]) -> list[float]:
    """Return the numbers that are finite; others are missing values."""
    return [one for one in numbers if one is not None and math.isfinite(one)]


def numbers(values: object) -> list[float]:
    """Return the finite numbers of a list; an empty list if the value is not a list."""
    return known(map(number, items(values)))


def items(value: object) -> list[Any]:
    """Return a list of a file; an empty one for what is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def statistics(told: Mapping[str, Any], names: str, parts: float = 1.0) -> dict[str, float]:
    """Return the statistics in an object of a file, as far as they are finite numbers.

    Args:
        told: The object.
        names: Its names of ``STATISTICS``, in their order; ``-`` for one that it has not.
        parts: So many of the file's unit make one of ours.
    """
    pairs = zip(STATISTICS, names.split(), strict=True)
    found = {ours: number(told.get(theirs)) for ours, theirs in pairs}
    return {
        name: one if name == "n" else one / parts for name, one in found.items() if one is not None
    }


def failures(failed: int, every: int, what: str = "executions") -> str:
    """Say how many of something failed; nothing if none did."""
    return f"{failed:,} of {every:,} {what} failed" if failed else ""


def moment(seconds: float) -> float | None:
    """Return a moment in seconds since the epoch; None if no date from 1970 to 9999 is meant."""
    return seconds if 0 <= seconds < _TOO_LATE else None


def seconds_of(text: str, *, utc: bool = False) -> float | None:
    """Return a moment as seconds since the epoch; None if the text does not tell it exactly.

    Args:
        text: Date and time by ISO 8601.
        utc: Whether a time without an offset is one of UTC.
    """
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None and not utc:
            return None
        return moment(read.replace(tzinfo=read.tzinfo or UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def words(facts: Mapping[str, Any], *names: str) -> str:
    """Return those of some facts that are known, with spaces between them."""
    return " ".join(str(facts[name]) for name in names if facts.get(name))


def facts(**told: object) -> dict[str, str]:
    """Return what is not empty of some facts, as texts."""
    return {name.replace("_", " "): str(one) for name, one in told.items() if one not in (None, "")}


#: Of ``Measurements.about``: keys that a JSON object has more than once; their last values count.
REPEATED = "repeated keys"
_JSON = (".json", ".json.gz")
#: Of these there are as many as there are runs and cases, and what they are is known.
_OUR_OWN = frozenset({RUN_FILE, SUMMARY_FILE, "metadata.json"})


@dataclass(frozen=True, slots=True)
class ToolFile(Generic[T]):
    """The format of one tool.

    Args:
        name: As ``Entry.format`` says it.
        tool: What people call it.
        recognised: Tells by its head whether a file is of it.
        read: Reads a file's content; its place is for what lies beside it. Raises
            ``BenchyardError``.
        by: What it is recognised by, in words.
        endings: Of the names of its files.
        listed: Whether the explorer looks for them; CSV and texts are too many.
    """

    name: str
    tool: str
    recognised: Callable[[Head], bool]
    read: Callable[[bytes, Path], T]
    by: str = ""
    endings: tuple[str, ...] = _JSON
    listed: bool = True

    def told(self, content: T) -> Mapping[str, Any]:
        """Return what the list knows of a file, as fields of its entry."""
        raise NotImplementedError

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the files that may be of it, sorted."""
        return sorted(
            name
            for name in (listing.files if self.listed else ())
            if name.endswith(self.endings) and name not in _OUR_OWN and not name.startswith(".")
        )

    def describe(self, found: Candidate) -> Entry | None:
        """Read it, if it is not longer than ``DESCRIBED_BYTES``; of a longer one its head."""
        if not self.is_of(found.place):
            return None
        try:
            content = self.content_of(found.place, DESCRIBED_BYTES)
        except TooLongError:
            return entry_of(found, self.name)
        except BenchyardError as error:
            return entry_of(found, self.name, str(error))
        entry = entry_of(found, self.name)
        return entry and replace(entry, **self.told(content))

    def load(self, entry: Entry) -> T:
        """Read it.

        Raises:
            BenchyardError: If it is damaged, or longer than ``LOADED_BYTES``.
        """
        return self.content_of(entry.place, LOADED_BYTES)

    def is_of(self, place: Path) -> bool:
        """Tell by its name and its head whether a file is of this format."""
        head = head_of(place) if place.name.lower().endswith(self.endings) else None
        return head is not None and self.recognised(head)

    def parsed(self, content: bytes, place: Path) -> T:
        """Return what a file holds; see ``read``."""
        return self.read(content, place)

    def content_of(self, place: Path, most: int) -> T:
        """Read a file of not more than ``most`` bytes; see ``load``."""
        try:
            return self.parsed(content_of(place, most), place)
        except RecursionError as error:
            raise InputError(f"{place.name} is nested too deeply") from error


@dataclass(frozen=True, slots=True)
class BenchmarkFile(ToolFile[Measurements]):
    """A format of measurements."""

    def parsed(self, content: bytes, place: Path) -> Measurements:
        """Return what a file holds, and which keys it repeats."""
        measured = self.read(content, place)
        names = _repeated_keys(content) if self.endings == _JSON else ()
        said = {REPEATED: some([quote(name) for name in names])} if names else {}
        return replace(measured, about={**measured.about, **said})

    def told(self, content: Measurements) -> Mapping[str, Any]:
        """Return where, when and of what they were taken, and how many they are."""
        rows = content.rows
        return {
            "host": content.host,
            "commit": content.commit,
            "started_s": content.started_s,
            "counts": {"benchmarks": len({row.name for row in rows}), "measurements": len(rows)},
        }


def by_keys(
    name: str,
    tool: str,
    read: Callable[[bytes, Path], Measurements],
    *ways: Sequence[str],
) -> BenchmarkFile:
    """Return a JSON format that is recognised if all keys of one of ``ways`` are there."""
    said = "; or ".join(", ".join(f"`{key}`" for key in keys) for keys in ways)
    return BenchmarkFile(
        name,
        tool,
        lambda head: any(head.has(*keys) for keys in ways),
        read,
        f"`.json` with {said}",
    )


def decoded(content: bytes, kind: type[T]) -> T:
    """Read JSON of a known shape, with the NaN and Infinity that some tools write.

    Raises:
        InputError: If it is no JSON, or of another shape.
    """
    try:
        if b"NaN" not in content and b"Infinity" not in content:
            return msgspec.json.decode(content, type=kind)
        read: Any = json.loads(content)
        # Refuses surrogates without a partner, which no answer could hold.
        msgspec.json.encode(read)
        return msgspec.convert(read, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"it has another shape than it should: {error}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(f"it is no JSON: {error}") from error


def _repeated_keys(content: bytes) -> Collection[str]:
    found: dict[str, None] = {}

    def keep(pairs: list[tuple[str, object]]) -> None:
        names = Counter(name for name, _ in pairs)
        found.update((name, None) for name, times in names.items() if times > 1)

    with suppress(ValueError, RecursionError):
        json.loads(content, object_pairs_hook=keep)
    return found


def beside(file: Path) -> dict[str, Any]:
    """Return what a file of JSON tells of the one that it lies beside; nothing if it cannot."""
    try:
        return decoded(content_of(file, DESCRIBED_BYTES), dict[str, Any])
    except (InputError, RecursionError, msgspec.MsgspecError):
        return {}
