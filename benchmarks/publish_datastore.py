"""Publishing to Datastore, against TensorFlow's way, into the same local server.

Both are given the same files and take them all the way: read under a lock, sent through Google's
client over gRPC, moved to the archive. TensorFlow's way is that of its uploader: one file at a
time, an Entity object for each entry with a number for its key, one put_multi. Ours is what
``benchyard publish`` calls, with keys that make doing it again harmless, and with every archived
file synced to disk. The floor is our own requests, prepared before and only sent.

The server is a process of its own on the same cores, written in Python: what it takes for itself
is in all three. Start-up and imports are in none.
"""

import fcntl
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from google.cloud import datastore

from benchmarks.table import Figure, Size, run_program
from benchyard.core.model import Json, JsonObject
from benchyard.publish.publisher import publish
from benchyard.publish.routes import open_archive, route
from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.datastore.connection import INDEX_FILE, Connection
from benchyard.publish.sinks.datastore.settings import Settings
from benchyard.publish.sinks.datastore.sink import DatastoreSink, document_mutation, entry_mutations
from benchyard.publish.sinks.sending import batches
from benchyard.publish.testresults import parse
from tests.emulators.datastore.fixture import Emulator, running

#: Ours must be three times as fast.
RATIO = 1 / 3
_START = 1_700_000_000


@dataclass(frozen=True, slots=True)
class Took:
    """What one way took.

    Args:
        wall_s: Seconds on the clock, the server's included.
        cpu_s: Seconds of this process on all cores, which other load changes less.
    """

    wall_s: float
    cpu_s: float


def measure(size: Size) -> list[Figure]:
    """Publish the same files in each way, in turn, each time into an empty server."""
    documents, entries = size.of(200, 3), size.of(400, 20)
    contents = [_content(number, entries) for number in range(documents)]
    taken: dict[str, list[Took]] = {"ours": [], "theirs": [], "floor": []}
    with (
        tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made,
        running(index=INDEX_FILE) as emulator,
    ):
        for number in range(size.of(3)):
            folder = Path(made, str(number))
            taken["theirs"].append(_original(emulator, folder / "theirs", contents))
            taken["ours"].append(_ours(emulator, folder / "ours", contents))
            taken["floor"].append(_floor(emulator, contents))
        large = _large(emulator, size)
    title = f"{documents} documents x {entries} entries"
    return [*_figures(title, taken, documents * (entries + 1)), *large]


