"""Which files of a folder that a user named are documents: his own JSON files are none of ours."""

import gzip
import re
import zlib
from dataclasses import replace
from typing import IO

from benchyard.publish.compression import Compression, split_name
from benchyard.publish.sinks.contract import Kind
from benchyard.publish.spool import Listing, Waiting, kind_of

#: As ``testresults.file_name`` makes them.
_OUR_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-.+-[0-9a-f]{12}\.(json|events\.jsonl)")
#: What a document has near its beginning, whatever of its end is missing.
_FORM = {Kind.RESULTS: (b'"entries"',), Kind.EVENTS: (b'"at"', b'"node"', b'"event"')}
_BEGINNING = 1024**2


def documents_of(found: Listing) -> Listing:
    """Return a listing in which only documents wait; the other files are left alone."""
    waiting = tuple(one for one in found.waiting if _is_document(one))
    others = len(found.waiting) - len(waiting)
    return replace(found, waiting=waiting, left_alone=found.left_alone + others)


def _is_document(waiting: Waiting) -> bool:
    name, how = split_name(waiting.name)
    if _OUR_NAME.fullmatch(name):
        return True
    kind = kind_of(waiting.name)
    beginning = _beginning(waiting, how)
    return kind is not None and all(part in beginning for part in _FORM[kind])


def _beginning(waiting: Waiting, how: Compression) -> bytes:
    try:
        with waiting.path.open("rb") as stream:
            return _read(stream, how)
    except (OSError, EOFError, zlib.error):
        return b""


def _read(stream: IO[bytes], how: Compression) -> bytes:
    match how:
        case Compression.NONE:
            return stream.read(_BEGINNING)
        case Compression.GZ:
            with gzip.GzipFile(fileobj=stream) as plain:
                return plain.read(_BEGINNING)
        case Compression.ZST:
            from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415 - only where needed

            try:
                with ZstdDecompressor().stream_reader(stream) as plain:
                    return plain.read(_BEGINNING)
            except ZstdError:
                return b""
