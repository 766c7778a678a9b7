"""Excerpts of records: what statistics of a few metrics need, in memory and in a report.

Most of a record is what each repetition used. An excerpt is a ``RunRecord`` too, so that whatever
takes records takes excerpts; what it leaves out is empty in it.

A report holds the records of its runs, from which results are made again, in one JSON document in a
``script`` element of the type ``application/json``, which no browser executes. Format
``benchyard-report``:

sides: what the report is about, each with ``name``, ``step`` (id of the only step that it is about,
  or null) and ``runs``, places in the list below.
runs: of each run its number (``run``), whether it is finished (``done``), and ``sha256`` of the
  run.json that it was reduced from.
records: the reduced records, one a line in the order of the runs, compressed (gzip), in base64.
digest: SHA-256 of all of the above. It finds damage and careless changes; who changes the digest
  too is found only by a digest that was kept elsewhere.

Versions of the format:
1: the first.
"""

import base64
import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

from msgspec import Struct
from msgspec.json import Decoder

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import content, shown
from benchyard.core.json_text import decoded, encoded, read_as
from benchyard.core.model import Json, JsonObject
from benchyard.results.folders import RUN_FILE
from benchyard.results.record import (
    Attempt,
    Count,
    Number,
    Repetition,
    RunRecord,
    StepRecord,
    lean,
    parse_record,
    read_record,
)
from benchyard.results.subject import digest_of, digested

T = TypeVar("T")


#: What no excerpt has of a record, and what of the others only that for lists has.
_NEVER = ("phases", "outputs", "changed_inputs", "adaptive", "tries", "variables")
_ON_HOST = ("collector", "preflight")


@lru_cache(maxsize=64)
def _decoder(metrics: tuple[str, ...], others: tuple[str, ...] = _ON_HOST) -> Decoder[Struct]:
    """Return what passes over the metrics that are not wanted: most of a record is metrics."""
    names = _names(metrics)
    made_of: Any = TypedDict
    amounts, reported = Mapping[str, Number | None], Mapping[str, Any]
    if not any(map(_is_glob, names)):
        amounts = made_of("amounts", dict.fromkeys(names, Number | None), total=False)
        reported = made_of("reported", dict.fromkeys(names, Any), total=False)
    dropped = ("error", "started_at", "ended_at", "harness")
    made = lean(Repetition, *dropped, used=amounts, values=reported)
    attempt = lean(Attempt, repetitions=tuple[made, ...])
    sampled = () if any(_is_glob(name) or "_sampled_" in name for name in names) else ("sampled",)
    step = lean(StepRecord, *sampled, attempts=tuple[attempt, ...])
    host = made_of("environment", {"host": Any}, total=False)
    types: dict[str, Any] = {"steps": tuple[step, ...], "environment": host}
    return Decoder(lean(RunRecord, *_NEVER, *others, **types))


def _names(metrics: tuple[str, ...]) -> set[str]:
    # A command may report what the lab measures too; the metric's name then says so.
    return {name for metric in metrics for name in (metric, metric.removeprefix("reported_"))}


def _is_glob(metric: str) -> bool:
    return not {*"*?["}.isdisjoint(metric)


def read_excerpt(folder: Path, metrics: tuple[str, ...] = ()) -> RunRecord:
    """Read the outcome of a run and of its steps, their times, and the metrics that are wanted.

    Args:
        metrics: Names, or globs over them; the duration is always there.

    Raises:
        RecordError: If ``read_record`` would, but for what an excerpt leaves out.
    """
    whole = read_record(folder, _decoder(metrics))
    # The decoder kept the metrics that are named; those that globs match are chosen here.
    globs = metrics if any(map(_is_glob, metrics)) else ()
    return replace(
        whole,
        case=_shared(whole.case),
        steps=tuple(_step(step, globs) for step in whole.steps),
        resources=_shared(whole.resources),
        flow_run=_shared(whole.flow_run),
        subject=_shared(whole.subject),
        session=_shared(whole.session),
    )


def parse_outline(content: bytes, path: Path) -> RunRecord:
    """Parse a record, without metrics and what else no list of runs shows; see ``parse_record``."""
    return parse_record(content, path, _decoder((), ()))