def _took(act: Callable[[], object]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def _figures(title: str, taken: Mapping[str, Sequence[Took]], entities: int) -> list[Figure]:
    wall = {way: [took.wall_s for took in each] for way, each in taken.items()}
    cpu = {way: [took.cpu_s / entities for took in each] for way, each in taken.items()}

    def ratios(of: Mapping[str, list[float]], other: str) -> list[float]:
        return [a / b for a, b in zip(of["ours"], of[other], strict=True)]

    return [
        Figure(f"TensorFlow's way, {title}", wall["theirs"]),
        Figure("  CPU time of this process, an entity", cpu["theirs"], "µs"),
        Figure("benchyard publish, the same", wall["ours"]),
        Figure("  CPU time of this process, an entity", cpu["ours"], "µs"),
        Figure("  its time / TensorFlow's way", ratios(wall, "theirs"), "", RATIO),
        Figure("  its CPU time / TensorFlow's way", ratios(cpu, "theirs"), ""),
        Figure("prepared requests, only sent", wall["floor"]),
        Figure("  our time / theirs", ratios(wall, "floor"), ""),
    ]


def _content(number: int, entries: int) -> bytes:
    """Return a document of the size that TensorFlow's have: 226 bytes an entry."""
    made: list[Json] = [_entry(number, entry) for entry in range(entries)]
    name = f"//tensorflow/core/kernels:benchmark_{number % 20}"
    body: JsonObject = {
        "target": name,
        "name": name,
        "startTime": str(_START + number),
        "runTime": 12.5,
        "entries": {"entry": made},
        "runConfiguration": {"argument": ["--benchmarks=all"]},
    }
    return json.dumps(body).encode()


def _entry(number: int, entry: int) -> JsonObject:
    return {
        "name": f"BM_MatrixMultiplication/float/{entry}",
        "iters": str(1000 + number),
        "cpuTime": 1.25e-4 * (entry + 1),
        "wallTime": 1.5e-4 * (entry + 1) + number / 7e6,
        "throughput": 512.0 + entry,
        "extras": {
            "unit": {"stringValue": "s/iteration"},
            "peak": {"doubleValue": 1.5e9 + entry},
        },
    }


def _filled(folder: Path, contents: Sequence[bytes]) -> tuple[Path, Path]:
    waiting, archive = folder / "waiting", folder / "archive"
    for made in (waiting, archive):
        made.mkdir(parents=True)
    for number, content in enumerate(contents):
        (waiting / f"{number:04}.json").write_bytes(content)
    return waiting, archive


def _ours(emulator: Emulator, folder: Path, contents: Sequence[bytes]) -> Took:
    emulator.clear()
    waiting, archive = _filled(folder, contents)
    sink = DatastoreSink(_connection(emulator))
    kept = open_archive(route("datastore", waiting, str(archive)))

    def act() -> None:
        outcome = publish(waiting, sink, kept)
        if not outcome.is_clean:
            raise RuntimeError(f"not everything was published: {outcome}")

    took = _took(act)
    sink.close()
    return took


def _original(emulator: Emulator, folder: Path, contents: Sequence[bytes]) -> Took:
    emulator.clear()
    waiting, archive = _filled(folder, contents)
    client: Any = emulator.client()

    def act() -> None:
        for path in sorted(waiting.iterdir(), key=lambda path: path.stat().st_mtime):
            with path.open(encoding="utf-8") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _upload_as_the_original(client, stream.read())
                shutil.move(path, archive / path.name)

    return _took(act)


def _upload_as_the_original(client: Any, text: str) -> None:
    """Do what tools/test/upload_test_benchmarks.py does with a file."""
    result = json.loads(text)
    at = datetime.fromtimestamp(float(result["startTime"]), UTC).replace(tzinfo=None)
    common = {"test": str(result["name"]), "start": at}
    batch = [_entity(client, "Test", common | {"info": text})]
    for entry in result["entries"].get("entry", []):
        own = {"entry": entry["name"], "timing": entry["wallTime"], "info": json.dumps(entry)}
        batch.append(_entity(client, "Entry", common | own))
    client.put_multi(batch)


def _entity(client: Any, kind: str, values: dict[str, Any]) -> Any:
    made: Any = datastore.Entity(client.key(kind), exclude_from_indexes=["info"])
    made.update(values)
    return made


def _floor(emulator: Emulator, contents: Sequence[bytes]) -> Took:
    emulator.clear()
    connection = _connection(emulator)
    prepared = [list(_batches(connection.settings, content)) for content in contents]

    def send(commits: Iterable[list[Any]]) -> None:
        for commit in commits:
            connection.commit(commit)

    with ThreadPoolExecutor(DatastoreSink.parallel) as threads:
        took = _took(lambda: list(threads.map(send, prepared)))
    connection.close()
    return took


def _batches(settings: Settings, content: bytes) -> Iterator[list[Any]]:
    document = parse(content)
    mutations = entry_mutations(settings, document, "")
    yield from batches(mutations, lambda mutation: mutation.ByteSize(), 500, 4 << 20)
    yield [document_mutation(settings, document, "")]


def _large(emulator: Emulator, size: Size) -> list[Figure]:
    """Store what the original's limits keep out: many entries, and one that is very large."""
    many = _content(0, size.of(5000, 600))
    body = json.loads(_content(1, 1))
    body["entries"]["entry"][0]["extras"]["log"] = {"stringValue": "x" * 2_000_000}
    one = json.dumps(body).encode()
    sink = DatastoreSink(_connection(emulator))
    many_title = f"a document of {len(many) / 1e6:.1f} MB, {size.of(5000, 600):,} entries"
    figures = [
        Figure(many_title, _stored(sink, many, size)),
        Figure("an entry of 2 MB, cut to what fits", _stored(sink, one, size)),
    ]
    sink.close()
    return figures


def _stored(sink: DatastoreSink, content: bytes, size: Size) -> list[float]:
    waiting = Spooled("large.json", content, "archive/large.json")
    return [_took(lambda: sink.store(waiting)).wall_s for _ in range(size.of(5))]


def _connection(emulator: Emulator) -> Connection:
    return Connection(Settings(emulator.project, emulator=emulator.address))


if __name__ == "__main__":
    run_program(__doc__, measure)
