"""Whether an answer is whole, and how many results it holds: every format, broken and not."""

import csv
import importlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import resources

_WORKER = Path(resources.__file__).parent / "_sparql"


def _of_the_worker(name: str) -> Any:
    """Import a module of the program, which has its own folder on its path."""
    sys.path.insert(0, str(_WORKER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(_WORKER))


sparql_json = _of_the_worker("sparql_json")
sparql_answers = _of_the_worker("sparql_answers")

JSON = "application/sparql-results+json"
XML = "application/sparql-results+xml"
CSV = "text/csv"
TSV = "text/tab-separated-values"
NT = "application/n-triples"
SPARQL = '<sparql xmlns="http://www.w3.org/2005/sparql-results#">'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'

#: Whether it is empty, number of results, answer of ASK.
Count = Callable[[str | bytes, str], Any]


@pytest.fixture
def count(tmp_path: Path) -> Count:
    def counted(text: str | bytes, kind: str) -> Any:
        answer = tmp_path / "answer"
        answer.write_bytes(text if isinstance(text, bytes) else text.encode())
        return sparql_answers.count(answer, kind)

    return counted


@pytest.mark.parametrize(
    ("kind", "text", "results"),
    [
        (JSON, '{"head":{"vars":[]},"results":{"bindings":[]}}', 0),
        (JSON, '\ufeff {"results": {"distinct": false, "bindings": [{}, {}]}, "x": 1.5}\n', 2),
        ("application/json;charset=utf-8", '{"results":{"bindings":[{}]}}', 1),
        (XML, f"<?xml version='1.0'?>{SPARQL}<head/><results/></sparql>", 0),
        (XML, f"{SPARQL}<results><result/><result></result></results></sparql>", 2),
        ("application/xml", f"{SPARQL}<results><result/></results></sparql>", 1),
        (CSV, "x\r\n", 0),
        (CSV, 'x,y\r\n1,"a\r\nb, ""c"""\r\n,\r\n', 2),
        (CSV, "x\r\n\r\n1\r\n", 2),
        (CSV, "x\r\n1", 1),
        (TSV, "?x\t?y\n", 0),
        (TSV, '?x\t?y\n<a>\t"b"\n\t\n', 2),
        (NT, "", 0),
        (NT, "# Empty NT\n\n", 0),
        (NT, '<a:a> <a:b> "Empty \\" \\n"@en-GB .\n_:b <a:b> _:c. # two\n', 2),
        (NT, '<a:a> <a:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .', 1),
        ("text/plain; charset=utf-8", "<a:a><a:b><a:ü>.\r\n", 1),
        ("application/n-quads", "<a:a> <a:b> <a:c> <a:g> .\n", 1),
    ],
)
def test_results_are_counted(count: Count, kind: str, text: str, results: int) -> None:
    found = count(text, kind)
    assert found == (not results, results, None)


@pytest.mark.parametrize(
    ("kind", "text", "empty"),
    [
        ("text/turtle", "", True),
        ("text/turtle", "# Empty TURTLE\n", True),
        ("text/turtle", "@prefix e: <http://e/> .\nPREFIX f: <http://f/>\n@base <a:> .\n", True),
        ("text/turtle", "@prefix e: <http://e/> .\ne:a e:b e:c ;\n  e:d 1 .\n", False),
        ("application/trig", "<a:g> {\n <a:a> <a:b> <a:c> }\n", False),
        ("application/rdf+xml", f"{RDF}</rdf:RDF>", True),
        ("application/rdf+xml", f"{RDF}<e:A e:b='c'/></rdf:RDF>", False),
        ("application/rdf+xml", "<e:A xmlns:e='http://e/'/>", False),
        ("text/xml", f"{RDF}</rdf:RDF>", True),
        ("application/rdf+json", "{}", True),
        ("application/rdf+json", '{"a:a": {"a:b": [{"value": "c"}]}}', False),
        ("application/ld+json", "[]", True),
        ("application/ld+json", '{"@context": {"e": "http://e/"}, "@graph": []}', True),
        ("application/ld+json", '{"@graph": [{"@id": "a:a"}]}', False),
        ("application/ld+json", '[{"@id": "a:a"}]', False),
    ],
)
def test_whether_there_is_a_statement(count: Count, kind: str, text: str, empty: bool) -> None:
    assert count(text, kind) == (empty, None, None)


@pytest.mark.parametrize("truth", [True, False])
def test_the_answer_of_ask(count: Count, truth: bool) -> None:
    word = "true" if truth else "false"
    expected = (False, 1, truth)
    assert count(f'{{"head": {{}}, "boolean": {word}}}', JSON) == expected
    assert count(f"{SPARQL}<head/><boolean>{word}</boolean></sparql>", XML) == expected
    assert count(f"{word}\r\n", CSV) == expected
    assert count(word, TSV) == expected


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        (JSON, "", "missing|too early"),
        (JSON, "[]", "'{' is missing"),
        (JSON, '{"results":{"bindings":[{}', "too early"),
        (JSON, '{"results":{"bindings":[{}]}', "too early"),
        (JSON, '{"results":{"bindings":[{"x":"', "no whole value"),
        (JSON, '{"results":{"bindings":[{}{}]}}', "',' is missing"),
        (JSON, '{"results":{"bindings":[1]}}', "solution 1 is no object"),
        (JSON, '{"results":{"bindings":[{}]}} more', "something follows"),
        (JSON, '{"results":{}}', "neither"),
        (JSON, '{"boolean":"true"}', "neither true nor false"),
        (JSON, "{1: 2}", "no name"),
        (JSON, b'{"results": "\xff"}', "UTF-8"),
        (JSON, "Virtuoso 42000 Error", "missing"),
        (XML, f"{SPARQL}<results><result/>", "no whole XML"),
        (XML, "", "no whole XML"),
        (XML, "<html/>", "its root is 'html'"),
        ("text/xml", "<a>", "no whole XML"),
        (CSV, "", "not even a header"),
        (CSV, "x,y\r\n1\r\n", "row 1 has 1 cells, the header has 2"),
        (CSV, 'x\r\n"1', "line 2"),
        (CSV, b"x\r\n\xff\r\n", "after line 0: this is not UTF-8"),
        (TSV, "?x\t?y\n1\t2\t3\n", "row 1 has 3 cells"),
        (NT, "<a:a> <a:b> <a:c> .\n<a:a> <a:", "line 2 is no statement"),
        (NT, "<html>\n", "line 1"),
        (NT, '<a:a> <a:b> "c" d .\n', "line 1"),
        ("text/turtle", "<a:a> <a:b> ", "no end"),
        ("application/rdf+xml", RDF, "no whole XML"),
        ("application/ld+json", "{", "too early|no whole value|missing"),
        ("text/html", "<html/>", "is of type 'text/html'"),
        ("", "x", "does not say of which type"),
    ],
)
def test_what_is_broken_is_told(count: Count, kind: str, text: str | bytes, why: str) -> None:
    with pytest.raises(sparql_json.MalformedError, match=why):
        count(text, kind)


