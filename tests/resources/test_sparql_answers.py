"""Whether an answer is whole, and how many results it holds: every format, broken and not."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.core.errors import CommandFailedError
from resources import _sparql_answers
from tests.resources.containers import run_python

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
        return _sparql_answers.count(answer, kind)

    return counted


@pytest.mark.parametrize(
    ("kind", "text", "results"),
    [
        (JSON, '{"head":{"vars":[]},"results":{"bindings":[]}}', 0),
        (JSON, '\ufeff {"results": {"distinct": false, "bindings": [{}, {}]}, "x": 1.5}\n', 2),
        # So Virtuoso writes blank nodes, and variables that it named itself.
        (
            JSON,
            '{"head":{"vars":["callret-0"]},"results":{"bindings":[{"callret-0":'
            '{"type":"bnode","value":"nodeID://b1"}}]}}',
            1,
        ),
        (
            JSON,
            '{"results":{"bindings":[ {}\n, {"x":{"type":"uri","value":"a b"}} ]},"head":{}}',
            2,
        ),
        (XML, f"<?xml version='1.0'?>{SPARQL}<head/><results/></sparql>", 0),
        ("application/xml;charset=utf-8", f"{SPARQL}<results><result/></results></sparql>", 1),
        (CSV, "x\r\n", 0),
        (CSV, 'x,y\r\n1,"a\r\nb, ""c"""\r\n,\r\n', 2),
        (CSV, "x\r\n\r\n1\r\n", 2),
        (TSV, '?x\t?y\n<a>\t"b"\n\t\n', 2),
        (NT, "# Empty NT\n\n", 0),
        (NT, '<a:a> <a:b> "Empty \\" \\n"@en-GB .\n_:b <a:b> _:c. # two\n', 2),
        (NT, "\ufeff<nodeID://b1> <a:b> <c d|e>.", 1),
        ("text/plain; charset=utf-8", "<a:a><a:b><a:ü>.\r\n", 1),
        ("application/n-quads", "<a:a> <a:b> <a:c> <a:g> .\n", 1),
        ("text/turtle", "# Empty TURTLE\n", 0),
        ("text/turtle", "@prefix e: <http://e/> .\ne:a e:b e:c ;\n  e:d 1 .\n", 2),
        ("application/x-turtle", "\ufeff<relative> <a:b c> [] .", 1),
        ("application/trig", "<a:g> {\n <a:a> <a:b> <a:c> }\n", 1),
    ],
)
def test_results_are_counted(count: Count, kind: str, text: str, results: int) -> None:
    found = count(text, kind)
    assert found == (not results, results, None)


@pytest.mark.parametrize(
    ("kind", "text", "empty"),
    [
        ("application/rdf+xml", f"{RDF}</rdf:RDF>", True),
        ("application/rdf+xml", f"{RDF}<e:A e:b='c'/></rdf:RDF>", False),
        ("application/rdf+json", "{}", True),
        ("application/rdf+json", '{"a:a": {"a:b": [{"value": "c"}]}}', False),
        ("application/ld+json", "[]", True),
        ("application/ld+json", '{"@context": {"e": "http://e/"}, "@graph": []}', True),
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
        (JSON, "", "at character 0: Expecting value"),
        (JSON, "[]", "neither"),
        (JSON, '{"results":{"bindings":[{}', "at character 26: Expecting ','"),
        (JSON, '{"results":{"bindings":[{},{"x":"', "at character 32: Unterminated string"),
        (JSON, '{"results":{"bindings":[{}{}]}}', "at character 26: Expecting ','"),
        (JSON, '{"results":{"bindings":[1]}}', "neither"),
        (JSON, '{"results":{"bindings":[{},1]}}', "neither"),
        (JSON, '{"results":{"bindings":[{}]}} more', "at character 30: Extra data"),
        (JSON, '{"results":{}}', "neither"),
        (JSON, '{"boolean":"true"}', "neither"),
        (JSON, b'{"results": "\xff"}', "after character 0: this is not UTF-8"),
        (JSON, "[" * 100_000, "recursion|overflow"),
        (XML, f"{SPARQL}<results><result/>", "no element found: line 1, column 73"),
        (XML, "", "no element found: line 1"),
        (XML, "<html/>", "its root is 'html'"),
        (CSV, "", "not even a header"),
        (CSV, "x,y\r\n1\r\n", "row 1 has 1 cells, the header has 2"),
        (CSV, 'x\r\n"1', "line 2"),
        (CSV, b"x\r\n\xff\r\n", "after line 1: this is not UTF-8"),
        (TSV, "?x\t?y\n1\t2\t3\n", "row 1 has 3 cells"),
        (NT, "<a:a> <a:b> <a:c> .\n<a:a> <a:", "line 2 .* end of file"),
        (NT, "<html>\n", "line 2 column 1: "),
        ("text/turtle", "<a:a> <a:b> <a:c> .\ne:a <a:b> 1 .", "line 2 .* prefix e: "),
        ("application/rdf+xml", RDF, "no element found: line 1"),
        ("application/ld+json", "1", "neither"),
        ("application/ld+json", '[{"@id": "a:a"}0]', "at character 15: Expecting ','"),
        (
            "text/html",
            "<html/>",
            "with text/html, which is wrong: no results can be counted in that type",
        ),
        ("", "x", "with no content type, which is wrong: no results"),
    ],
)
def test_what_is_broken_is_told(count: Count, kind: str, text: str | bytes, why: str) -> None:
    with pytest.raises(CommandFailedError, match=why):
        count(text, kind)


