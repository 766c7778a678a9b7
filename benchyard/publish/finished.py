"""Finished runs into the spools: each run once for each sink."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchyard.publish.archive import Archive
from benchyard.publish.compression import Compression
from benchyard.publish.sinks.contract import Kind
from benchyard.publish.spool import REJECTED, put
from benchyard.publish.testresults import file_name, parse, text_of
from benchyard.results.events.lines import dump
from benchyard.results.events.making import events_of
from benchyard.results.folders import REPLACED, RunFolder, run_number
from benchyard.results.record import read_record


class Lies(StrEnum):
    """Where the document of a run is."""

    PUT = "put"
    WAITING = "waiting"
    REJECTED = "rejected"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class SpooledRun:
    """The document of a run.

    Args:
        name: Its name in the spool; the same whenever it is made.
        lies: ``put`` if it was put there just now, else where it was already.
    """

    name: str
    lies: Lies


def spool_run(run: Path, kind: Kind, spool: Path, archive: Archive) -> SpooledRun | None:
    """Put a finished run into the spool of a sink, unless it was there before.

    Args:
        run: Folder of the run.
        kind: What the sink takes.

    Returns:
        None if the run is not finished.

    Raises:
        RecordError: If its record cannot be read.
        SinkUnavailableError: If the archive does not answer.
        OSError: If the disk is full or not writable.
    """
    if not RunFolder(run).checkpoint.is_file():
        return None
    name, content = document_of_run(run, kind)
    # Before the archive: a publisher archives first and takes out of the spool then.
    if _is_in(spool, name):
        return SpooledRun(name, Lies.WAITING)
    if _is_in(spool / REJECTED, name):
        return SpooledRun(name, Lies.REJECTED)
    if archive.has(name):
        return SpooledRun(name, Lies.ARCHIVED)
    return SpooledRun(name, Lies.PUT if put(spool, name, content) else Lies.WAITING)


def finished_below(folder: Path) -> Iterator[Path]:
    """Yield the finished runs anywhere below a folder, those of earlier campaigns included.

    What KROWN made has no record, and is left. Hidden folders are, too: a lab is at work there.
    """
    for place, folders, _ in os.walk(folder):
        runs = [RunFolder(Path(place, name)) for name in folders if run_number(name)]
        for run in sorted(runs, key=lambda run: run.number):
            if run.checkpoint.is_file() and os.path.lexists(run.record):
                yield run.path
        folders[:] = sorted(name for name in folders if _is_looked_into(name))


def _is_looked_into(name: str) -> bool:
    return not (name.startswith(".") or run_number(name.removesuffix(REPLACED)))


def document_of_run(run: Path, kind: Kind) -> tuple[str, bytes]:
    """Return the name and the content of a run's document.

    Raises:
        RecordError: If its record cannot be read.
    """
    record = read_record(run)
    content = text_of(record).encode()
    name = file_name(parse(content))
    if kind is Kind.RESULTS:
        return name, content
    return name.removesuffix(Kind.RESULTS) + Kind.EVENTS, dump(events_of(record))


def _is_in(folder: Path, name: str) -> bool:
    return any((folder / (name + how.ending)).exists() for how in Compression)
