"""Queries: what is sent, what comes back, and which answers are refused."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Generator
from functools import partial
from typing import Any
from urllib.parse import parse_qs
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from benchyard.case.parameters import signature_of
from benchyard.case.resource import CommandResult, NoSettings, Workspace, commands_of, step_context
from resources.query import Query
from tests.conftest import eventually, is_gone
from tests.resources.conftest import Endpoint
from tests.resources.containers import broken_off, refusal

JSON = "application/sparql-results+json"
TWO = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"Empty"}},{}]}}'
NONE = '{"head":{"vars":["x"]},"results":{"bindings":[]}}'
XML = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><boolean>true</boolean></sparql>'


@pytest.fixture(autouse=True)
def two_results(endpoint: Endpoint) -> None:
    endpoint.says(TWO)


class Looking(Query):
    """Looks at each answer at once, as the lab does when nothing is measured any more."""

    def _execute(self, *args: Any, **keys: Any) -> CommandResult:
        return super()._execute(*args, **keys).verified()


@pytest.fixture
def query(workspace: Workspace) -> Generator[Query]:
    made = Looking(NoSettings(), workspace)
    made.start()
    made.wait_until_ready()
    yield made
    made.stop()


def files(workspace: Workspace) -> list[str]:
    return sorted(p.name for folder in (workspace.shared, workspace.kept) for p in folder.iterdir())


# -- what is sent and what comes back


def test_the_answer_is_saved_as_it_came(
    query: Query, endpoint: Endpoint, workspace: Workspace
) -> None:
    result = query.execute_and_save("SELECT ?x {}", endpoint.url, "out/answer.json")

    saved = workspace.shared / "out" / "answer.json"
    assert result.output == saved
    assert saved.read_bytes() == endpoint.body
    assert result.values["results"] == 2
    assert result.values["bytes"] == len(endpoint.body)
    assert result.values["content_type"] == JSON
    assert json.dumps(dict(result.values))


def test_the_request_is_that_of_krown_and_headers_of_the_case_win(
    query: Query, endpoint: Endpoint
) -> None:
    own = {"accept": JSON, "Authorization": "Basic x"}
    for headers in ({}, own):
        url = endpoint.url + "?a=b"
        query.execute_and_save("SELECT ?x { ?x ?p 'ä&=' }", url, "answer.json", headers=headers)

    ((path, headers, form), (_, others, _)) = endpoint.asked
    assert path == "/sparql?a=b"
    assert parse_qs(form.decode()) == {
        "query": ["SELECT ?x { ?x ?p 'ä&=' }"],
        "maxrows": ["3000000"],
    }
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert headers["Accept"] == "*/*"
    assert headers["Host"] in endpoint.url
    assert [value for name, value in others.items() if name.lower() == "accept"] == [JSON]
    assert others["Authorization"] == "Basic x"


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def digest_of(given: str, path: str) -> bool:
    """Check who sends a query by RFC 7616."""
    if not given.startswith("Digest "):
        return given == "Basic " + b64encode(b"dba:s:cret").decode()
    told = parse_keqv_list(parse_http_list(given.removeprefix("Digest ")))
    one, two = _md5("dba:SPARQL:s:cret"), _md5(f"POST:{path}")
    middle = ":".join(told[key] for key in ("nonce", "nc", "cnonce", "qop"))
    right = (_md5(f"{one}:{middle}:{two}"), path, "o")
    return (told["response"], told["uri"], told["opaque"]) == right


CHALLENGE = 'Digest realm="SPARQL", qop="auth", nonce="n1", opaque="o", algorithm=MD5'


@pytest.mark.parametrize("kind", ["digest", "basic"])
def test_credentials_are_sent_where_the_endpoint_asks(
    query: Query, endpoint: Endpoint, kind: Any
) -> None:
    endpoint.takes = lambda path, headers: digest_of(headers["Authorization"] or "", path)
    endpoint.headers = {"WWW-Authenticate": CHALLENGE}
    ask = partial(query.execute_and_save, "ASK {}", f"{endpoint.url}-auth?x=1", "a.json")
    right: Any = {"type": kind, "username": "dba", "password": "s:cret"}
    assert ask(auth=right).values["results"] == 2
    wrong: Any = {**right, "password": "x"}
    for auth in (wrong, None):
        assert "HTTP 401 Unauthorized" in refusal(partial(ask, auth=auth))
    if kind == "digest":
        endpoint.headers = {"WWW-Authenticate": "Negotiate"}
        said = refusal(partial(ask, auth=right))
        assert "the endpoint asks for no digest but for 'Negotiate'" in said


def test_a_file_holds_the_query(
    query: Query, endpoint: Endpoint, put: Callable[[str, str], str], workspace: Workspace
) -> None:
    said = refusal(lambda: query.execute_from_file("missing.rq", endpoint.url))
    assert "there is no file 'missing.rq'" in said
    assert endpoint.asked == []
    put("ask.rq", "\ufeffSELECT ?x {}\n")
    with step_context("02-ask"):
        kept = query.execute_from_file("ask.rq", endpoint.url)
    saved = query.execute_from_file_and_save("ask.rq", endpoint.url, "answer.json")

    sent = [parse_qs(form.decode())["query"] for _, _, form in endpoint.asked]
    assert sent == [["SELECT ?x {}\n"]] * 2
    assert kept.output == workspace.kept / "02-ask.json"
    assert saved.output == workspace.shared / "answer.json"


def test_parameters_are_krowns() -> None:
    file, saved = "query_file sparql_endpoint", "results_file"
    for name, required in {
        "execute_and_save": f"query sparql_endpoint {saved}",
        "execute_from_file": file,
        "execute_from_file_and_save": f"{file} {saved}",
    }.items():
        signature = signature_of(commands_of(Query)[name])
        assert list(signature.required) == required.split()
        assert list(signature.annotations)[-3:] == ["expect_empty", "headers", "auth"]
        assert signature.defaults["expect_empty"] is False


@pytest.mark.parametrize(
    ("kind", "suffix", "body"),
    [
        (JSON, ".json", TWO),
        ("application/sparql-results+xml", ".xml", XML),
        ("text/csv; charset=utf-8", ".csv", "x\r\n1\r\n"),
        ("text/turtle", ".ttl", "<a:a> <a:b> 1 ."),
        ("text/plain", ".txt", "<a:a> <a:b> <a:c> .\n"),
    ],
)
def test_an_answer_without_a_name_gets_the_suffix_of_its_type(
    query: Query,
    endpoint: Endpoint,
    put: Callable[[str, str], str],
    kind: str,
    suffix: str,
    body: str,
) -> None:
    endpoint.says(body, kind)
    result = query.execute_from_file(put("q.rq", "ASK {}"), endpoint.url)
    assert result.output is not None
    assert result.output.suffix == suffix


# -- answers that are refused


def test_defect_02_a_dead_endpoint_is_a_failure(
    query: Query, put: Callable[[str, str], str], workspace: Workspace
) -> None:
    put("ask.rq", "ASK {}")
    dead = "http://localhost:9/sparql"  # the port of "discard", where nobody listens

    said = refusal(lambda: query.execute_from_file_and_save("ask.rq", dead, "answer.json"))

    assert said.startswith(f"{dead}: the endpoint does not answer: ")
    assert files(workspace) == ["ask.rq"]


def test_defect_03_empty_is_right_where_it_is_expected(
    query: Query, endpoint: Endpoint, workspace: Workspace
) -> None:
    endpoint.says(NONE)
    said = refusal(lambda: query.execute_and_save("q", endpoint.url, "a.json"))
    assert said.startswith(f"{endpoint.url} answered without any result")
    assert "expect_empty" in said
    assert files(workspace) == []
    result = query.execute_and_save("q", endpoint.url, "a.json", expect_empty=True)
    assert result.values["results"] == 0
    assert result.output is not None
    assert result.output.read_text() == NONE
    endpoint.says("# Empty NT\n", "text/plain")
    query.execute_and_save("q", endpoint.url, "a.nt", expect_empty=True)
    endpoint.says(TWO)
    said = refusal(lambda: query.execute_and_save("q", endpoint.url, "b.json", expect_empty=True))
    assert "answered with 2 results" in said
    assert files(workspace) == ["a.json", "a.nt"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"body": b"# Empty NT\n", "kind": "text/plain"}, "without any result"),
        *(
            ({"status": status, "body": b"SP030: syntax", "kind": "text/plain"}, f"HTTP {status}")
            for status in (301, 307, 400, 401, 404, 500, 503)
        ),
        ({"status": 400, "body": b"SP030: syntax", "kind": "text/plain"}, "SP030: syntax"),
        ({"length": len(TWO) + 1000}, "1,000 of"),
        ({"length": None, "body": TWO.encode()[:-5]}, f"with {JSON}, which is wrong: at character"),
        (
            {"headers": {"X-SQL-State": "S1TAT", "X-SQL-Message": "RC...: incomplete"}},
            "own limits (RC...: inc",
        ),
        ({"headers": {"X-SPARQL-MaxRows": "10000"}}, "cut off by the endpoint's own limits"),
        ({"headers": {"Content-Encoding": "gzip"}}, "leave out 'Accept-Encoding'"),
        *(
            ({"body": b"<html>a form</html>", "kind": kind}, f'{{"Accept": "{JSON}"}}')
            for kind in ("text/html", "", "image/png")
        ),
    ],
)
def test_what_is_no_whole_answer_is_a_failure(
    query: Query, endpoint: Endpoint, workspace: Workspace, answer: dict[str, Any], said: str
) -> None:
    vars(endpoint).update(answer)
    assert said in refusal(lambda: query.execute_and_save("q", endpoint.url, "a.json"))
    assert files(workspace) == []
    if endpoint.status != 200:
        ask = partial(query.execute_and_save, "q", endpoint.url, "a.json", expect_empty=True)
        assert said in refusal(ask)
    endpoint.status, endpoint.length, endpoint.headers = 200, 0, {}
    endpoint.says(TWO)
    assert query.execute_and_save("q", endpoint.url, "a.json").values["results"] == 2


def test_chunks_that_break_off(query: Query, endpoint: Endpoint) -> None:
    endpoint.length, endpoint.headers = None, {"Transfer-Encoding": "chunked"}
    endpoint.body = b"%x\r\n%b\r\n" % (len(endpoint.body), endpoint.body)
    assert "does not answer" in refusal(lambda: query.execute_and_save("q", endpoint.url, "a.json"))
    endpoint.body += b"0\r\n\r\n"
    assert query.execute_and_save("q", endpoint.url, "a.json").values["results"] == 2


@pytest.mark.parametrize("url", ["", "localhost:80/x", "ftp://x/", "http://", "http://x:y/"])
def test_what_is_no_url(query: Query, url: str) -> None:
    assert f"sparql_endpoint is '{url}'" in refusal(lambda: query.execute_and_save("q", url, "a"))


# -- its life


def test_abort_ends_the_query_at_once(
    query: Query, endpoint: Endpoint, workspace: Workspace
) -> None:
    (pid,) = query.pids()
    endpoint.hold.clear()
    ask = partial(query.execute_and_save, "q", endpoint.url, "a.json")
    assert "SIGKILL" in broken_off(ask, query.abort)
    assert eventually(lambda: is_gone(pid), 5)
    assert not query.alive()
    assert files(workspace) == []


def test_a_class_as_host_is_looked_up(
    query: Query, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(_labels: object) -> dict[str, str]:
        return {"virtuoso": "127.0.0.1"}

    monkeypatch.setattr("resources.query.addresses", known)
    query.begin("01-ask")
    url = endpoint.url.replace("localhost", "Virtuoso")

    result = query.execute_and_save("q", url, "a.json")

    assert result.values["results"] == 2
    ((_, headers, _),) = endpoint.asked
    assert headers["Host"].startswith("Virtuoso:")
