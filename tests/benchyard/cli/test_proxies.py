"""A server that PREFECT_API_URL names on this host: asked without a proxy, and what it may be."""

import os
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.answering import Quiet, serving
from tests.conftest import MakeCase, RunBenchyard, process

pytestmark = pytest.mark.slow


class Proxy(Quiet, BaseHTTPRequestHandler):
    """Answers as a proxy that reaches nothing."""

    def do_GET(self) -> None:
        self.send_error(502)


class Page(Quiet, BaseHTTPRequestHandler):
    """Answers each address with a page, as Prefect's UI does beside its API."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Prefect</title>")


class Nothing(Quiet, BaseHTTPRequestHandler):
    """Answers as a server of something else."""

    def do_GET(self) -> None:
        self.send_error(404)


@pytest.mark.parametrize(
    ("server", "excluded"), [(Page, {"NO_PROXY": "example.org"}), (Nothing, {"no_proxy": ""})]
)
def test_what_is_no_prefect_api_is_one_sentence_and_no_proxy_is_asked(
    server: type[BaseHTTPRequestHandler],
    excluded: dict[str, str],
    run_benchyard: RunBenchyard,
    case_folder: MakeCase,
    tmp_path: Path,
) -> None:
    case_folder("quick", process("work", "true"))
    with serving(server) as port, serving(Proxy) as proxy:
        url = f"http://127.0.0.1:{port}"
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy"), f"http://127.0.0.1:{proxy}")
        variables = {"PREFECT_API_URL": url, "PREFECT_HOME": str(tmp_path / "home")}
        environment = {**os.environ, **variables, **proxies, **excluded}
        ended = run_benchyard("run", "quick", "--runs", "1", "--root", ".", env=environment)

    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        f"benchyard: PREFECT_API_URL: there is no Prefect API at {url}; its address ends in /api, "
        "such as http://127.0.0.1:4200/api"
    ]
