"""The client ``mysql``, ``mariadb`` in some images: how it is called, what it is told and says.

Source: MySQL's reference manual, "mysql Client Options" and "LOAD DATA Statement".
"""

import csv
import re
from collections.abc import Sequence
from typing import TextIO

from benchyard.core.errors import CommandFailedError
from resources._databases.dialog import DialogClient
from resources._databases.files import Source

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
        try:
            for token in _TOKEN.finditer(text):
                end = token.end()
                self._read(token)
        except OSError as error:
            raise CommandFailedError(f"the answer cannot be written: {error}") from error
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
                # Not at the end of the row: that is the mark, which is held back.
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


_ERROR = re.compile(
    r"^ERROR(?: (?P<number>\d+) \(\w+\))?(?: at line (?P<line>\d+))?"
    r"(?: in file: '(?P<file>.*?)')?: (?P<said>.*)",
    re.MULTILINE,
)
_ROW = re.compile(r"\b(?:at row|[Rr]ow) (\d+)")

#: What ends the client.
FAREWELL = "quit\n"


def client(program: str, password: str, database: str) -> DialogClient:
    """Return how the client is executed: through the socket, as root."""
    return DialogClient(
        [
            program,
            "--user=root",
            "--batch",
            "--xml",
            "--quick",
            "--unbuffered",
            "--local-infile=1",
            "--default-character-set=utf8mb4",
            "--connect-timeout=5",
            database,
        ],
        {"MYSQL_PWD": password, "LC_ALL": "C"},
        _end,
    )


def _end(mark: str) -> tuple[str, bytes]:
    """Ask for the errors of the last statement: after one in a file the client goes on."""
    # The delimiter is one that a script may have left behind.
    told = f"delimiter ;\n{ERRORS} errors, '{mark}' AS mark;\n"
    return told, f'<field name="mark">{mark}</field>\n  </row>\n</resultset>\n'.encode()


def quoted(name: str) -> str:
    """Write a name as an SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def make_table(table: str, columns: Sequence[str]) -> str:
    """Return SQL that makes a table anew, as KROWN does, with texts of any length."""
    declared = "".join(f", {quoted(name)} LONGTEXT" for name in columns)
    return (
        f"DROP TABLE IF EXISTS {quoted(table)};\n"
        f"CREATE TABLE {quoted(table)} (`k` INT ZEROFILL NOT NULL AUTO_INCREMENT{declared}, "
        "PRIMARY KEY (`k`)) DEFAULT CHARACTER SET utf8mb4;\n"
    )


def load_data(source: Source, table: str, columns: Sequence[str]) -> str:
    """Return the statements that load a file, and tell its rows and what is wrong with it."""
    if source.is_tbl:
        # Quoted by what occurs in no text: without any quote, NULL would be a text.
        form = "FIELDS TERMINATED BY '|' ENCLOSED BY X'01' ESCAPED BY '' LINES TERMINATED BY '|\\n'"
    else:
        end = "\\r\\n" if source.has_windows_lines() else "\\n"
        form = (
            "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '' "
            f"LINES TERMINATED BY '{end}' IGNORE 1 LINES"
        )
    names = ", ".join(map(quoted, columns))
    return (
        f"LOAD DATA LOCAL INFILE {literal(source.inside)} INTO TABLE {quoted(table)} "
        f"CHARACTER SET utf8mb4 {form} ({names});\n"
        # With LOCAL, what is an error elsewhere is a warning, and the rows are altered.
        "GET DIAGNOSTICS @rows = ROW_COUNT, @warnings = NUMBER;\n"
    )


#: Asks what ``load_data`` kept.
LOADED = "SELECT @rows, @warnings;\n"
#: Asks for the first warning of the last load; it must follow it at once.
FIRST_WARNING = "SHOW WARNINGS LIMIT 1;\n"


def ask_catalogue(tables: Sequence[str]) -> str:
    """Return the query for the columns of tables, named in lower case, or of all of them."""
    names = ", ".join(map(literal, tables))
    chosen = f"AND lower(table_name) IN ({names}) " if tables else ""
    return (
        "SELECT table_name, column_name FROM information_schema.columns "  # noqa: S608 - all quoted
        f"WHERE table_schema = database() {chosen}"
        # The one has an empty text where the other has a null.
        "AND coalesce(generation_expression, '') = '' ORDER BY table_name, ordinal_position;\n"
    )


def ask_names(query: str) -> str:
    """Return a query for the column names of another one, whose rows are not made for it."""
    bare = query.strip().rstrip(";")
    return (
        "SELECT q.* FROM (SELECT 1) o LEFT JOIN "  # noqa: S608 - the case's own SQL
        f"(SELECT * FROM (\n{bare}\n) i LIMIT 0) q ON TRUE;\n"
    )


def explained(complaints: str, names: dict[str, str]) -> str:
    """Return the client's error with the file and the line, if it has them.

    Args:
        complaints: Its standard error.
        names: Path of a script in the container to what the case calls it.
    """
    found = _ERROR.search(complaints)
    if found is None:
        return complaints.strip()
    name = names.get(found["file"] or "")
    return f"{name}:{found['line']}: {found['said']}" if name else found["said"]


def is_refusal(complaints: str) -> bool:
    """Tell whether the server refused a statement; else the client lost it.

    Source: MySQL's reference manual, "Client Error Message Reference": 2000 to 2999.
    """
    found = _ERROR.search(complaints)
    number = int(found["number"] or 0) if found else 0
    return number // 1000 not in {0, 2}


def row_of(warning: str) -> int | None:
    """Return the row that a warning is about."""
    found = _ROW.search(warning)
    return int(found[1]) if found else None
