"""Traces and profiles of others: a file of a known format, or the folder of a Scanner job."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import (
    DESCRIBED_BYTES,
    LOADED_BYTES,
    Candidate,
    FolderListing,
    TooLongError,
    content_of,
    entry_of,
    without_folder,
)
from benchyard.catalogue.formats.measurements import moment, number
from benchyard.core.errors import InputError
from benchyard.traces.model import Trace
from benchyard.traces.recognising import beginning_of
from benchyard.traces.scanner.profile import Profile
from benchyard.traces.sources import read_trace

_NS_PER_S = 1e9
_PROFILE_OF_NODE = re.compile(r"profile_(?:[0-9]{1,9}|master)\.bin")


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A format of traces or profiles.

    Args:
        name: As ``Entry.format`` says it.
        tool: What people call it.
        endings: Of names of files that may be of it, gzipped or not.
        certain: Of names of files that are of it, and broken if their content is not.
    """

    name: str
    tool: str
    endings: tuple[str, ...]
    certain: tuple[str, ...]

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the files whose names have an ending of any format: the content tells which."""
        files = (n for n in listing.files if _ends(n, _ENDINGS) or n.startswith(_BEGINNINGS))
        return sorted(name for name in files if name[0] != ".")

    def describe(self, found: Candidate) -> Entry | None:
        """Read it, if it is not longer than ``DESCRIBED_BYTES``; of a longer one its head."""
        try:
            known = beginning_of(found.place).trace_format
            said = "" if known else f"its content is not that of {self.tool}"
        except InputError as error:
            known, said = "", str(error)
        if known != self.name:
            promised = said and _ends(found.path, self.certain)
            return entry_of(found, self.name, said) if promised else None
        try:
            content_of(found.place, DESCRIBED_BYTES)
            return _described(entry_of(found, self.name), read_trace(found.place))
        except TooLongError:
            return entry_of(found, self.name)
        except InputError as error:
            return entry_of(found, self.name, str(error))

    def load(self, entry: Entry) -> Trace:
        """Read it.

        Raises:
            InputError: If it is damaged, or longer than ``LOADED_BYTES``.
        """
        return bounded_trace(entry.place)


def _ends(name: str, endings: tuple[str, ...]) -> bool:
    return name.endswith(endings) or name.removesuffix(".gz").endswith(endings)


def _described(entry: Entry | None, trace: Trace) -> Entry | None:
    counts = {"slices": len(trace.slices), "tracks": len(trace.tracks)}
    zero = number(trace.zero)
    started_s = None if zero is None else moment(zero / _NS_PER_S)
    return entry and replace(entry, counts=counts, started_s=started_s)


class ScannerJob:
    """The format of jobs of Scanner."""

    name = "scanner-job"
    tool = "a Scanner job"

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder itself if profiles of nodes lie in it."""
        return ["."] if any(map(_PROFILE_OF_NODE.fullmatch, listing.files)) else []

    def describe(self, found: Candidate) -> Entry | None:
        """Read it, if its files have not more than ``DESCRIBED_BYTES``; of longer ones the name."""
        entry = entry_of(found, self.name)
        try:
            _refuse_longer(found.place, DESCRIBED_BYTES)
            job = Profile(found.place)
        except TooLongError:
            return entry
        except InputError as error:
            return entry_of(found, self.name, str(error))
        told = job.descriptor
        title = told.name if told and told.name else found.place.name
        counts = {"nodes": len(job.nodes), "workers": sum(1 for _ in job.workers())}
        return entry and replace(entry, title=title, counts=counts)

    def load(self, entry: Entry) -> Profile:
        """Read it.

        Raises:
            InputError: If no profile can be read, or they have more than ``LOADED_BYTES``.
        """
        _refuse_longer(entry.place, LOADED_BYTES)
        return Profile(entry.place)


def bounded_trace(place: Path) -> Trace:
    """Read a file, or the folder of a Scanner job, of not more than ``LOADED_BYTES``.

    Raises:
        InputError: If it is longer, or damaged, or of no known format.
    """
    try:
        if place.is_dir():
            _refuse_longer(place, LOADED_BYTES)
        else:
            content_of(place, LOADED_BYTES)
        return read_trace(place)
    except InputError as error:
        raise type(error)(without_folder(str(error), place)) from error


def signature_of(place: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes whenever a file, or one of a Scanner job, does.

    Raises:
        InputError: If nothing is there.
    """
    try:
        files = sorted(place.glob("*.bin")) if place.is_dir() else [place]
        states = [(file.name, file.stat()) for file in files]
    except OSError as error:
        raise InputError(f"{place.name}: {error.strerror}") from error
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


def _refuse_longer(job: Path, most: int) -> None:
    if sum(size for _, _, size in signature_of(job)) > most:
        raise TooLongError(
            f"the job's files have more than {most >> 20} MiB, the most that is read"
        )


_JSON = ".json"
_FILES = tuple(
    TraceFile(*row)
    for row in (
        ("chrome-trace", "Chrome's trace events", (_JSON, ".trace"), (".trace.json", ".trace.gz")),
        ("speedscope", "Speedscope", (_JSON, ".speedscope"), (".speedscope.json",)),
        ("pprof", "pprof", (".pb", ".prof"), (".pprof",)),
        ("collapsed-stacks", "collapsed stacks", (".stacks",), (".folded", ".collapsed")),
        ("cprofile", "cProfile", (".prof",), (".pstats", ".cprof")),
        ("v8-cpuprofile", "V8's CPU profiles", (_JSON,), (".cpuprofile",)),
        ("firefox-profile", "the Firefox Profiler", (_JSON,), ()),
        ("perf-script", "perf script", (".perf",), ()),
        ("callgrind", "Callgrind", (".callgrind",), ()),
    )
)
_ENDINGS = tuple(ending for one in _FILES for ending in one.endings + one.certain)
#: Of names as Callgrind and Xdebug give them.
_BEGINNINGS = ("callgrind.out", "cachegrind.out")
#: For the registry: what ``benchyard.traces`` reads.
TRACES = (ScannerJob(), *_FILES)
