"""What the local store costs: writing a million entries, and reading one of them through time.

Beside it the plainest way that keeps as much and is as durable (orjson, two tables without key or
index, nothing checked, a commit for each document), which is the limit of what SQLite can do, and
TensorFlow's uploader from literature. Documents are as TensorFlow writes them, 400 entries each,
all of one test.
"""

import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import orjson

from benchmarks.table import Figure, Size, run_program
from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.sink import LocalSink
from benchyard.publish.testresults import parse

STORE_SECONDS = 25.0
READ_SECONDS = 0.02
DOCUMENTS, ENTRIES, TESTS = 2500, 400, 10
TEST = "//tensorflow/core/kernels:cast_op_test"
_FIRST, _HOUR = 1_700_000_000, 3600
#: 80,200 entities in 8.14 s: client 2.x and a store in memory, without network.
_UPLOADER = 8.14 / 80_200
_LITERATURE = "TensorFlow's uploader, store in memory, other machine"


def measure(size: Size) -> list[Figure]:
    """Measure both ways, in turns, then ours ten times as large."""
    documents, rounds = size.of(DOCUMENTS, 40), size.of(3)
    made = [_document(number) for number in range(documents)]
    ours: dict[str, list[float]] = {}
    plain: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as folder:
        for number in range(rounds):
            _add(plain, _plain(Path(folder, f"plain-{number}.sqlite"), made))
            file = Path(folder, f"ours-{number}.sqlite")
            _add(ours, _ours(file, made))
            if number:
                file.unlink()
        parsed = [_seconds_of_parsing(made) for _ in range(rounds)]
        large = _large(Path(folder, "ours-0.sqlite"), documents, size)
    return [*_figures(documents, ours, plain, parsed), *large]


def _figures(
    documents: int,
    ours: dict[str, list[float]],
    plain: dict[str, list[float]],
    parsed: list[float],
) -> list[Figure]:
    count = documents * ENTRIES
    title = f"{count:,} entries"
    each = [seconds / count for seconds in ours["write"]]
    return [
        Figure(f"{title} written and confirmed", ours["write"], limit=STORE_SECONDS),
        Figure("  of that, parsing", parsed),
        Figure("  tables without a key, nothing checked", plain["write"]),
        Figure("  the same documents again", ours["again"]),
        Figure("  one entry", each, "µs"),
        Figure("  one entry, uploaded", [_UPLOADER], "µs", literature=_LITERATURE),
        Figure("  file, MB", ours["megabytes"], ""),
        Figure("  file of tables without a key, MB", plain["megabytes"], ""),
        Figure(f"one entry, {documents:,} timings, of {title}", ours["read"], "ms", READ_SECONDS),
        Figure("  its newest 100", ours["newest"], "ms"),
        Figure("  tables without a key", plain["read"], "ms"),
    ]


def _add(to: dict[str, list[float]], measured: dict[str, list[float]]) -> None:
    for name, values in measured.items():
        to.setdefault(name, []).extend(values)


def _document(number: int) -> bytes:
    chance = random.Random(number)  # noqa: S311 - not a secret
    entries = [
        {
            "name": f"BM_cpu_float_int64/{entry}",
            "iters": "20000",
            "cpuTime": chance.random() / 1000,
            "wallTime": chance.random() / 1000,
            "throughput": chance.random() * 1e4,
            "extras": {"trace": {"stringValue": "off"}, "threads": {"doubleValue": 8.0}},
        }
        for entry in range(ENTRIES)
    ]
    document = {
        "name": TEST,
        "startTime": str(_FIRST + number * _HOUR),
        "entries": {"entry": entries},
        "machineConfiguration": {"hostname": "bench-01"},
    }
    return json.dumps(document).encode()


# -- ours


def _ours(file: Path, made: list[bytes]) -> dict[str, list[float]]:
    write = _written(file, made)
    again = _written(file, made)
    return {
        "write": [write],
        "again": [again],
        "megabytes": [file.stat().st_size / 1e6],
        "read": list(_reads(file, len(made), None)),
        "newest": list(_reads(file, len(made), 100)),
    }


