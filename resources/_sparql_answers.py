"""Whether the answer of a SPARQL endpoint is well-formed, and how many results it has.

Results are the solutions of SELECT, the one answer of ASK, the statements of CONSTRUCT. Statements
in XML or JSON are not counted: of those it is known whether there is one at all. The memory that
this takes does not depend on the size of an answer.

pyoxigraph reads the formats that only RDF has. It does not read solutions, because it refuses
what Virtuoso writes (blank nodes such as 'nodeID://b1', variables such as 'callret-0') and holds
all of them in memory if they come before their head. Nor does it read XML, which it takes for
whole where it breaks off, or JSON-LD, for which it needs 50 times the memory of the file.

Sources: SPARQL 1.1 Query Results JSON Format; … XML Format; … CSV and TSV Formats; RDF 1.1
N-Triples, N-Quads, Turtle, TriG, XML Syntax; all of the W3C.
"""

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

from benchyard.core.errors import CommandFailedError

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

#: Bytes that are read at once.
_CHUNK = 1 << 20
#: A solution, or all of a JSON text that is not in its list, may have so many characters.
_LARGEST = 1 << 26
#: The begin of the list that holds an answer's objects.
_LIST = re.compile(r'(?:\A\s*|"(?:bindings|@graph)"\s*:\s*)\[(?=\s*[{\]])')
#: What stands before the first object of a list, and before each further one.
_BEFORE_OBJECT = (re.compile(r"[ \t\r\n]*(?={)"), re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?={)"))
_SCAN = json.JSONDecoder().raw_decode
_RESULTS = "http://www.w3.org/2005/sparql-results#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#RDF"
#: An answer's field may be a whole book.
csv.field_size_limit(2**31 - 1)


class Count(NamedTuple):
    """What an answer holds.

    Args:
        empty: Whether it holds no result.
        results: How many; None for statements in XML or JSON.
        boolean: The answer of ASK.
    """

    empty: bool
    results: int | None = None
    boolean: bool | None = None


def count(answer: Path, content_type: str) -> Count:
    """Read an answer from its begin to its end.

    Raises:
        CommandFailedError: If it is not well-formed, or of a type that cannot be read here; its
            text goes on from "the endpoint answered".
    """
    try:
        reader = _reader(content_type.partition(";")[0].strip().lower())
        with answer.open("rb") as stream:
            stream.seek(3 if stream.read(3) == codecs.BOM_UTF8 else 0)
            return reader(stream)
    except (ValueError, SyntaxError, RecursionError, expat.ExpatError) as error:
        kind = content_type or "no content type"
        raise CommandFailedError(f"with {kind}, which is wrong: {error}") from error


def _reader(media_type: str) -> Callable[[IO[bytes]], Count]:
    kind = media_type.rpartition("/")[2].removeprefix("x-")
    if kind in _READERS:
        return _READERS[kind]
    from pyoxigraph import RdfFormat  # noqa: PLC0415 - 11 MB, for few cases

    if rdf := RdfFormat.from_media_type(media_type.replace("rdf+n3", "n3")):
        return partial(_statements, rdf=rdf)
    raise ValueError(
        "no results can be counted in that type; request another one under 'headers', such as "
        '{"Accept": "application/sparql-results+json"}'
    )


def _statements(stream: IO[bytes], rdf: "RdfFormat") -> Count:
    from pyoxigraph import parse  # noqa: PLC0415 - as above

    # Lenient, for endpoints write the IRIs that were loaded into them, right or wrong.
    results = sum(1 for _ in parse(stream, rdf, base_iri="http://answer.invalid/", lenient=True))
    return Count(not results, results)


def _json(stream: IO[bytes], *, graph: bool) -> Count:
    """Read solutions, or JSON-LD or RDF/JSON: there, whatever is no context is a statement."""
    document, objects = _without_objects(stream)
    match document:
        case list() if graph:
            return Count(empty=not objects)
        case dict() if graph:
            return Count(empty=not objects and document.keys() <= {"@context", "@graph"})
        case {"boolean": bool(truth)}:
            return Count(empty=False, results=1, boolean=truth)
        case {"results": {"bindings": [number]}} if number == objects:
            return Count(not objects, objects)
        case _:
            raise ValueError("it has neither 'results' with objects as 'bindings' nor a 'boolean'")


def _without_objects(stream: IO[bytes]) -> tuple[Any, int | None]:
    """Return a JSON text with their number in place of the objects of its list, and that number.

    It is None if there is no such list.
    """
    head, text, objects, left_out = "", "", 0, 0
    pieces = codecs.iterdecode(iter(partial(stream.read, _CHUNK), b""), "utf-8")
    try:
        while len(text) < _LARGEST and (piece := next(pieces, "")):
            text += piece
            if not head and (start := _LIST.search(text)):
                head, text = text[: start.end()], text[start.end() :]
            if head:
                end, objects = _after_objects(text, objects)
                text, left_out = text[end:], left_out + end
        # A blank behind the number, so that no digit that follows becomes a part of it.
        document = json.loads(f"{head}{objects} {text}" if head else text)
    except UnicodeDecodeError as error:
        before = len(head) + left_out + len(text)
        raise ValueError(f"after character {before:,}: this is not UTF-8") from error
    except json.JSONDecodeError as error:
        behind = left_out - len(f"{objects} ") if head and error.pos > len(head) else 0
        raise ValueError(f"at character {error.pos + behind:,}: {error.msg}") from error
    if next(pieces, ""):
        raise ValueError(f"it has more than {_LARGEST:,} characters beside the objects of its list")
    return document, objects if head else None


def _after_objects(text: str, number: int) -> tuple[int, int]:
    """Return where the whole objects at the begin of a text end, and the number with them."""
    at = 0
    while gap := _BEFORE_OBJECT[number > 0].match(text, at):
        try:
            at = _SCAN(text, gap.end())[1]
        except json.JSONDecodeError:
            break  # the rest is in the next piece, if it is well-formed
        number += 1
    return at, number


def _xml(stream: IO[bytes], *, graph: bool) -> Count:
    """Read SPARQL's results; anything else is a graph, where one may be."""
    names, truth = Counter[str](), list[str]()
    parser = expat.ParserCreate(namespace_separator="")

    def start(name: str, _attributes: object) -> None:
        names[name] += 1
        parser.CharacterDataHandler = truth.append if name == f"{_RESULTS}boolean" else None

    parser.StartElementHandler = start
    parser.ParseFile(stream)
    root = next(iter(names))
    if root != f"{_RESULTS}sparql":
        if graph:
            return Count(empty=root == _RDF and names.total() == 1)
        raise ValueError(f"its root is '{root}', not that of SPARQL's results")
    if text := "".join(truth).strip():
        return Count(empty=False, results=1, boolean=text == "true")
    results = names[f"{_RESULTS}result"]
    return Count(not results, results)


def _table(stream: IO[bytes], **dialect: Any) -> Count:
    rows = _rows(stream, **dialect)
    header, results = next(rows, None), 0
    if header is None:
        raise ValueError("there is not even a header")
    # A line without anything is a row with one empty cell, or with none.
    width = max(1, len(header))
    for results, row in enumerate(rows, 1):
        if max(1, len(row)) != width:
            raise ValueError(f"row {results} has {len(row)} cells, the header has {width}")
    if not results and header in (["true"], ["false"]):
        return Count(empty=False, results=1, boolean=header == ["true"])
    return Count(not results, results)


def _rows(stream: IO[bytes], **dialect: Any) -> Iterator[list[str]]:
    reader = csv.reader(codecs.iterdecode(stream, "utf-8"), strict=True, **dialect)
    try:
        yield from reader
    except UnicodeDecodeError as error:
        raise ValueError(f"after line {reader.line_num}: this is not UTF-8") from error
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


_READERS: dict[str, Callable[[IO[bytes]], Count]] = {
    "sparql-results+json": partial(_json, graph=False),
    "json": partial(_json, graph=False),
    "sparql-results+xml": partial(_xml, graph=False),
    "xml": partial(_xml, graph=True),
    "csv": _table,
    "tab-separated-values": partial(_table, delimiter="\t", quoting=csv.QUOTE_NONE),
    "rdf+xml": partial(_xml, graph=True),
    "rdf+json": partial(_json, graph=True),
    "ld+json": partial(_json, graph=True),
}