_TERMS = st.dictionaries(
    st.text(max_size=5),
    st.fixed_dictionaries({"type": st.just("literal"), "value": st.text()}),
    max_size=3,
)


@given(st.lists(_TERMS), st.booleans(), st.integers(1, 7), st.sampled_from([None, 2]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_in_any_pieces(
    solutions: list[Any], ascii_only: bool, piece: int, indent: int | None
) -> None:
    document = {"head": {"n": [1, -2.5e3, None]}, "results": {"bindings": solutions}, "z": 12}
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode(
        errors="surrogatepass" if ascii_only else "replace"
    )
    found = sparql_answers._solutions_in_json(_Dripping(text, piece))
    assert found.results == len(solutions)
    for cut in {1, len(text) // 2, len(text) - 1}:
        with pytest.raises(sparql_json.MalformedError):
            sparql_answers._solutions_in_json(_Dripping(text[:cut], piece))


class _Dripping(io.BytesIO):
    """Gives a few bytes at a time, whatever was asked for."""

    def __init__(self, content: bytes, piece: int) -> None:
        super().__init__(content)
        self._piece = piece

    def read(self, _size: int | None = -1, /) -> bytes:
        return super().read(self._piece)


_CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(_CELLS, min_size=n, max_size=n))))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_that_python_writes(count: Count, rows: list[list[str]]) -> None:
    width = len(rows[0]) if rows else 1
    target = io.StringIO(newline="")
    csv.writer(target).writerows([[f"v{n}" for n in range(width)], *rows])
    assert count(target.getvalue(), CSV).results == len(rows)


def test_a_number_at_the_end_of_a_piece_goes_on() -> None:
    stream = sparql_json.JsonStream(_Dripping(b"[123456, 7]", 2))
    assert [stream.value() for _ in stream.elements()] == [123456, 7]
    stream.end()


def test_a_value_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparql_json, "_LARGEST", 100)
    text = b'{"head": "' + b"x" * 1000
    with pytest.raises(sparql_json.MalformedError, match="too large"):
        sparql_answers._solutions_in_json(_Dripping(text, 50))
