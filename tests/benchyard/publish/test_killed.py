"""Publishers that die at any moment: nothing is lost, and nothing is there twice."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchyard.publish.sinks.local.store import file_of
from benchyard.publish.testresults import parse
from tests.benchyard.publish import killing
from tests.benchyard.publish.conftest import names
from tests.benchyard.publish.fake_sinks import FolderSink

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
DOCUMENTS = 40
ENTRIES = 5


def run(*arguments: str, **environment: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, str(killing.__file__), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return json.loads(ended.stdout)


@pytest.mark.parametrize("compression", ["none", "zst"])
def test_dead_before_each_step_of_publishing_a_file(tmp_path: Path, compression: str) -> None:
    told = run("steps", str(tmp_path), compression)
    assert told["code"] == 0
    assert len(told["found"]) > 15, "so many steps, and one publication that ended well"
    ending = "" if compression == "none" else f".{compression}"
    for step, found in enumerate(told["found"]):
        assert found == [
            f"archive/a.json{ending}",
            "spool/rejected/b.json",
            "spool/rejected/b.json.reason.txt",
        ], f"after dying before step {step}"


def document(number: int) -> dict[str, Any]:
    entry = [{"name": f"BM_{index}", "iters": "1", "wallTime": index} for index in range(ENTRIES)]
    start = str(1_700_000_000 + number // 4)
    argument = [f"run {number}"]
    return {
        "name": "//some:test",
        "startTime": start,
        "entries": {"entry": entry},
        "runConfiguration": {"argument": argument},
    }


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    for number in range(DOCUMENTS):
        (spool / f"{number:02}.json").write_text(json.dumps(document(number)))

    told = run("random", str(tmp_path), str(seed), BENCHYARD_HOME=str(tmp_path / "home"))

    assert told["codes"] == [0, 0, 0, 0]
    assert told["killed"] == 50
    assert names(spool) == []
    assert names(tmp_path / "archive") == [f"{number:02}.json.zst" for number in range(DOCUMENTS)]
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    assert entities() == Counter(
        {(number // 4, f"BM_{index}"): 4 for number in range(DOCUMENTS) for index in range(ENTRIES)}
    )
    assert_never_two_at_one_file(tmp_path / "journal")


def entities() -> Counter[tuple[int, str]]:
    """Return what is in the local store: start and name of every entry."""
    with closing(sqlite3.connect(file_of(""))) as connection:
        found = connection.execute("SELECT start, entry FROM entries").fetchall()
    begun = datetime.fromtimestamp(1_700_000_000, UTC)
    return Counter(((datetime.fromisoformat(at) - begun).seconds, name) for at, name in found)


def assert_never_two_at_one_file(journal: Path) -> None:
    """Look whether one had begun with a file while another, alive, was at it.

    A process that was killed did nothing after the last line that it wrote.
    """
    lines = [line.split() for line in (journal / "journal").read_text().splitlines()]
    begun: dict[str, tuple[str, str]] = {}
    last = {(process, thread): index for index, (_, process, thread, _, _) in enumerate(lines)}
    for index, (_, process, thread, what, name) in enumerate(lines):
        me = (process, thread)
        if what == "end":
            assert begun.pop(name) == me
        elif name in begun:
            assert last[begun[name]] < index, f"{name}: {begun[name]} and {me}"
            begun[name] = me
        else:
            begun[name] = me
    assert len(FolderSink(journal).stored) >= DOCUMENTS


def test_the_documents_are_documents() -> None:
    identities = {parse(json.dumps(document(number)).encode()).identity for number in range(40)}
    assert len(identities) == DOCUMENTS