_TERMS = st.dictionaries(
    st.text(max_size=5),
    st.fixed_dictionaries({"type": st.just("literal"), "value": st.text()}),
    max_size=3,
)


@given(st.lists(_TERMS), st.booleans(), st.integers(1, 7), st.sampled_from([None, 2]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_in_any_pieces(
    count: Count,
    monkeypatch: pytest.MonkeyPatch,
    solutions: list[Any],
    ascii_only: bool,
    piece: int,
    indent: int | None,
) -> None:
    document = {"head": {"n": [1, -2.5e3, None]}, "results": {"bindings": solutions}, "z": 12}
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode(
        errors="surrogatepass" if ascii_only else "replace"
    )
    monkeypatch.setattr(_sparql_answers, "_CHUNK", piece)
    assert count(text, JSON).results == len(solutions)
    for cut in {1, len(text) // 2, len(text) - 1}:
        with pytest.raises(CommandFailedError, match=r"at character|not UTF-8"):
            count(text[:cut], JSON)


_CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(_CELLS, min_size=n, max_size=n))))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_that_python_writes(count: Count, rows: list[list[str]]) -> None:
    width = len(rows[0]) if rows else 1
    target = io.StringIO(newline="")
    csv.writer(target).writerows([[f"v{n}" for n in range(width)], *rows])
    assert count(target.getvalue(), CSV).results == len(rows)


@pytest.mark.parametrize("kind", [JSON, "application/ld+json"])
def test_json_without_end_is_given_up(
    count: Count, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(_sparql_answers, "_CHUNK", 50)
    monkeypatch.setattr(_sparql_answers, "_LARGEST", 100)
    with pytest.raises(CommandFailedError, match="at character 9: Unterminated"):
        count('{"head": "' + "x" * 1000, kind)
    with pytest.raises(CommandFailedError, match="more than 100 characters"):
        count(f'{{"boolean": true}}{" " * 1000}', kind)


_BINDING = '{"x":{"type":"bnode","value":"nodeID://b1"},"y":{"type":"literal","value":"%s"}}' % (
    "v" * 50
)
_LARGE = {
    JSON: ('{"head":{"vars":["x"]},"results":{"bindings":[', _BINDING + ",", _BINDING + "]}}"),
    "application/ld+json": ('{"@graph":[', _BINDING + ",", _BINDING + '],"@context":{}}'),
    XML: (f"{SPARQL}<head/><results>", f"<result>{'v' * 120}</result>", "</results></sparql>"),
    CSV: ("x,y\r\n", f"{'v' * 60},{'v' * 60}\r\n", ""),
    NT: ("", f'<a:a> <a:b> "{"v" * 110}" .\n', ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _LARGE)
def test_large_answers_are_never_held_whole(tmp_path: Path, kind: str) -> None:
    begin, middle, end = _LARGE[kind]
    answer = tmp_path / "answer"
    answer.write_text(begin + middle * 400_000 + end, newline="")
    program = (
        "import sys, pathlib, resource\n"
        "from resources._sparql_answers import count\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "assert not count(pathlib.Path(sys.argv[1]), sys.argv[2]).empty\n"
        "print(peak() - before)\n"
    )
    # In kB; the answers are larger than 30 MB.
    assert int(run_python("-c", program, str(answer), kind, timeout=600)) < 20_000
