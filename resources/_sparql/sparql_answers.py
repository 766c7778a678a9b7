"""Whether an answer is well-formed, and how many results it has.

Results are the solutions of SELECT, the one answer of ASK, the statements of CONSTRUCT. A format
that says the same statement in many ways (Turtle, RDF/XML, JSON-LD, RDF/JSON) is not counted: of
those it is known whether there is a statement at all. Nothing is ever held whole.

Sources: SPARQL 1.1 Query Results JSON Format; … XML Format; … CSV and TSV Formats; RDF 1.1
N-Triples, N-Quads, Turtle, TriG, XML Syntax; all of the W3C.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple
from xml.parsers import expat

from sparql_json import JsonStream, MalformedError

_IRI = rb"<[^<>\x00-\x20]*>"
_NODE = rb"_:[^\s<>\"]+"
_LITERAL = rb'"(?:[^"\\\n\r]|\\.)*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^' + _IRI + rb")?"
_STATEMENT = re.compile(
    rb"\s*(?:%(iri)s|%(node)s)\s*%(iri)s\s*(?:%(iri)s|%(node)s|%(literal)s)\s*"
    rb"(?P<graph>%(iri)s|%(node)s)?\s*\.\s*(?:#.*\s*)?"
    % {b"iri": _IRI, b"node": _NODE, b"literal": _LITERAL}
)
_DIRECTIVE = re.compile(rb"\s*(?:@?prefix|@?base)\b", re.IGNORECASE)
_RESULTS = "http://www.w3.org/2005/sparql-results#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#RDF"
#: An answer's field may be a whole book.
csv.field_size_limit(2**31 - 1)


class Count(NamedTuple):
    """What an answer holds.

    Args:
        empty: Whether it holds no result.
        results: How many; None where the format does not tell without a parser of its own.
        boolean: The answer of ASK.
    """

    empty: bool
    results: int | None = None
    boolean: bool | None = None


def count(answer: Path, content_type: str) -> Count:
    """Read an answer from its begin to its end.

    Raises:
        MalformedError: If it is not well-formed, or of a type that cannot be read here.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    reader = _READERS.get(media_type)
    if reader is None:
        what = f"is of type '{media_type}'" if media_type else "does not say of which type it is"
        raise MalformedError(
            f"it {what}, and no results can be told from it; ask for another one under 'headers', "
            'such as {"Accept": "application/sparql-results+json"}'
        )
    with answer.open("rb") as stream:
        return reader(stream)


def _counted(results: int) -> Count:
    return Count(not results, results)


def _boolean(*, value: bool) -> Count:
    return Count(empty=False, results=1, boolean=value)


# -- JSON


def _solutions_in_json(stream: IO[bytes]) -> Count:
    text = JsonStream(stream)
    found: Count | None = None
    for name in text.members():
        if name == "results":
            found = _bindings(text)
        elif name == "boolean":
            found = _boolean(value=_truth(text.value()))
        else:
            text.value()
    text.end()
    if found is None:
        raise MalformedError("it has neither 'results' with 'bindings' nor 'boolean'")
    return found


def _bindings(text: JsonStream) -> Count | None:
    found: int | None = None
    for name in text.members():
        if name != "bindings":
            text.value()
            continue
        found = 0
        for _ in text.elements():
            if not isinstance(text.value(), dict):
                raise MalformedError(f"solution {found + 1} is no object")
            found += 1
    return None if found is None else _counted(found)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise MalformedError("'boolean' is neither true nor false")
    return value


def _graph_in_json(stream: IO[bytes]) -> Count:
    """Read JSON-LD or RDF/JSON: a member or an element is a statement, but for words about it."""
    text = JsonStream(stream)
    found = _elements(text) if text.peek() == "[" else _members(text)
    text.end()
    return Count(empty=not found)


def _members(text: JsonStream) -> int:
    found = 0
    for name in text.members():
        if name == "@graph" and text.peek() == "[":
            found += _elements(text)
        else:
            text.value()
            found += name not in {"@context", "@graph"}
    return found


def _elements(text: JsonStream) -> int:
    found = 0
    for _ in text.elements():
        text.value()
        found += 1
    return found


# -- XML


