r"""PostgreSQL's own client ``psql``: how it is called, what it is told, and its errors.

A script's statements are executed apart, so that the rows of the last query are told from those
before. ``psql`` reads each of them once more: what is split wrongly here ends as its syntax error.

Source: PostgreSQL's documentation, "psql" and 4.1 "Lexical Structure"; its code for ``\copy``,
src/bin/psql/copy.c, and src/fe_utils/psqlscan.l.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchyard.core.errors import CommandFailedError, ProgramFailedError
from resources._databases.dialog import DialogClient
from resources._databases.files import Source
from resources._embedded.embedded_file import literal, quoted

#: In the words of an error, in English whatever the image speaks.
_ERROR = re.compile(
    r"^(?:psql:(?P<file>.*?):(?P<line>\d+): )?(?P<kind>ERROR|FATAL|PANIC|error): +(?P<said>.*)$",
    re.MULTILINE,
)
_MORE = re.compile(r"^(?:DETAIL|HINT): +(.*)$", re.MULTILINE)
_COPY_LINE = re.compile(r"^CONTEXT: +COPY .*?, line (\d+)", re.MULTILINE)
#: Quote character for files that have none: it occurs in no text.
_NO_QUOTE = "E'\\001'"


def client(user: str, password: str, database: str) -> DialogClient:
    """Return how the client is executed: through the socket, as the database's owner."""
    return DialogClient(
        [
            "psql",
            "--no-psqlrc",
            "--quiet",
            "--csv",
            "--no-password",
            "--set=ON_ERROR_STOP=1",
            f"--username={user}",
            f"--dbname={database}",
        ],
        {
            "PGPASSWORD": password,
            "PGCLIENTENCODING": "UTF8",
            "PGCONNECT_TIMEOUT": "5",
            # No notices: what is on stderr is an error, in words that are known here.
            "PGOPTIONS": "-c client_min_messages=error -c lc_messages=C",
            "LC_ALL": "C",
            "TZ": "UTC",
        },
        lambda mark: (f"\\o\n\\echo {mark}\n", f"{mark}\n".encode()),
    )


def argument(text: str) -> str:
    """Write the argument of one of the client's own commands."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"


def make_table(table: str, columns: Sequence[str]) -> str:
    """Return SQL that makes a table anew, as KROWN does: all columns text, a key besides."""
    declared = "".join(f", {quoted(name)} VARCHAR" for name in columns)
    return (
        f"DROP TABLE IF EXISTS {quoted(table)};\n"
        f'CREATE TABLE {quoted(table)} ("key" SERIAL PRIMARY KEY{declared});\n'
    )


def copy(source: Source, inside: str, table: str, columns: Sequence[str]) -> str:
    """Return the command that loads a file, and tells how many rows it has.

    Args:
        inside: Where the container sees what is read.
    """
    form = f"DELIMITER '|', QUOTE {_NO_QUOTE}" if source.is_tbl else "HEADER true"
    names = ", ".join(map(quoted, columns))
    return (
        f"\\copy {quoted(table)} ({names}) FROM {literal(inside)} "
        f"WITH (FORMAT csv, {form}, NULL 'NULL', ENCODING 'UTF8')\n\\echo :ROW_COUNT\n"
    )


def ask_catalogue(tables: Sequence[str]) -> str:
    """Return the query for the columns of tables, whose names are in lower case."""
    names = ", ".join(map(literal, tables))
    return (
        "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "  # noqa: S608 - all quoted
        "WHERE pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped "
        f"AND a.attgenerated = '' AND lower(c.relname) IN ({names}) "
        "AND c.relkind IN ('r', 'p', 'f', 'v') ORDER BY c.oid, a.attnum;\n"
    )


class Complaint:
    """What the client said before it ended.

    Args:
        complaints: Its standard error.
    """

    def __init__(self, complaints: str) -> None:
        first = _ERROR.search(complaints)
        more = [found[1] for found in _MORE.finditer(complaints)]
        copy_line = _COPY_LINE.search(complaints)
        #: The error, its detail and its hint; nothing if it did not complain.
        self.said = "; ".join([first["said"], *more]) if first else complaints.strip()
        #: Whether the server refused a statement; else it, or the client, cannot go on.
        self.is_refusal = first is not None and first["kind"] == "ERROR"
        #: Name, without folders, of the script that it happened in.
        self.script = PurePosixPath(first["file"]).name if first and first["file"] else ""
        #: Line of the script where the statement ends.
        self.line = int(first["line"]) if first and first["line"] else None
        #: Line of the file that was loaded.
        self.copy_line = int(copy_line[1]) if copy_line else None

    def error(self, message: str) -> CommandFailedError:
        """Return the error for it, in words of its own."""
        return (ProgramFailedError if self.is_refusal else CommandFailedError)(message)


_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\* )
    | (?P<text>
          [eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)
        | '(?:[^']|'')*(?:'|\Z)
        | "(?:[^"]|"")*(?:"|\Z)
        | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)
      )
    | (?P<word> [^\W\d][\w$]* )
    | (?P<number> \d[\w$.]* )
    | (?P<other> [^\s] )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ROUTINE = re.compile(r"create (?:or replace )?(?:function|procedure)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Args:
        text: With the comments before it and the semicolon, if it has one.
        line: Where its first word stands, counted from 1.
    """

    text: str
    line: int


def statements(sql: str) -> list[Statement]:
    """Split a script; comments that no statement follows are left out."""
    found: list[Statement] = []
    begin = 0
    first: int | None = None
    for at, end, is_end in _tokens(sql):
        first = at if first is None else first
        if is_end:
            found.append(Statement(sql[begin:end], sql.count("\n", 0, first) + 1))
            begin, first = end, None
    if first is not None:
        found.append(Statement(sql[begin:], sql.count("\n", 0, first) + 1))
    return found


def _tokens(sql: str) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of each token that is no comment, and whether a statement ends there."""
    words, brackets, blocks = "", 0, 0
    at = 0
    while token := _TOKEN.search(sql, at):
        at = token.end()
        if token["comment"]:
            at = _comment_end(sql, token.start()) if token["comment"] == "/*" else at
            continue
        word, other = (token["word"] or "").lower(), token["other"]
        if word and words.count(" ") < 5:
            words += f"{word} "
        if not brackets and _ROUTINE.match(words):
            blocks += {"begin": 1, "case": 1, "end": -1}.get(word, 0)
        brackets += {"(": 1, ")": -1}.get(other, 0)
        is_end = other == ";" and brackets <= 0 and blocks <= 0
        if is_end:
            words, brackets, blocks = "", 0, 0
        yield token.start(), at, is_end


def _comment_end(sql: str, begin: int) -> int:
    """Return the end of a comment, in which others may lie."""
    level = 0
    for edge in _COMMENT_EDGE.finditer(sql, begin):
        level += 1 if edge[0] == "/*" else -1
        if not level:
            return edge.end()
    return len(sql)
