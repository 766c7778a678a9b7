"""Databases in containers, their files, and what they answer."""

import csv
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import resources
from benchyard.case.resource import Workspace
from tests.resources.containers import NOTHING, brought_up, left_of, workspace_in

#: Class to the image that stands in for its own.
IMAGES = {
    "PostgreSQL": "benchyard-test/postgresql",
    "MySQL": "benchyard-test/mysql",
    "Redis": "benchyard-test/redis",
}

#: Class to settings that spare the disk: their data lie in memory, where a first start takes half
#: as long. Shipped cases keep theirs in volumes.
QUICK: Mapping[str, Mapping[str, Any]] = {
    name: {"tmpfs": {folder: "512MB"}}
    for name, folder in (("PostgreSQL", "/var/lib/benchyard"), ("MySQL", "/var/lib/mysql"))
}

#: Classes of servers, for parameters of tests.
SERVERS = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.requires("docker", image)])
    for name, image in (("PostgreSQL", "image:postgresql"), ("MySQL", "image:mysql"))
]

#: One of these classes, or an embedded one; tests call what only some have, and look inside.
Database: TypeAlias = Any


def made(name: str, workspace: Workspace, **settings: Any) -> Database:
    found: Any = resources.find().classes[name]
    image = {"image": IMAGES[name]} if name in IMAGES else {}
    return found(found.Settings(**{**image, **QUICK.get(name, {}), **settings}), workspace)


@contextmanager
def running(name: str, folder: Path, **settings: Any) -> Generator[Database]:
    """Bring a database up; see that nothing of it stays at the engine."""
    database = made(name, workspace_in(folder), **settings)
    with brought_up(database):
        yield database
    assert name not in IMAGES or left_of(folder) == NOTHING


def put(database: Database, name: str, text: str | bytes) -> str:
    """Write a file among the inputs and return its name."""
    path = database.workspace.new_file(name)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def query(database: Database, sql: str) -> list[list[str]]:
    """Execute SQL through a query file and return the saved rows, the header first."""
    database.execute_query_file(put(database, "query.sql", sql), "answer.csv")
    with database.workspace.file("answer.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))