class _Outline:
    """Counts elements by name while an XML text is read.

    Args:
        solution: Name of the elements to be counted.
    """

    def __init__(self, solution: str = "") -> None:
        self.root = ""
        self.solutions = 0
        self.children = 0
        self.truth = ""
        self._solution = solution
        self._depth = 0
        self._in_truth = False

    def read(self, stream: IO[bytes]) -> None:
        """Read it all."""
        parser = expat.ParserCreate(namespace_separator="")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.ParseFile(stream)
        except expat.ExpatError as error:
            raise MalformedError(f"this is no whole XML: {error}") from error

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        if not self._depth:
            self.root = name
        self.children += self._depth == 1
        self.solutions += name == self._solution
        self._in_truth = name == f"{_RESULTS}boolean"
        self._depth += 1

    def _end(self, _name: str) -> None:
        self._depth -= 1
        self._in_truth = False

    def _characters(self, text: str) -> None:
        if self._in_truth:
            self.truth += text


def _solutions_in_xml(stream: IO[bytes]) -> Count:
    outline = _Outline(f"{_RESULTS}result")
    outline.read(stream)
    if outline.root != f"{_RESULTS}sparql":
        raise MalformedError(f"its root is '{outline.root}', not that of SPARQL's results")
    if outline.truth.strip():
        return _boolean(value=outline.truth.strip() == "true")
    return _counted(outline.solutions)


def _graph_in_xml(stream: IO[bytes]) -> Count:
    outline = _Outline()
    outline.read(stream)
    return Count(empty=outline.root == _RDF and not outline.children)


def _any_xml(stream: IO[bytes]) -> Count:
    """Read what calls itself XML and nothing more: results, else a graph."""
    try:
        return _solutions_in_xml(stream)
    except MalformedError:
        stream.seek(0)
        return _graph_in_xml(stream)


# -- tables


def _solutions_in_csv(stream: IO[bytes]) -> Count:
    lines = _Lines(stream)
    try:
        return _table(csv.reader(lines, strict=True))
    except csv.Error as error:
        raise MalformedError(f"line {lines.number}: {error}") from error


def _solutions_in_tsv(stream: IO[bytes]) -> Count:
    return _table(line.rstrip("\r\n").split("\t") for line in _Lines(stream))


class _Lines:
    """The lines of a UTF-8 text; ``number`` is that of the last one that was given out."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.number = 0
        self._text = io.TextIOWrapper(stream, "utf-8-sig", newline="\n")

    def __iter__(self) -> Iterator[str]:
        try:
            with self._text:
                for line in self._text:
                    self.number += 1
                    yield line
        except UnicodeDecodeError as error:
            # Decoded in blocks: the line itself may be one of the next hundreds.
            raise MalformedError(f"after line {self.number}: this is not UTF-8") from error


def _table(rows: Iterator[list[str]]) -> Count:
    header = next(rows, None)
    if header is None:
        raise MalformedError("there is not even a header")
    found = 0
    # A line without anything is a row with one empty cell, or with none.
    width = max(1, len(header))
    for row in rows:
        found += 1
        if max(1, len(row)) != width:
            raise MalformedError(f"row {found} has {len(row)} cells, the header has {width}")
    if not found and header in (["true"], ["false"]):
        return _boolean(value=header == ["true"])
    return _counted(found)


# -- statements


def _statements(stream: IO[bytes]) -> Count:
    found = 0
    for number, line in enumerate(stream, 1):
        if _STATEMENT.fullmatch(line):
            found += 1
        elif not _is_comment(line):
            raise MalformedError(f"line {number} is no statement")
    return _counted(found)


def _is_comment(line: bytes) -> bool:
    text = line.strip()
    return not text or text.startswith(b"#")


def _turtle(stream: IO[bytes]) -> Count:
    """Look for a line that is no comment and no directive, and for the end of the last one."""
    empty, last = True, b"."
    for line in stream:
        if not _is_comment(line):
            empty = empty and bool(_DIRECTIVE.match(line))
            last = line.partition(b" #")[0].strip() or last
    if not empty and last[-1:] not in b".}":
        raise MalformedError("its last statement has no end")
    return Count(empty)


_READERS: dict[str, Callable[[IO[bytes]], Count]] = {
    "application/sparql-results+json": _solutions_in_json,
    "application/json": _solutions_in_json,
    "application/sparql-results+xml": _solutions_in_xml,
    "application/xml": _any_xml,
    "text/xml": _any_xml,
    "text/csv": _solutions_in_csv,
    "text/tab-separated-values": _solutions_in_tsv,
    "application/n-triples": _statements,
    "application/n-quads": _statements,
    # The names that Virtuoso and Jena gave N-Triples before it had one.
    "text/ntriples": _statements,
    "text/plain": _statements,
    "text/turtle": _turtle,
    "application/x-turtle": _turtle,
    "application/trig": _turtle,
    "text/n3": _turtle,
    "text/rdf+n3": _turtle,
    "application/rdf+xml": _graph_in_xml,
    "application/rdf+json": _graph_in_json,
    "application/ld+json": _graph_in_json,
}
