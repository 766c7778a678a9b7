"""JSON files of other benchmark tools: found by their ending, known by their first keys."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.formats.measurements import Measurements
from benchyard.catalogue.formats.sniffing import (
    DESCRIBED_BYTES,
    LOADED_BYTES,
    Head,
    TooLongError,
    content_of,
    entry_of,
    head_of,
)
from benchyard.core.errors import BenchyardError, InputError
from benchyard.results.folders import RUN_FILE, SUMMARY_FILE

T = TypeVar("T")
ENDINGS = (".json", ".json.gz")
#: Of these there are as many as there are runs and cases, and what they are is known.
_OUR_OWN = frozenset({RUN_FILE, SUMMARY_FILE, "metadata.json"})


@dataclass(frozen=True, slots=True)
class JsonFile(Generic[T]):
    """The format of one tool.

    Args:
        name: As ``Entry.format`` says it.
        tool: What people call it.
        recognised: Tells by its head whether a file is of it.
        read: Reads a file's content; its place is for what lies beside it. Raises
            ``BenchyardError``.
    """

    name: str
    tool: str
    recognised: Callable[[Head], bool]
    read: Callable[[bytes, Path], T]

    def told(self, content: T) -> Mapping[str, Any]:
        """Return what the list knows of a file, as fields of its entry."""
        raise NotImplementedError

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the files that may hold JSON of others, sorted."""
        return sorted(
            name
            for name in listing.files
            if name.endswith(ENDINGS) and name not in _OUR_OWN and not name.startswith(".")
        )

    def describe(self, found: Candidate) -> Entry | None:
        """Read it, if it is not longer than ``DESCRIBED_BYTES``; of a longer one its head."""
        head = head_of(found.place)
        if head is None or not self.recognised(head):
            return None
        try:
            content = self._read(found.place, DESCRIBED_BYTES)
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
        return self._read(entry.place, LOADED_BYTES)

    def _read(self, place: Path, most: int) -> T:
        try:
            return self.read(content_of(place, most), place)
        except RecursionError as error:
            raise InputError(f"{place.name} is nested too deeply") from error


class BenchmarkFile(JsonFile[Measurements]):
    """A format of measurements."""

    def told(self, content: Measurements) -> Mapping[str, Any]:
        """Return where, when and of what they were taken, and how many they are."""
        rows = content.rows
        return {
            "host": content.host,
            "commit": content.commit,
            "started_s": content.started_s,
            "counts": {"benchmarks": len({row.name for row in rows}), "measurements": len(rows)},
        }


def decoded(content: bytes, kind: type[T]) -> T:
    """Read JSON of a known shape, with the NaN and Infinity that some tools write.

    Raises:
        InputError: If it is no JSON, or of another shape.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise InputError(f"it has another shape than it should: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"NaN" not in content and b"Infinity" not in content:
            raise InputError(f"it is no JSON: {error}") from error
    return _decoded_slowly(content, kind)


def _decoded_slowly(content: bytes, kind: type[T]) -> T:
    try:
        read: Any = json.loads(content)
        # Refuses surrogates without a partner, which no answer could hold.
        msgspec.json.encode(read)
        return msgspec.convert(read, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"it has another shape than it should: {error}") from error
    except ValueError as error:
        raise InputError(f"it is no JSON: {error}") from error
