"""Writes Scanner's profiles: for tests, and for synthetic data of any size."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.scanner.blocks import INTERVAL, ScannerWorker

_LONG = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class NodeWorkers:
    """The workers of a node, as its file lists them.

    Args:
        process_job: The worker that hands out the work.
        load: Workers that read.
        eval: Pipelines of workers that compute; each as long as the first one.
        save: Workers that write.
    """

    process_job: ScannerWorker
    load: Sequence[ScannerWorker] = ()
    eval: Sequence[Sequence[ScannerWorker]] = field(default_factory=tuple)
    save: Sequence[ScannerWorker] = ()


def node_file(start: int, end: int, workers: NodeWorkers) -> bytes:
    """Return the content of ``profile_<node>.bin``; times in nanoseconds."""
    chain = len(workers.eval[0]) if workers.eval else 0
    return b"".join(
        [
            *(_LONG.pack(start), _LONG.pack(end), block(workers.process_job)),
            *(bytes([len(workers.load)]), *map(block, workers.load)),
            bytes([len(workers.eval), chain]),
            *(block(worker) for pipeline in workers.eval for worker in pipeline),
            *(bytes([len(workers.save)]), *map(block, workers.save)),
        ]
    )


def master_file(start: int, end: int, master: ScannerWorker) -> bytes:
    """Return the content of ``profile_master.bin``; times in nanoseconds."""
    return _LONG.pack(start) + _LONG.pack(end) + block(master)


def block(worker: ScannerWorker) -> bytes:
    """Return a worker as it lies in a file."""
    names = sorted((name, key) for key, name in worker.names.items())
    return b"".join(
        [
            _LONG.pack(worker.node),
            *(_text(worker.kind), _text(worker.tag), _LONG.pack(worker.number)),
            _LONG.pack(len(names)),
            *(_text(name) + bytes([key]) for name, key in names),
            *(_LONG.pack(len(worker.intervals)), worker.intervals.tobytes()),
            _LONG.pack(len(worker.counters)),
            *(_text(name) + _LONG.pack(worker.counters[name]) for name in sorted(worker.counters)),
        ]
    )


def intervals(
    key: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.void]:
    """Return intervals as they lie in a file."""
    made = np.empty(len(key), INTERVAL)
    made["key"], made["start"], made["end"] = key, start, end
    return made


def synthetic_job(
    nodes: int, workers: int, total: int, seed: int = 0, counters: Mapping[str, int] | None = None
) -> dict[str, bytes]:
    """Return the files of a job, by name: a master, and nodes with workers of each kind.

    Args:
        nodes: How many.
        workers: Of each kind on a node, pipelines have three stages.
        total: How many intervals all have together, nearly.
        seed: Of the random times.
        counters: Of each worker.
    """
    rng = np.random.default_rng(seed)
    each = max(1, total // (nodes * (5 * workers + 1)))
    names = {0: "idle", 1: "io", 2: "compute: ü", 3: 'a "quoted" name'}

    def worker(node: int, kind: str, tag: str, number: int) -> ScannerWorker:
        starts = np.cumsum(rng.integers(1_000, 90_000, each))
        ends = starts + rng.integers(1, 900, each)
        keys = rng.integers(0, len(names), each).astype(np.uint8)
        return ScannerWorker(
            node, kind, tag, number, names, intervals(keys, starts, ends), counters or {}
        )

    files: dict[str, bytes] = {}
    numbers = range(workers)
    for node in range(nodes):
        lists = NodeWorkers(
            worker(node, "process_job", "", 0),
            [worker(node, "load", "", one) for one in numbers],
            [
                [worker(node, "eval", tag, one) for tag in ("pre", "eval", "post")]
                for one in numbers
            ],
            [worker(node, "save", "", one) for one in numbers],
        )
        files[f"profile_{node}.bin"] = node_file(0, each * 90_000, lists)
    master = worker(0, "master", "master", 0)
    files["profile_master.bin"] = master_file(10**18, 10**18 + each * 90_000, master)
    return files


def _text(text: str) -> bytes:
    return text.encode() + b"\0"
