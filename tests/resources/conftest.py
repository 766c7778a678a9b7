"""A workspace as the lab makes one, and both embedded databases on it."""

import csv
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import resources
from benchyard.case.resource import Workspace
from resources.embedded import EmbeddedDatabase

Database: TypeAlias = EmbeddedDatabase[Any]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Give a fresh workspace; its folder names are ones that SQL and globs would misread."""
    base = tmp_path / "it's [a] case*"
    folders = [base / name for name in ("inputs", "shared", "own", "kept")]
    for folder in folders:
        folder.mkdir(parents=True)
    labels = {"benchyard.run": f"test:{tmp_path.name}"}
    return Workspace(*folders, labels=labels)


@pytest.fixture
def put(workspace: Workspace) -> Callable[[str, str], str]:
    """Write a file among the inputs and return its name."""

    def write(name: str, text: str) -> str:
        path = workspace.new_file(name)
        path.write_bytes(text.encode("latin-1") if "\xff" in text else text.encode())
        return name

    return write


@pytest.fixture
def open_database(workspace: Workspace) -> Generator[Callable[..., Database]]:
    """Start a database by class name with settings; all of them are stopped afterwards."""
    started: list[Database] = []

    def start(name: str, settings: Mapping[str, Any] | None = None) -> Database:
        found: Any = resources.find().classes[name]
        database: Database = found(found.Settings(**(settings or {})), workspace)
        started.append(database)
        database.start()
        database.wait_until_ready()
        return database

    yield start
    for database in started:
        database.stop()


@pytest.fixture(params=["SQLite", "DuckDB"])
def database(request: pytest.FixtureRequest, open_database: Callable[[str], Database]) -> Database:
    """Give each embedded database in turn, ready."""
    return open_database(request.param)


@pytest.fixture
def query(
    workspace: Workspace, put: Callable[[str, str], str]
) -> Callable[[Database, str], list[list[str]]]:
    """Execute SQL through a query file and return the saved rows, the header first."""

    def ask(database: Database, sql: str) -> list[list[str]]:
        database.execute_query_file(put("query.sql", sql), "answer.csv")
        with workspace.file("answer.csv").open(newline="") as stream:
            return list(csv.reader(stream))

    return ask