def _shared(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what is mostly the same in all runs of a case, and is kept once then."""
    return _kept(encoded(dict(document)))


@lru_cache(maxsize=512)
def _kept(text: str) -> Mapping[str, Json]:
    return decoded(text.encode(errors="backslashreplace"))


def _step(step: StepRecord, globs: tuple[str, ...]) -> StepRecord:
    attempts = step.attempts
    if globs:
        attempts = tuple(_attempt(attempt, globs) for attempt in attempts)
    return replace(step, parameters=_shared(step.parameters), attempts=attempts)


def _attempt(attempt: Attempt, metrics: tuple[str, ...]) -> Attempt:
    repetitions = tuple(
        replace(made, used=_wanted(made.used, metrics), values=_wanted(made.values, metrics))
        for made in attempt.repetitions
    )
    return replace(attempt, repetitions=repetitions)


def _wanted(values: Mapping[str, T], metrics: tuple[str, ...]) -> Mapping[str, T]:
    return {name: value for name, value in values.items() if _is_wanted(name, metrics)}


@lru_cache(maxsize=4096)
def _is_wanted(name: str, metrics: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _names(metrics))


FORMAT = "benchyard-report"
VERSION = 1
BEGIN = b'<script type="application/json" id="benchyard-report">'
END = b"</script>"
#: No report that Benchyard makes comes near: bytes of a file, and of its records unpacked.
_LARGEST_FILE, _LARGEST_RECORDS = 4_000_000, 100_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """A run in a report.

    Args:
        done: Whether it is finished.
        sha256: Of its run.json, before that was reduced; hexadecimal.
    """

    run: Count
    done: bool
    sha256: str


@dataclass(frozen=True, slots=True)
class ReportSide:
    """One of those that a report is about.

    Args:
        step: Id of the step that it is about; None is about all.
        runs: Places in the list of runs.
    """

    name: str
    runs: tuple[Count, ...]
    step: str | None = None


@dataclass(frozen=True, slots=True)
class ReportData:
    """All that is read from a report.

    Args:
        records: In the order of ``runs``.
        digest: Of all, ``sha256:`` before it.
    """

    sides: tuple[ReportSide, ...]
    runs: tuple[Run, ...]
    records: tuple[RunRecord, ...]
    digest: str


def is_report(path: Path) -> bool:
    """Tell whether a path is a report by its name: a file that ends in ``.html``."""
    try:
        return path.suffix.lower() in (".html", ".htm") and path.is_file()
    except (OSError, ValueError):  # a name that is too long, or has a null byte
        return False


# -- writing


def data_document(
    sides: Sequence[ReportSide], runs: Sequence[Run], records: Iterable[str]
) -> JsonObject:
    """Return the document, with its digest.

    Args:
        records: The reduced record of each run, on a line.
    """
    packed = gzip.compress("".join(records).encode(errors="backslashreplace"), 9, mtime=0)
    body: JsonObject = {
        "format": FORMAT,
        "version": VERSION,
        "sides": [{"name": s.name, "step": s.step, "runs": list(s.runs)} for s in sides],
        "runs": [{"run": r.run, "done": r.done, "sha256": r.sha256} for r in runs],
        "records": base64.b64encode(packed).decode(),
    }
    return digested(body)


# -- reading


def read_report(path: Path) -> ReportData:
    """Read the data of a report, and check it.

    Raises:
        InputError: If it is no report, was changed, or is too large.
    """
    document = _document(path)
    digest = document.pop("digest", None)
    if document.get("version") != VERSION or document.get("format") != FORMAT:
        raise _wrong(path, "its data are of another version; read it with a newer Benchyard")
    if digest != digest_of(document):
        raise _wrong(path, "its data do not match their digest: they were changed, or damaged")
    try:
        runs = read_as(_Listed, {n: document[n] for n in ("sides", "runs")})
        lines = _unpacked(path, str(document["records"])).splitlines(keepends=True)
        return _checked(path, runs, lines, digest)
    except (KeyError, ValueError, RecordError, zlib.error) as error:
        raise _wrong(path, f"its data cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _Listed:
    sides: tuple[ReportSide, ...]
    runs: tuple[Run, ...]


def _wrong(path: Path, what: str) -> InputError:
    return InputError(f"{shown(path)}: {what}")


def _document(path: Path) -> dict[str, Any]:
    try:
        text = content(path, _LARGEST_FILE)
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror}") from error
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    if begin < 0 or end < 0 or BEGIN in text[end:]:
        raise _wrong(path, "it is no report of Benchyard: the data of one are not in it")
    try:
        document = decoded(text[begin + len(BEGIN) : end])
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"its data cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise _wrong(path, "it is no report of Benchyard: its data are no object")
    return cast("dict[str, Any]", document)


def _unpacked(path: Path, text: str) -> bytes:
    """Unpack records, but never more than fits: a few bytes may stand for gigabytes."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    content = unpacking.decompress(base64.b64decode(text, validate=True), _LARGEST_RECORDS)
    if not unpacking.eof or unpacking.unused_data:
        raise _wrong(path, "its records are cut off, or larger than any report's")
    return content


def _checked(path: Path, listed: _Listed, lines: Sequence[bytes], digest: str) -> ReportData:
    # Not the report's own folder: that may be called as the folder of a run.
    records = tuple(parse_record(line, path / RUN_FILE) for line in lines)
    if [run.run for run in listed.runs] != [record.run for record in records]:
        raise ValueError("its list of runs and its records differ")
    if any(place >= len(records) for side in listed.sides for place in side.runs):
        raise ValueError("a side names a run that is not there")
    return ReportData(listed.sides, listed.runs, records, digest)
