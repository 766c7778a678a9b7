"""A workspace as the lab makes one, embedded databases and containers on it."""

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import resources
from benchyard.case.resource import Workspace
from resources._containers.engine import connect
from resources._containers.network import ensure_network, leave_network
from resources.container import Container
from resources.embedded import EmbeddedDatabase
from tests.answering import Quiet, serving
from tests.resources.containers import (
    NOTHING,
    brought_up,
    container_in,
    left_of,
    run_of,
    workspace_in,
)

Database: TypeAlias = EmbeddedDatabase[Any]


@dataclass
class Endpoint:
    """A server that answers as it is told to, and remembers what was posted to it."""

    status: int = 200
    kind: str = "application/sparql-results+json"
    body: bytes = b""
    #: Length that is announced; None breaks off without one, 0 tells the true one.
    length: int | None = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    #: Whether it reads what comes before it answers.
    reads: bool = True
    #: Whether it takes a request, by its path and its headers; it answers 401 if not.
    takes: Callable[[str, Any], bool] = lambda _path, _headers: True
    #: Path, headers and content of each request.
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list[Any])
    hold: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}/sparql"

    def says(self, body: str, kind: str = "application/sparql-results+json") -> None:
        self.body, self.kind = body.encode(), kind

    def send(self, request: BaseHTTPRequestHandler) -> None:
        if self.reads:
            content = request.rfile.read(int(request.headers["Content-Length"]))
            self.asked.append((request.path, dict(request.headers), content))
        self.hold.wait(120)
        takes = self.takes(request.path, request.headers)
        request.send_response(self.status if takes else 401)
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
    """Give a server on loopback."""
    told = Endpoint()
    told.hold.set()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.send(self)

    with serving(Handler) as told.port:
        yield told
        told.hold.set()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Give a fresh workspace; its folder names are ones that SQL and globs would misread."""
    return workspace_in(tmp_path / "it's [a] case*")


@pytest.fixture
def put(workspace: Workspace) -> Callable[[str, str], str]:
    """Write a file among the inputs and return its name."""

    def write(name: str, text: str) -> str:
        path = workspace.new_file(name)
        path.write_bytes(text.encode())
        return name

    return write


@pytest.fixture
def open_database(workspace: Workspace) -> Generator[Callable[..., Database]]:
    """Start a database by class name with settings; all of them are stopped afterwards."""
    with ExitStack() as stack:

        def start(name: str, settings: Mapping[str, Any] | None = None) -> Database:
            made = resources.find().classes[name]
            given: Any = made.Settings(**(settings or {}))
            return stack.enter_context(brought_up(made(given, workspace)))

        yield start


@pytest.fixture(params=["SQLite", "DuckDB"])
def database(request: pytest.FixtureRequest, open_database: Callable[[str], Database]) -> Database:
    """Give each embedded database in turn, ready."""
    return open_database(request.param)


@pytest.fixture(scope="module")
def run_of_all(tmp_path_factory: pytest.TempPathFactory) -> Generator[Workspace]:
    """Give the run that all tests of a module are of.

    It keeps its network: to make and to remove one takes longer than most tests.
    """
    run = workspace_in(tmp_path_factory.mktemp("run"))
    with closing(connect()) as client:
        ensure_network(client, run.labels)
        yield run
        leave_network(run.labels, client)
    assert left_of(run_of(run)) == NOTHING


@pytest.fixture
def space(run_of_all: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    """Give a workspace, and see that no container and no volume stays at the engine."""
    yield replace(workspace_in(tmp_path), labels=run_of_all.labels)
    left = left_of(run_of(run_of_all))
    assert left == {**NOTHING, "networks": left["networks"]}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Generator[Container]:
    """Give a container that waits, for all tests of a module that leave it as it is."""
    with container_in(workspace_in(tmp_path_factory.mktemp("plain"))) as made:
        yield made
