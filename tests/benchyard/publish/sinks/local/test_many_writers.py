"""Several processes at once, and processes that are killed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO, cast

import pytest

from benchyard.publish.sinks.contract import Point
from benchyard.publish.sinks.local.reader import LocalReader

ENTRIES = 40

#: Stores documents of some hosts, and says of each that it is confirmed.
PROGRAM = f"""
import sys
from pathlib import Path
from benchyard.publish.sinks.local import store
from benchyard.publish.sinks.local.sink import LocalSink
from tests.benchyard.publish.sinks.local.conftest import document, spooled
store.PATIENCE = 60.0  # on a busy host one writer may keep the other waiting for long
sink = LocalSink(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    for host in sys.argv[3:]:
        entries = {{f"entry {{n}}": n + 0.5 for n in range({ENTRIES})}}
        sink.store(spooled(document(entries, host=host, start=number)))
        print(number, host, flush=True)
"""


def writer(file: Path, count: int, *hosts: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(file), str(count), *hosts],
        cwd=Path(__file__).parents[5],
        stdout=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]") -> set[tuple[int, str]]:
    """Return which documents a process has confirmed, number and host."""
    said, _ = process.communicate(timeout=120)
    return confirmed_in(said)


def confirmed_in(said: str) -> set[tuple[int, str]]:
    """Return what whole lines say; the kill may cut the last one."""
    lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
    return {(int(words[0]), words[1]) for words in lines if len(words) == 2}


def entries(file: Path) -> list[Point]:
    with closing(LocalReader(file)) as reader:
        return list(reader.timings("words", "entry 7"))


def assert_whole(file: Path, documents: int) -> None:
    connection = sqlite3.connect(file)
    [ok] = connection.execute("PRAGMA integrity_check").fetchone()
    counts = "SELECT (SELECT count(*) FROM tests), (SELECT count(*) FROM entries)"
    found = connection.execute(counts).fetchone()
    connection.close()
    assert ok == "ok"
    assert found == (documents, documents * ENTRIES)


@pytest.mark.slow
def test_several_processes_make_and_fill_a_store_at_once(file: Path) -> None:
    processes = [writer(file, 15, *hosts) for hosts in ("ab", "bc", "cd", "da")]
    confirmed = set[tuple[int, str]]().union(*map(finished, processes))
    assert [process.returncode for process in processes] == [0] * 4
    assert len(confirmed) == 60
    assert_whole(file, 60)
    assert len(entries(file)) == 60


@pytest.mark.slow
@pytest.mark.parametrize("documents", [1, 7])
def test_kill_9_after_so_many_documents_loses_none_of_them(file: Path, documents: int) -> None:
    said = ""
    # So many that none is through before the other one has begun.
    processes = [writer(file, 10_000, "a", "b") for _ in range(2)]
    streams = [cast("IO[str]", process.stdout) for process in processes]
    for stream in streams:
        said += "".join(stream.readline() for _ in range(documents))
    for process in processes:
        process.kill()
    for stream in streams:
        with stream:
            said += stream.read()
    assert [process.wait() for process in processes] == [-signal.SIGKILL] * 2
    confirmed = confirmed_in(said)
    found = len(entries(file))
    # The last document of each may be on disk without having been confirmed.
    assert len(confirmed) <= found <= len(confirmed) + 2
    assert_whole(file, found)


@pytest.mark.slow
@pytest.mark.soak
def test_kill_9_at_any_moment_loses_nothing_that_was_confirmed(file: Path) -> None:
    chance = random.Random(7)  # noqa: S311
    confirmed: set[tuple[int, str]] = set()
    documents = 0
    for _ in range(8):
        processes = [writer(file, 200, "a", "b") for _ in range(2)]
        while not file.exists():
            time.sleep(0.01)
        time.sleep(0.3 + chance.random())
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
        confirmed = confirmed.union(*map(finished, processes))
        # The reader comes first: it finds what the killed have left, and must not write.
        documents = len(entries(file))
        assert len(confirmed) <= documents
    # The last document of each may be on disk without having been confirmed.
    assert documents <= len(confirmed) + 2
    assert_whole(file, documents)
    last = writer(file, 30, "a", "b")
    assert len(finished(last)) == 60
    assert_whole(file, max(60, documents))
