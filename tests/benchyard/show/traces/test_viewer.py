"""Perfetto's UI offline: what it is given, whom it refuses, and when it ends."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue

import pytest

from benchyard.core.errors import BenchyardError
from benchyard.show.traces import viewer
from benchyard.show.traces.viewer import TraceServer, serve_once, viewer_folder
from tests.browsing import Browser

EVENTS = [
    {"ph": "M", "pid": 1, "tid": 5, "name": "process_name", "args": {"name": "testbed north"}},
    {"ph": "M", "pid": 1, "tid": 5, "name": "thread_name", "args": {"name": "postgresql"}},
    {"ph": "X", "pid": 1, "tid": 5, "name": "load", "ts": 0, "dur": 5000},
]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "a trace.json"
    file.write_text(json.dumps({"traceEvents": EVENTS}))
    return file


@contextmanager
def serving(trace: Path) -> Generator[TraceServer]:
    with TraceServer(viewer_folder(), trace) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server: TraceServer | str, path: str, host: str | None = None) -> tuple[int, bytes]:
    address = server if isinstance(server, str) else f"127.0.0.1:{server.server_port}"
    connection = HTTPConnection(address, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_trace_is_served_to_this_machine_and_under_no_foreign_name(trace: Path) -> None:
    with serving(trace) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert ask(server, "/localtrace", "benchyard.example")[0] == 403
        assert not server.taken.is_set()
        assert ask(server, "/localtrace?x=1") == (200, trace.read_bytes())
        assert server.taken.wait(20)


@pytest.mark.parametrize("path", ["/../a%20trace.json", "/..%2f..%2fetc/passwd", "/%00", "/x"])
def test_nothing_else_is_served(trace: Path, path: str) -> None:
    with serving(trace) as server:
        assert ask(server, path)[0] == 404
        assert not server.taken.is_set()


def test_a_trace_that_nobody_opens_is_served_for_a_while(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "PATIENCE_MINUTES", 0.001)
    addresses: SimpleQueue[str] = SimpleQueue()
    with pytest.raises(BenchyardError, match=r"opened http\S+ within 0.001 minutes; .*with -o"):
        serve_once(trace, addresses.put)
    connection = HTTPConnection(addresses.get().split("/")[2], timeout=20)
    with pytest.raises(ConnectionRefusedError):
        connection.connect()


def test_a_page_that_reads_the_trace_slowly_is_waited_for(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "_LINGER_SECONDS", 0)
    addresses: SimpleQueue[str] = SimpleQueue()
    server = threading.Thread(target=serve_once, args=(trace, addresses.put), daemon=True)
    server.start()
    host = addresses.get(timeout=20).split("/")[2]
    assert ask(host, "/vizviewer_info") == (200, b"{}")
    assert ask(host, "/localtrace") == (200, trace.read_bytes())
    server.join(0.5)
    assert ask(host, "/file_info") == (200, b"{}")
    server.join(20)
    assert not server.is_alive()


@pytest.mark.slow
@pytest.mark.requires("chromium", "chromedriver")
def test_a_browser_shows_the_trace_and_the_server_ends(trace: Path) -> None:
    addresses: SimpleQueue[str] = SimpleQueue()
    server = threading.Thread(target=serve_once, args=(trace, addresses.put), daemon=True)
    server.start()
    browser = Browser(addresses.get(timeout=20))
    try:
        browser.open("")
        browser.wait_for_text("testbed north 1", "postgresql 5")
        server.join(60)
        assert not server.is_alive()
    finally:
        browser.close()
