"""What reading and making TestResults documents costs: the part of publishing that is Python's.

Read are as many documents as TensorFlow's uploader was measured with. Beside ours, what that
uploader does with them before it calls its store, and the floor: parsing the JSON and no more.
"""

import json
import time
from collections.abc import Callable

import orjson

from benchmarks.table import Figure, Size, run_program
from benchyard.core.model import JsonObject, Outcome
from benchyard.publish.testresults import parse, text_of
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

READ_SECONDS = 1.0
#: A limit of this project's own making: it must not be felt beside writing the record.
MAKE_SECONDS = 0.01
DOCUMENTS, ENTRIES = 200, 400
STEPS, METRICS = 20, 44
ROUNDS = 7
_WHEN = "2026-01-01T00:00:00+00:00"


def measure(size: Size) -> list[Figure]:
    """Measure every way of reading in turn, and then making."""
    count = size.of(DOCUMENTS, 2)
    documents = [_document(number) for number in range(count)]
    megabytes = sum(map(len, documents)) / 1e6
    ways: dict[str, Callable[[bytes], object]] = {
        "ours": parse,
        "TensorFlow's uploader, before its store": _as_uploader,
        "floor: Python's JSON parser alone": json.loads,
        "floor: orjson alone": orjson.loads,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(size.of(ROUNDS)):
        for name, read in ways.items():
            took[name].append(_seconds(read, documents))
    title = f"{count} documents x {ENTRIES} entries, {megabytes:.1f} MB"
    limits = {"ours": READ_SECONDS}
    figures = [
        Figure(f"read {title}: {name}", values, limit=limits.get(name))
        for name, values in took.items()
    ]
    return [*figures, *_making(size.of(100 * ROUNDS))]


def _seconds(read: Callable[[bytes], object], documents: list[bytes]) -> float:
    start = time.perf_counter()
    for document in documents:
        read(document)
    return time.perf_counter() - start


def _as_uploader(data: bytes) -> object:
    """Do what upload_test_benchmarks.py does to a file, but for its calls of the client."""
    result = json.loads(data)
    test = str(result["name"]), float(result["startTime"]), str(data)
    entries = [
        (str(entry["name"]), entry["wallTime"], str(json.dumps(entry)))
        for entry in result["entries"].get("entry", [])
    ]
    return test, entries


def _making(rounds: int) -> list[Figure]:
    record = _record()
    took: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        text_of(record)
        took.append(time.perf_counter() - start)
    kilobytes = len(text_of(record)) / 1e3
    title = f"make a document: {STEPS} steps x {METRICS} metrics"
    return [
        Figure(title, took, "ms", MAKE_SECONDS),
        Figure("  its size, kB", [kilobytes], ""),
    ]


def _document(number: int) -> bytes:
    """Write a document with entries as long as TensorFlow's are."""
    entries = [
        {
            "name": f"BM_cpu_float_int64/{place}/{number}",
            "iters": "20000",
            "cpuTime": 8.1e-06 * (place + 1),
            "wallTime": 3.4172500000000005e-05 * (place + 1.3),
            "throughput": 7671.2,
            "extras": {"trace": {"stringValue": "off"}, "threads": {"doubleValue": 8.0}},
        }
        for place in range(ENTRIES)
    ]
    document = {
        "name": f"//tensorflow/core/kernels:op_{number}_test",
        "startTime": str(1_700_000_000 + number),
        "runTime": 12.84,
        "entries": {"entry": entries},
        "machineConfiguration": {"hostname": "bench-01"},
        "runConfiguration": {"argument": ["--benchmark_filter=all"]},
    }
    return json.dumps(document).encode()


def _record() -> RunRecord:
    steps = tuple(_step(index) for index in range(1, STEPS + 1))
    case: JsonObject = {"title": "case", "hash": "0"}
    return RunRecord(case, 1, Outcome.COMPLETED, _WHEN, _WHEN, 60.0, steps)


def _step(index: int) -> StepRecord:
    used = {f"resource_{number}_bytes": index * number / 3 for number in range(METRICS)}
    made = Repetition("measured", 0.0, index / 7, Outcome.COMPLETED, used)
    attempt = Attempt(1, _WHEN, 0.0, 1.0, Outcome.COMPLETED, (made,))
    names = f"s{index}", f"Step {index}", "Process", "execute"
    return StepRecord(
        index, *names, {}, measure=True, outcome=Outcome.COMPLETED, attempts=(attempt,)
    )


if __name__ == "__main__":
    run_program(__doc__, measure)
