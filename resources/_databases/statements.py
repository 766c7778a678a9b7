"""Where one statement of PostgreSQL ends and the next begins.

Each is executed apart, so that the rows of the last query are told from those before. PostgreSQL's
own client reads each of them once more: what is split wrongly here ends as its syntax error there.
Source: PostgreSQL's documentation, 4.1 "Lexical Structure"; src/fe_utils/psqlscan.l.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    depth = _Depth()
    at = 0
    while token := _TOKEN.search(sql, at):
        at = token.end()
        if token["comment"]:
            at = _comment_end(sql, token.start()) if token["comment"] == "/*" else at
            continue
        is_end = depth.takes(token["word"] or "", token["other"] or "")
        yield token.start(), at, is_end


def _comment_end(sql: str, begin: int) -> int:
    """Return the end of a comment, in which others may lie."""
    level = 0
    for edge in _COMMENT_EDGE.finditer(sql, begin):
        level += 1 if edge[0] == "/*" else -1
        if not level:
            return edge.end()
    return len(sql)


class _Depth:
    """How deep in brackets, and in the body of a routine, a statement is."""

    def __init__(self) -> None:
        self._words = ""
        self._brackets = 0
        self._blocks = 0

    def takes(self, word: str, other: str) -> bool:
        """Go on to the next token; tell whether it is the semicolon that ends the statement."""
        if word and self._words.count(" ") < 5:
            self._words += f"{word.lower()} "
        if word and not self._brackets and _ROUTINE.match(self._words):
            self._blocks += {"begin": 1, "case": 1, "end": -1}.get(word.lower(), 0)
        self._brackets += {"(": 1, ")": -1}.get(other, 0)
        if other != ";" or self._brackets > 0 or self._blocks > 0:
            return False
        self.__init__()
        return True
