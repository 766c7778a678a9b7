"""Reads events from files and folders.

A file holds JSON lines: rows of an Azure table as they were exported, or events as
``events.jsonl`` has them; or one JSON document with such rows (``az storage entity query``), or a
CSV of them (Storage Explorer). A folder holds runs of ours. Compressed files end in ``.gz`` or
``.zst``.
"""

import csv
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import opened, shown
from benchyard.core.json_text import decoded
from benchyard.core.zstandard import ZstdError, ZstdFile
from benchyard.results.campaigns import is_earlier
from benchyard.results.events import dump, events_of
from benchyard.results.folders import EVENTS_FILE, RUN_FILE
from benchyard.results.record import read_record
from benchyard.show.shipyard.events import Intake

#: A document that is no lines must fit into memory, several times (B).
_LARGEST_DOCUMENT = 1 << 30
#: Where a document may have its rows. Source: az storage entity query; OData 4.0.
_ROWS = ("items", "value")
#: How the first line of a document begins, and that of no row.
_DOCUMENT = re.compile(
    rb'\s*(\[|\{\s*($|"(items|value|nextMarker|odata\.metadata|@odata\.context)"\s*:))'
)
_MARK = b"\xef\xbb\xbf"
_UNPACKERS: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".zst": ZstdFile}


def read_source(source: str, intake: Intake) -> None:
    """Read a file or folder.

    Args:
        source: A path, or ``-`` for standard input.

    Raises:
        InputError: If there is none, or it holds no events.
        OSError: If it cannot be read.
    """
    path = Path(source)
    if source == "-":
        _read_stream(sys.stdin.buffer, "standard input", intake)
    elif path.is_dir():
        _read_folder(path, intake)
    elif path.is_file():
        unpacked = _UNPACKERS.get(path.suffix, nullcontext)
        try:
            with opened(path) as file, unpacked(file) as stream:
                _read_stream(stream, shown(path), intake)
        except (EOFError, gzip.BadGzipFile, zlib.error, ZstdError) as error:
            raise InputError(f"{shown(path)}: not readable as {path.suffix}: {error}") from error
    else:
        raise InputError(f"{source}: there is no such file or folder; name a table's rows or runs")


def read_rows(rows: Iterable[Any], where: str, intake: Intake) -> None:
    """Read rows one by one.

    Args:
        where: What they are of: ``table shipyardperf``.
    """
    for number, row in enumerate(rows, 1):
        intake.take(row, f"{where} row {number}")


# -- files


def _read_stream(stream: IO[bytes], where: str, intake: Intake) -> None:
    first = stream.readline().removeprefix(_MARK)
    if _DOCUMENT.match(first):
        read_rows(_document(first + stream.read(_LARGEST_DOCUMENT), where), where, intake)
    elif b"RowKey" in first and not first.lstrip().startswith(b"{"):
        lines = (line.decode(errors="replace") for line in chain((first,), stream))
        try:
            read_rows(csv.DictReader(lines, restkey=""), where, intake)
        except csv.Error as error:
            raise InputError(f"{where}: a CSV that cannot be read: {error}") from error
    else:
        _read_lines(chain((first,), stream), f"{where} line", intake)


def _document(content: bytes, where: str) -> list[Any]:
    try:
        rows = decoded(content, exact=False)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON lines and no JSON document: {error}") from error
    if isinstance(rows, dict):
        members = cast("dict[str, Any]", rows)
        rows = next((members[name] for name in _ROWS if name in members), None)
    if not isinstance(rows, list):
        raise InputError(f"{where}: a JSON document without rows; export them as a list")
    return cast("list[Any]", rows)


def _read_lines(lines: Iterable[bytes], where: str, intake: Intake, pool: str = "") -> None:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = decoded(line, exact=False)
            except (ValueError, RecursionError) as error:
                intake.refuse(f"{where} {number}", f"it is no JSON: {error}")
            else:
                intake.take(row, f"{where} {number}", pool)


# -- folders of runs


def _read_folder(folder: Path, intake: Intake) -> None:
    """Read all runs below a folder: their events, or their records where there are none.

    Raises:
        InputError: If there is none.
    """
    files = (file for name in (EVENTS_FILE, RUN_FILE) for file in folder.rglob(name))
    # What a run that is done again leaves beside is no second run; runs of earlier campaigns
    # measured something else, unless one of them is asked for.
    runs = {
        file.parent
        for file in files
        if not file.parent.name.endswith(".replaced")
        and (file.parent.parent == folder or not is_earlier(file.parent.parent))
    }
    if not runs:
        raise InputError(
            f"{shown(folder)}: there are no runs in it ({EVENTS_FILE} or {RUN_FILE}); name a run's "
            "folder, a case's results, or a file with events"
        )
    for run in sorted(runs):
        _read_run(run, intake)


def _read_run(run: Path, intake: Intake) -> None:
    events = run / EVENTS_FILE
    try:
        told = events.read_bytes() if events.is_file() else dump(events_of(read_record(run)))
    except RecordError as error:
        intake.refuse(shown(run), str(error))
    else:
        _read_lines(told.split(b"\n"), f"{shown(events)} line", intake, shown(run.parent))
