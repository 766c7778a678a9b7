"""What a query answers, as a CSV file that is alike for all databases."""

import csv
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO


def put(answer: Path, target: Path) -> None:
    """Move an answer to where it belongs, beside first: half an answer must not pass for one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.new")
    shutil.move(answer, beside)
    beside.replace(target)


_TOKEN = re.compile(
    rb'<resultset statement="([^"]*)"[^>]*>'
    rb'|\t<field name="([^"]*)"(?: xsi:nil="true" />|>([^<]*)</field>)'
    rb"|</row>"
)
_ENTITY = re.compile(rb"&(amp|lt|gt|quot);")
_ENTITIES = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"'}

#: How the client's own question at the end of a script begins; its answer is none of the script's.
ERRORS = "SELECT @@error_count AS"


class XmlAnswer:
    """Reads what MySQL's client prints with ``--xml``, piece by piece; keeps the last query's rows.

    Of the client's forms it is the one that tells a null from the text NULL, and one answer from
    the next. No parser of XML reads it: values may hold characters that XML forbids.

    Args:
        stream: Where the rows go as CSV with a header; None only counts them.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._writer = None if stream is None else csv.writer(stream, lineterminator="\n")
        self._rest = b""
        self._is_ours = False
        self._names: list[str] = []
        self._row: list[str | None] = []
        #: Rows of the last query; None without a query.
        self.rows: int | None = None
        #: The last query itself.
        self.statement = ""
        #: Errors of the last statement, as the server counts them.
        self.errors = 0

    def take(self, piece: bytes) -> None:
        """Read the next piece."""
        text = self._rest + piece
        end = 0
        for token in _TOKEN.finditer(text):
            end = token.end()
            self._read(token)
        self._rest = text[end:]

    def _read(self, token: re.Match[bytes]) -> None:
        if token[1] is not None:
            self._begin(_text(token[1]))
        elif token[2] is None:
            self._end_row()
        else:
            if not self.rows:
                self._names.append(_text(token[2]))
            self._row.append(None if token[3] is None else _text(token[3]))
            if self._is_ours and token[2] == b"errors":
                # Not at the end of the row: that is the mark, which nobody is given.
                self.errors = int(token[3] or 0)

    def _begin(self, statement: str) -> None:
        self._row = []
        self._is_ours = statement.startswith(ERRORS)
        if self._is_ours:
            return
        self.statement, self.rows, self._names = statement, 0, []
        if self._stream is not None:
            self._stream.seek(0)
            self._stream.truncate()

    def _end_row(self) -> None:
        row, self._row = self._row, []
        if self._is_ours:
            return
        if self._writer is not None:
            if not self.rows:
                self._writer.writerow(self._names)
            self._writer.writerow(row)
        self.rows = (self.rows or 0) + 1

    def name_columns(self, names: Sequence[str]) -> None:
        """Write the header of an answer without rows, which the client does not tell."""
        if self._writer is not None and names and not self.rows:
            self._writer.writerow(names)


def _text(escaped: bytes) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES[found[1]], escaped).decode(errors="replace")
