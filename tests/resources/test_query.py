"""Queries: what is sent, what comes back, and which answers are refused."""

import hashlib
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from benchyard.case.parameters import signature_of
from benchyard.case.resource import CommandResult, NoSettings, Workspace, step_context
from resources.query import Query
from tests.answering import Quiet, serving
from tests.conftest import eventually, is_gone
from tests.resources.containers import broken_off, refusal

JSON = "application/sparql-results+json"
TWO = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"Empty"}},{}]}}'
NONE = '{"head":{"vars":["x"]},"results":{"bindings":[]}}'
XML = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><boolean>true</boolean></sparql>'


@dataclass
class Endpoint:
    """An endpoint that says what it is told to, and remembers what it was asked."""

    status: int = 200
    kind: str = JSON
    body: bytes = TWO.encode()
    #: Length that is announced; None breaks off without one, -1 sends in chunks.
    length: int | None = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    asked: list[tuple[str, dict[str, str], dict[str, list[str]]]] = field(default_factory=list[Any])
    hold: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def says(self, body: str | bytes, kind: str = JSON) -> None:
        self.body = body if isinstance(body, bytes) else body.encode()
        self.kind = kind

    def send(self, request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers["Content-Length"])
        form = parse_qs(request.rfile.read(size).decode())
        self.asked.append((request.path, dict(request.headers), form))
        self.hold.wait(120)
        request.send_response(self.status)
        if self.kind:
            request.send_header("Content-Type", self.kind)
        for name, value in self.headers.items():
            request.send_header(name, value)
        if self.length is not None:
            request.send_header("Content-Length", str(self.length or len(self.body)))
        request.end_headers()
        request.wfile.write(self.body)


@pytest.fixture
def endpoint() -> Generator[Endpoint]:
    told = Endpoint()
    told.hold.set()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.send(self)

    with serving(Handler) as port:
        told.url = f"http://localhost:{port}/sparql"
        yield told
        told.hold.set()


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
    assert form == {"query": ["SELECT ?x { ?x ?p 'ä&=' }"], "maxrows": ["3000000"]}
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert headers["Accept"] == "*/*"
    assert headers["Host"] in endpoint.url
    assert [value for name, value in others.items() if name.lower() == "accept"] == [JSON]
    assert others["Authorization"] == "Basic x"


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class Asking(Quiet, BaseHTTPRequestHandler):
    """An endpoint that asks who sends the query, and checks it by RFC 7616."""

    challenge = 'Digest realm="SPARQL", qop="auth", nonce="n1", opaque="o", algorithm=MD5'

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = TWO.encode() if self._is_right(self.headers["Authorization"] or "") else b"no"
        self.send_response(200 if body != b"no" else 401)
        self.send_header("WWW-Authenticate", self.challenge)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _is_right(self, given: str) -> bool:
        if not given.startswith("Digest "):
            return given == "Basic " + b64encode(b"dba:s:cret").decode()
        told = parse_keqv_list(parse_http_list(given.removeprefix("Digest ")))
        one = _md5("dba:SPARQL:s:cret")
        two = _md5(f"POST:{self.path}")
        middle = ":".join(told[key] for key in ("nonce", "nc", "cnonce", "qop"))
        return (told["response"], told["uri"], told["opaque"]) == (
            _md5(f"{one}:{middle}:{two}"),
            self.path,
            "o",
        )


@pytest.mark.parametrize("kind", ["digest", "basic"])
def test_credentials_are_sent_where_the_endpoint_asks(query: Query, kind: Any) -> None:
    with serving(Asking) as port:
        url = f"http://localhost:{port}/sparql-auth?x=1"
        right: Any = {"type": kind, "username": "dba", "password": "s:cret"}
        assert query.execute_and_save("ASK {}", url, "a.json", auth=right).values["results"] == 2
        wrong: Any = {**right, "password": "x"}
        for auth in (wrong, None):
            ask = partial(query.execute_and_save, "ASK {}", url, "b.json", auth=auth)
            assert "HTTP 401 Unauthorized" in refusal(ask)


def test_an_endpoint_without_digest_is_told(query: Query) -> None:
    class Other(Asking):
        challenge = "Negotiate"

    auth: Any = {"type": "digest", "username": "dba", "password": "x"}
    with serving(Other) as port:
        url = f"http://localhost:{port}/"
        said = refusal(lambda: query.execute_and_save("ASK {}", url, "a.json", auth=auth))
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

    assert [form["query"] for _, _, form in endpoint.asked] == [["SELECT ?x {}\n"]] * 2
    assert kept.output == workspace.kept / "02-ask.json"
    assert saved.output == workspace.shared / "answer.json"


def test_parameters_are_krowns() -> None:
    for command, first in (
        (Query.execute_and_save, ["query"]),
        (Query.execute_from_file_and_save, ["query_file"]),
        (Query.execute_from_file, ["query_file"]),
    ):
        signature = signature_of(command)
        saved = [] if command is Query.execute_from_file else ["results_file"]
        assert list(signature.required) == [*first, "sparql_endpoint", *saved]
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


def test_results_where_none_may_be(query: Query, endpoint: Endpoint, workspace: Workspace) -> None:
    said = refusal(lambda: query.execute_and_save("q", endpoint.url, "a.json", expect_empty=True))
    assert "answered with 2 results" in said
    assert files(workspace) == []
    endpoint.says("# Empty NT\n", "text/plain")
    query.execute_and_save("q", endpoint.url, "a.nt", expect_empty=True)


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


def test_a_large_answer_leaves_the_client_small(query: Query, endpoint: Endpoint) -> None:
    binding = '{"x":{"type":"literal","value":"%s"}}' % ("v" * 50)
    number = 200_000
    body = '{"head":{"vars":["x"]},"results":{"bindings":[' + ",".join([binding] * number) + "]}}"
    endpoint.says(body)
    query.execute_and_save("q", endpoint.url, "small.json", headers={"accept": JSON})
    assert query.execute_and_save("q", endpoint.url, "a.json").values["results"] == number
    query.stop()
    (ended,) = query.ended()
    assert ended.peak_rss_bytes is None or ended.peak_rss_bytes < 40e6
