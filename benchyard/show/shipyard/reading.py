"""From files and folders to what was taken in.

A file holds JSON lines: rows of an Azure table as they were exported, or events as
``events.jsonl`` has them; or one JSON document with such rows (``az storage entity query``), or a
CSV of them (Storage Explorer). A folder holds runs of ours. Compressed files end in ``.gz`` or
``.zst``.
"""

import csv
import gzip
import io
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import shown
from benchyard.core.json_text import decoded
from benchyard.results.campaigns import is_earlier
from benchyard.results.events.lines import stamp
from benchyard.results.events.making import events_of
from benchyard.results.record import RUN_FILE, read_record
from benchyard.show.shipyard.intake import Intake, Row

#: Events of a run in its folder.
EVENTS_FILE = "events.jsonl"
STDIN = "-"
#: So much of a file is read at once (B), and so many rows of a table.
_BLOCK_BYTES = 1 << 20
_BLOCK_ROWS = 10_000
#: A document that is no lines must fit into memory, several times (B).
_LARGEST_DOCUMENT = 1 << 30
#: Where a document may have its rows. Source: az storage entity query; OData 4.0.
_ROWS = ("items", "value")

#: Told now and then, with the number of rows so far.
Listener = Callable[[int], object]


def read_source(source: str, intake: Intake, listener: Listener) -> None:
    """Take in what a file or folder holds.

    Args:
        source: A path, or ``-`` for standard input.

    Raises:
        InputError: If there is none, or it holds no events.
        OSError: If it cannot be read.
    """
    if source == STDIN:
        _read_stream(sys.stdin.buffer, "standard input", intake, listener)
        return
    path = Path(source)
    if path.is_dir():
        _read_folder(path, intake, listener)
    elif path.is_file():
        with _opened(path) as stream:
            _read_stream(stream, shown(path), intake, listener)
    else:
        raise InputError(f"{source}: there is no such file or folder; name a table's rows or runs")


def read_rows(rows: Iterable[Row], where: str, intake: Intake, listener: Listener) -> None:
    """Take in rows that come one after the other.

    Args:
        where: What they are of: ``table shipyardperf``.
    """
    coming, first = iter(rows), 1
    while some := list(islice(coming, _BLOCK_ROWS)):
        intake.take(some, f"{where} row", first)
        first += len(some)
        listener(intake.taken)


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    """Open a file, uncompressed.

    Raises:
        InputError: If it is not what its ending says.
    """
    try:
        with path.open("rb") as raw:
            if path.suffix == ".gz":
                yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
            elif path.suffix == ".zst":
                from zstandard import ZstdDecompressor  # noqa: PLC0415 - few files are

                yield cast("IO[bytes]", io.BufferedReader(ZstdDecompressor().stream_reader(raw)))
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, _zstd_error()) as error:
        raise InputError(f"{shown(path)}: not readable as {path.suffix}: {error}") from error


def _zstd_error() -> type[Exception]:
    zstandard = sys.modules.get("zstandard")
    return EOFError if zstandard is None else zstandard.ZstdError


# -- streams


def _read_stream(
    stream: IO[bytes], where: str, intake: Intake, listener: Listener, pool: str = ""
) -> None:
    lines = stream.readlines(_BLOCK_BYTES)
    start = lines[0].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] if lines else b""
    if start not in (b"{", b"[", b"") and b"RowKey" in lines[0]:
        _read_csv(b"".join([*lines, stream.read(_LARGEST_DOCUMENT)]), where, intake, listener)
    elif start == b"[" or (start == b"{" and _is_document(lines[0])):
        _read_document(b"".join([*lines, stream.read(_LARGEST_DOCUMENT)]), where, intake, listener)
    else:
        for first, some in _numbered(lines, stream):
            _take_lines(some, f"{where} line", first, intake, pool)
            listener(intake.taken)


def _is_document(line: bytes) -> bool:
    """Tell whether a first line begins a document, or is one."""
    try:
        return _rows_of(decoded(line, exact=False)) is not None
    except (ValueError, RecursionError):
        return line.strip() == b"{" or any(f'"{name}"'.encode() in line for name in _ROWS)


def _rows_of(document: Any) -> list[Any] | None:
    if isinstance(document, list):
        return cast("list[Any]", document)
    if isinstance(document, dict):
        members = cast("dict[str, Any]", document)
        found = next((members[name] for name in _ROWS if name in members), None)
        return cast("list[Any]", found) if isinstance(found, list) else None
    return None


def _read_document(content: bytes, where: str, intake: Intake, listener: Listener) -> None:
    try:
        rows = _rows_of(decoded(content.removeprefix(b"\xef\xbb\xbf"), exact=False))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: neither JSON lines nor one JSON document: {error}") from error
    if rows is None:
        raise InputError(f"{where}: a JSON document without rows; export them as a list")
    read_rows(rows, where, intake, listener)


def _read_csv(content: bytes, where: str, intake: Intake, listener: Listener) -> None:
    text = content.decode("utf-8-sig", errors="replace")
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=False)
    try:
        read_rows(({**row} for row in rows), where, intake, listener)
    except csv.Error as error:
        raise InputError(f"{where}: a CSV that cannot be read: {error}") from error


def _numbered(lines: list[bytes], stream: IO[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield blocks of lines, each with the number of its first."""
    first = 1
    while lines:
        yield first, lines
        first += len(lines)
        lines = stream.readlines(_BLOCK_BYTES)


def _take_lines(lines: list[bytes], where: str, first: int, intake: Intake, pool: str) -> None:
    """Take in some lines, as one document if they are well-formed: that is three times as fast."""
    try:
        rows: Any = decoded(b"[" + b",".join(lines) + b"]", exact=False)
    except (ValueError, RecursionError):
        rows = []
    if len(rows) == len(lines):
        intake.take(rows, where, first, pool)
        return
    for number, line in enumerate(lines, first):
        if line.strip():
            _take_line(line, where, number, intake, pool)


def _take_line(line: bytes, where: str, number: int, intake: Intake, pool: str) -> None:
    try:
        row = decoded(line.removeprefix(b"\xef\xbb\xbf"), exact=False)
    except (ValueError, RecursionError) as error:
        intake.refuse(f"{where} {number}", f"it is no JSON: {error}")
    else:
        intake.take([row], where, number, pool)


# -- folders of runs


def _read_folder(folder: Path, intake: Intake, listener: Listener) -> None:
    """Take in all runs below a folder: their events, or else what their records tell.

    Raises:
        InputError: If there is none.
    """
    found = 0
    for run in _run_folders(folder):
        found += 1
        events = run / EVENTS_FILE
        if events.is_file():
            with events.open("rb") as stream:
                _read_stream(stream, shown(events), intake, listener, shown(run.parent))
        else:
            _read_record(run, intake)
    if not found:
        raise InputError(
            f"{shown(folder)}: there are no runs in it ({EVENTS_FILE} or {RUN_FILE}); name a run's "
            "folder, a case's results, or a file with events"
        )


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
    rows = [
        {
            "at": stamp(event.at),
            "node": event.node,
            "event": f"{event.source}:{event.name}",
            "message": event.message,
        }
        for event in events
    ]
    intake.take(rows, f"{shown(run / RUN_FILE)} event", pool=shown(run.parent))