def _written(file: Path, made: list[bytes]) -> float:
    start = time.perf_counter()
    with closing(LocalSink(file)) as sink:
        _store(sink, made)
    return time.perf_counter() - start


def _store(sink: LocalSink, made: Iterable[bytes]) -> None:
    """Store as a publisher does, in as many threads as the sink wishes."""
    with ThreadPoolExecutor(sink.parallel) as threads:
        waiting = (Spooled("a.json", content, "") for content in made)
        for _ in threads.map(sink.store, waiting):
            pass


def _reads(file: Path, documents: int, limit: int | None) -> Iterator[float]:
    """Yield seconds of reading some entries, each through a reader of its own."""
    for entry in range(0, ENTRIES, ENTRIES // 10):
        start = time.perf_counter()
        with closing(LocalReader(file)) as reader:
            name = f"BM_cpu_float_int64/{entry}"
            found = list(reader.timings(TEST, name, limit=limit))
        yield time.perf_counter() - start
        if len(found) != min(documents, limit or documents):
            raise RuntimeError(f"{len(found)} timings of {name}")


def _seconds_of_parsing(made: list[bytes]) -> float:
    start = time.perf_counter()
    for content in made:
        parse(content)
    return time.perf_counter() - start


def _large(file: Path, documents: int, size: Size) -> list[Figure]:
    """Fill a store with more tests, and read it again."""
    tests = size.of(TESTS, 2)
    content = _document(0)
    with closing(LocalSink(file)) as sink:
        start = time.perf_counter()
        for test in range(1, tests):
            _store(sink, [_other(content, test, number) for number in range(documents)])
        took = time.perf_counter() - start
    title = f"{tests * documents * ENTRIES:,} entries of {tests} tests"
    each = took / ((tests - 1) * documents * ENTRIES)
    return [
        Figure(f"one entry, {documents:,} timings, of {title}", list(_reads(file, documents, None)),
               "ms", READ_SECONDS),
        Figure("  its newest 100", list(_reads(file, documents, 100)), "ms"),
        Figure("  one entry written", [each], "µs"),
        Figure("  file, MB", [file.stat().st_size / 1e6], ""),
    ]  # fmt: skip


def _other(content: bytes, test: int, number: int) -> bytes:
    moment = str(_FIRST + number * _HOUR).encode()
    return content.replace(TEST.encode(), f"{TEST}_{test}".encode(), 1).replace(
        str(_FIRST).encode(), moment, 1
    )


# -- the plainest way


def _plain(file: Path, made: list[bytes]) -> dict[str, list[float]]:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE tests (test, start, info)")
    connection.execute("CREATE TABLE entries (test, entry, start, timing)")
    start = time.perf_counter()
    for content in made:
        _insert(connection, content)
    write = time.perf_counter() - start
    connection.close()
    megabytes = file.stat().st_size / 1e6
    read = list(_plain_reads(file))
    file.unlink()
    return {"write": [write], "megabytes": [megabytes], "read": read}


def _insert(connection: sqlite3.Connection, content: bytes) -> None:
    document = orjson.loads(content)
    test, start = document["name"], int(document["startTime"])
    rows = [(test, one["name"], start, one["wallTime"]) for one in document["entries"]["entry"]]
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO tests VALUES (?, ?, ?)", (test, start, content))
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
    connection.execute("COMMIT")


def _plain_reads(file: Path) -> Iterator[float]:
    query = "SELECT start, timing FROM entries WHERE test = ? AND entry = ? ORDER BY start"
    for entry in (7, 300):
        start = time.perf_counter()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(query, (TEST, f"BM_cpu_float_int64/{entry}")).fetchall()
        yield time.perf_counter() - start


if __name__ == "__main__":
    run_program(__doc__, measure)
