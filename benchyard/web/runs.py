"""A run that is shown: its entry, its record as far as it can be read, and its files."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Annotated
from urllib.parse import quote as quoted

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse

from benchyard.catalogue.entry import RUNS, Entry
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.core.files import opened
from benchyard.core.wording import printable, quote
from benchyard.results.folders import RUN_FILES, WORK, RunFolder
from benchyard.results.krown import has_only_samples, read_results
from benchyard.results.record import RunRecord, read_record
from benchyard.web.explorer import Current


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run.

    Args:
        record: None if there is none that can be read.
        reason: Why there is none.
        notes: What a reader of its figures should know, beside the record's own warnings.
    """

    entry: Entry
    record: RunRecord | None
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> RunFolder:
        """Its folder."""
        return RunFolder(self.entry.place)

    @property
    def title(self) -> str:
        """Case, and number of the run."""
        case = self.record.case.get("title") if self.record else None
        number = self.record.run if self.record else self.entry.run
        name = str(case or self.entry.title or self.entry.case or self.entry.path)
        return name if number is None else f"{name}, run {number}"

    @property
    def under_way(self) -> bool:
        """Whether it goes on, as far as its folder tells."""
        return self.record is None and (self.entry.under_way or self.folder.raw.is_file())


def shown_run(explorer: Current, run_id: str) -> ShownRun:
    """Find a run and read its record.

    Raises:
        NotFoundError: If there is no run with this id.
    """
    entry = explorer.catalogue.entry(run_id)
    if entry.format not in RUNS:
        raise NotFoundError(f"{entry.path} is no run; it is at /entry/{entry.id}")
    return shown_of(entry)


def shown_of(entry: Entry) -> ShownRun:
    """Read the record of a run."""
    try:
        return ShownRun(entry, read_record(entry.place))
    except RecordError as error:
        if has_only_samples(RunFolder(entry.place)):
            return _krowns(entry)
        return ShownRun(entry, None, entry.broken or str(error))


def _krowns(entry: Entry) -> ShownRun:
    """Return a run that KROWN made, of which there are only samples."""
    found = read_results(entry.title or entry.place.parent.parent.name, entry.place.parent)
    records = [*(record for _, record in found.runs), *found.unfinished]
    number = RunFolder(entry.place).number
    record = next((one for one in records if one.run == number), None)
    reason = str(found.unreadable.get(number, "KROWN left no samples that can be read"))
    return ShownRun(entry, record, "" if record else reason, found.warnings)


#: As an argument of an endpoint with ``run_id`` in its path: the run.
Shown = Annotated[ShownRun, Depends(shown_run)]


#: A file is sent in parts of so many bytes, and told to be text by its first part.
_PART = 1 << 16
#: The end of a log that a page shows.
_TAIL_BYTES, _TAIL_LINES = 1 << 16, 200
#: Colours, moves of the cursor, titles of windows and what else terminals obey.
#: Source: ECMA-48, 5th edition, 5.4 (control sequences) and 5.6 (control strings).
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
)
#: Not to be run, framed or given any rights, whatever a browser takes it for.
_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "no-cache",
}

#: Beginnings of pictures that cannot hold a script. Source: mimesniff.spec.whatwg.org, 6.1.
_IMAGES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"RIFF....WEBPVP", re.DOTALL), "image/webp"),
)


def open_in(folder: Path, path: str) -> IO[bytes]:
    """Open a regular file of a run's folder.

    While a run has no record, secrets have not yet been taken out of what its programs wrote: of
    such a run only Benchyard's own files are given.

    Args:
        path: Below the folder, with ``/``.

    Raises:
        NotFoundError: If there is none, or it lies elsewhere.
    """
    refused = NotFoundError(f"the run has no file {quote(path)} that can be shown")
    if path not in RUN_FILES and not RunFolder(folder).record.is_file():
        raise refused
    return open_below(folder, path, refused)


