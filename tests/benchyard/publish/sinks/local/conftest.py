"""Documents made by hand, and a store for them."""

import json
from collections.abc import Generator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.sink import LocalSink

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return FIRST + timedelta(days=number)


def document(
    entries: Mapping[str, float | str] | list[dict[str, Any]],
    *,
    test: str = "words",
    start: float = 0.0,
    host: str = "bench-01",
    **more: Any,
) -> bytes:
    """Make a document; ``start`` is in days after ``FIRST``."""
    found = (
        entries
        if isinstance(entries, list)
        else [{"name": name, "iters": "1", "wallTime": time} for name, time in entries.items()]
    )
    return json.dumps(
        {
            "name": test,
            "target": test,
            "startTime": str(int(day(start).timestamp())),
            "entries": {"entry": found},
            "machineConfiguration": {"hostname": host},
            **more,
        }
    ).encode()


def spooled(content: bytes, name: str = "a.json") -> Spooled:
    return Spooled(name, content, f"archive/{name}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "results.sqlite"


@pytest.fixture
def sink(file: Path) -> Generator[LocalSink]:
    made = LocalSink(file)
    yield made
    made.close()


@pytest.fixture
def reader(file: Path) -> Generator[LocalReader]:
    made = LocalReader(file)
    yield made
    made.close()
