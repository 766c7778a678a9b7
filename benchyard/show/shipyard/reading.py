"""Reads events from files and folders.

A file holds JSON lines: rows of an Azure table as they were exported, or events as
``events.jsonl`` has them; or one JSON document with such rows (``az storage entity query``), or a
CSV of them (Storage Explorer). A folder holds runs of ours. Compressed files end in ``.gz`` or
``.zst``.
"""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
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

#: Events of a run in its folder.
STDIN = "-"
#: A document that is no lines must fit into memory, several times (B).
_LARGEST_DOCUMENT = 1 << 30
#: Where a document may have its rows. Source: az storage entity query; OData 4.0.
_ROWS = ("items", "value")
_MARK = b"\xef\xbb\xbf"


def read_source(source: str, intake: Intake) -> None:
    """Read a file or folder.

    Args:
        source: A path, or ``-`` for standard input.

    Raises:
        InputError: If there is none, or it holds no events.
        OSError: If it cannot be read.
    """
    path = Path(source)
    if source == STDIN:
        _read_stream(sys.stdin.buffer, "standard input", intake)
    elif path.is_dir():
        _read_folder(path, intake)
    elif path.is_file():
        try:
            with opened(path) as file, _unpacked(file, path.suffix) as stream:
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


def _unpacked(file: IO[bytes], ending: str) -> IO[bytes]:
    if ending == ".gz":
        return cast("IO[bytes]", gzip.open(file))
    if ending == ".zst":
        return cast("IO[bytes]", ZstdFile(file))
    return file


def _read_stream(stream: IO[bytes], where: str, intake: Intake) -> None:
    first = stream.readline().removeprefix(_MARK)
    start = first.lstrip()[:1]
    is_table = start not in (b"{", b"[", b"") and b"RowKey" in first
    if not (is_table or start == b"[" or (start == b"{" and _is_document(first))):
        _read_lines(chain((first,), stream), f"{where} line", intake)
        return
    content = first + stream.read(_LARGEST_DOCUMENT)
    try:
        rows = _table(content) if is_table else _rows_of(decoded(content, exact=False))
    except (ValueError, RecursionError, csv.Error) as error:
        what = "a CSV that cannot be read" if is_table else "no JSON lines and no JSON document"
        raise InputError(f"{where}: {what}: {error}") from error
    if rows is None:
        raise InputError(f"{where}: a JSON document without rows; export them as a list")
    read_rows(rows, where, intake)


def _table(content: bytes) -> list[Any]:
    return [*csv.DictReader(io.StringIO(content.decode(errors="replace"), newline=""))]


def _is_document(line: bytes) -> bool:
    """Tell whether a first line begins a document, or is one."""
    try:
        return _rows_of(decoded(line, exact=False)) is not None
    except (ValueError, RecursionError):
        return line.strip() == b"{" or any(f'"{name}"'.encode() in line for name in _ROWS)


def _rows_of(document: Any) -> list[Any] | None:
    if isinstance(document, dict):
        members = cast("dict[str, Any]", document)
        document = next((members[name] for name in _ROWS if name in members), None)
    return cast("list[Any]", document) if isinstance(document, list) else None


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
    runs = list(_run_folders(folder))
    if not runs:
        raise InputError(
            f"{shown(folder)}: there are no runs in it ({EVENTS_FILE} or {RUN_FILE}); name a run's "
            "folder, a case's results, or a file with events"
        )
    for run in runs:
        events = run / EVENTS_FILE
        if events.is_file():
            with events.open("rb") as stream:
                _read_lines(stream, f"{shown(events)} line", intake, shown(run.parent))
        else:
            _read_record(run, intake)


def _run_folders(folder: Path) -> Iterator[Path]:
    files = (file for name in (EVENTS_FILE, RUN_FILE) for file in folder.rglob(name))
    # What a run that is done again leaves beside is no second run.
    found = {f.parent for f in files if not f.parent.name.endswith(".replaced")}
    # Runs of earlier campaigns measured something else, unless one of them is asked for.
    yield from sorted(run for run in found if run.parent == folder or not is_earlier(run.parent))


def _read_record(run: Path, intake: Intake) -> None:
    try:
        events = events_of(read_record(run))
    except RecordError as error:
        intake.refuse(shown(run), str(error))
        return
    lines = dump(events).splitlines()
    _read_lines(lines, f"{shown(run / RUN_FILE)} event", intake, shown(run.parent))