def open_below(folder: Path, path: str, refused: NotFoundError) -> IO[bytes]:
    """Open a regular file of a folder, wherever links lead.

    Args:
        path: Below the folder, with ``/``.

    Raises:
        NotFoundError: ``refused``, if there is none, or it lies elsewhere or in ``.work``.
    """
    parts = PurePosixPath(path).parts
    if "\0" in path or path.startswith("/") or ".." in parts or WORK in parts[:1]:
        raise refused
    try:
        inside = folder.resolve(strict=True)
        file = (inside / path).resolve(strict=True)
        if not file.is_relative_to(inside) or file.is_relative_to(inside / WORK):
            raise refused
        stream = opened(file)
    except (OSError, ValueError, RuntimeError):
        raise refused from None
    # A link may have been put in its place meanwhile: this is what was really opened.
    if not Path(f"/proc/self/fd/{stream.fileno()}").readlink().is_relative_to(inside):
        stream.close()
        raise refused
    return stream


def send_file(folder: Path, path: str) -> Response:
    """Answer with a file: text as plain text, all else as a download.

    Raises:
        NotFoundError: See ``open_in``.
    """
    stream = open_in(folder, path)
    first = stream.read(_PART)
    return _sent(stream, first, path, "text/plain; charset=utf-8" if _is_text(first) else None)


def send_image(folder: Path, path: str, refused: NotFoundError) -> Response:
    """Answer with a file of a folder: a picture by its first bytes, all else as a download.

    Raises:
        NotFoundError: See ``open_below``.
    """
    stream = open_below(folder, path, refused)
    first = stream.read(_PART)
    kind = next((kind for beginning, kind in _IMAGES if beginning.match(first)), None)
    return _sent(stream, first, path, kind)


def _sent(stream: IO[bytes], first: bytes, path: str, shown_as: str | None) -> Response:
    """Answer with an opened file that was begun to be read; None lets it be downloaded."""
    name = quoted(PurePosixPath(path).name, safe="")
    place = "inline" if shown_as else "attachment"
    headers = {**_HEADERS, "Content-Disposition": f"{place}; filename*=UTF-8''{name}"}
    kind = shown_as or "application/octet-stream"
    return StreamingResponse(_parts(stream, first), media_type=kind, headers=headers)


def _is_text(beginning: bytes) -> bool:
    """Tell whether it is UTF-8; the last character may be cut off."""
    try:
        beginning.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(beginning) - 3 and len(beginning) == _PART
    return b"\0" not in beginning


def _parts(stream: IO[bytes], first: bytes) -> Iterator[bytes]:
    with stream:
        part = first
        while part:
            yield part
            part = stream.read(_PART)


def plain_text(text: str) -> str:
    """Take out what a terminal would obey; other characters without a picture are written out."""
    return printable(_ESCAPES.sub("", text).replace("\r\n", "\n"), but="\n\t")


def log_tail(folder: Path, path: str) -> tuple[str, int]:
    """Return the last lines of a log, and how many bytes lie before them; empty without a log."""
    try:
        with open_in(folder, path) as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - _TAIL_BYTES))
            end = stream.read(_TAIL_BYTES)
    except (NotFoundError, OSError):
        return "", 0
    if size > _TAIL_BYTES:
        end = end[end.find(b"\n") + 1 :]
    last = b"".join(end.splitlines(keepends=True)[-_TAIL_LINES:])
    return plain_text(last.decode(errors="replace")), size - len(last)


def send_log(folder: Path, path: str) -> Response:
    """Answer with a whole log as plain text, without what a terminal would obey.

    Raises:
        NotFoundError: If there is none.
    """
    stream = open_in(folder, path)
    return StreamingResponse(
        _plain_lines(stream), media_type="text/plain; charset=utf-8", headers=_HEADERS
    )


def _plain_lines(stream: IO[bytes]) -> Iterator[str]:
    rest = b""
    with stream:
        while part := stream.read(_PART):
            lines, end, after = (rest + part).rpartition(b"\n")
            # A line that is longer than a part is sent in parts, too.
            whole, rest = (lines + end, after) if end else (after, b"")
            yield plain_text(whole.decode(errors="replace"))
        yield plain_text(rest.decode(errors="replace"))
