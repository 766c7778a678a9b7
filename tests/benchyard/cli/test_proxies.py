"""A server that PREFECT_API_URL names on this host: asked without a proxy, and what it may be."""

import os
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.answering import Quiet, serving
from tests.conftest import MakeCase, RunBenchyard, process

pytestmark = pytest.mark.slow


def answering(status: int) -> type[BaseHTTPRequestHandler]:
    """Return what answers each address with a page, as Prefect's UI does beside its API."""

    class Answering(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status, "<!doctype html><title>Prefect</title>")

    return Answering


@pytest.mark.parametrize(
    ("status", "excluded"), [(200, {"NO_PROXY": "example.org"}), (404, {"no_proxy": ""})]
)
def test_what_is_no_prefect_api_is_one_sentence_and_no_proxy_is_asked(
    status: int,
    excluded: dict[str, str],
    run_benchyard: RunBenchyard,
    case_folder: MakeCase,
    tmp_path: Path,
) -> None:
    case_folder("quick", process("work", "true"))
    with serving(answering(status)) as port, serving(answering(502)) as proxy:
        url = f"http://127.0.0.1:{port}"
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy"), f"http://127.0.0.1:{proxy}")
        variables = {"PREFECT_API_URL": url, "PREFECT_HOME": str(tmp_path / "home")}
        environment = {**os.environ, **variables, **proxies, **excluded}
        ended = run_benchyard("run", "quick", "--runs", "1", "--root", ".", env=environment)

    assert ended.returncode == 2
    [line] = ended.stderr.splitlines()
    assert f"PREFECT_API_URL: there is no Prefect API at {url}; its address ends in /api" in line
