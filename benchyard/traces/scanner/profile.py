"""A job of Scanner: its profiles together, counted and written, under the original's names."""

import random
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from benchyard.core.errors import InputError
from benchyard.core.files import content, writing_atomically
from benchyard.traces.building import TraceBuilder
from benchyard.traces.chrome.writing import write_chrome
from benchyard.traces.model import MOST_NS, Trace
from benchyard.traces.nesting import summed
from benchyard.traces.protobuf import WireError, integer, message, text
from benchyard.traces.scanner.blocks import KEYS, FormatError, NodeFile, ScannerWorker, read_node

_ENDINGS = (".trace", ".json", ".json.gz", ".tar.gz")
_Decoded = TypeVar("_Decoded")
_KINDS = ("process_job", "load", "decode", "eval", "save")
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class JobDescriptor:
    """A job.

    Args:
        id: Never used again.
        name: The first job of a name is the one that Scanner finds by it.
        io_packet_size: Rows read at once.
        work_packet_size: Rows computed at once.
        num_nodes: How many nodes were alive at its end; files of others may be there.
    """

    id: int = 0
    name: str = ""
    io_packet_size: int = 0
    work_packet_size: int = 0
    num_nodes: int = 0


@dataclass(frozen=True, slots=True)
class ProfileStatistics:
    """A job in figures.

    Args:
        seconds: For each kind of worker, and in it each kind of interval.
        counters: For each kind of worker, and in it each counter; summed over the workers.
        total_time: From the first node's start to the last one's end, in seconds.
    """

    seconds: Mapping[str, Mapping[str, float]]
    counters: Mapping[str, Mapping[str, int]]
    total_time: float


class Profile:
    """The profiles of a job.

    It differs from Scanner's own where that is wrong: all files are read, also those of nodes
    beyond ``num_nodes``; nodes keep their numbers; a damaged file loses nothing of the others.

    Args:
        path: The job's folder, ``jobs/<id>`` of a database.
        subsample: Read so many nodes, drawn at random; all without it.

    Attributes:
        nodes: What each node's file holds, by the node's number.
        master: What the master's file holds, if it is there.
        descriptor: What the job's descriptor says, if it is there.
        problems: What is damaged or odd, each with its file and byte.

    Raises:
        InputError: If no profile can be read there.
    """

    def __init__(self, path: str | Path, subsample: int | None = None) -> None:
        self.path = Path(path)
        self.problems: list[str] = []
        self.descriptor = self._decoded("descriptor.bin", read_descriptor)
        self.master = self._read("profile_master.bin", master=True)
        files = self._files()
        if subsample is not None and subsample < len(files):
            files = dict(random.sample(sorted(files.items()), subsample))
        read = {node: self._read(file.name) for node, file in sorted(files.items())}
        self.nodes = {node: found for node, found in read.items() if found}
        if not (self.nodes or self.master):
            why = "; ".join(self.problems) or "no profile_<node>.bin is there"
            raise InputError(f"{self.path}: no profile of a Scanner job can be read: {why}")

    def workers(self) -> Iterator[tuple[int, ScannerWorker]]:
        """Yield each node's number with each of its workers, kind by kind."""
        for node, found in self.nodes.items():
            for kind in dict.fromkeys([*_KINDS, *(one.kind for one in found.workers)]):
                for worker in found.workers:
                    if worker.kind == kind:
                        yield node, worker

    def statistics(self) -> ProfileStatistics:
        """Return how long intervals took together, and what was counted."""
        seconds: dict[str, dict[str, float]] = defaultdict(dict)
        counters: dict[str, dict[str, int]] = defaultdict(dict)
        for _, worker in self.workers():
            times = seconds[worker.kind]
            columns = worker.intervals
            spent = summed(columns["key"], columns["end"] - columns["start"], KEYS)
            counts = np.bincount(columns["key"], minlength=KEYS)
            for key in np.flatnonzero(counts).tolist():
                name = _name(worker, key)
                times[name] = times.get(name, 0.0) + float(spent[key]) / _NS_PER_S
            for name, value in worker.counters.items():
                counters[worker.kind][name] = counters[worker.kind].get(name, 0) + value
        return ProfileStatistics(dict(seconds), dict(counters), self._total_time())

    def write_trace(self, path: str | Path) -> Path:
        """Write a trace for Perfetto and chrome://tracing; threads are called as Scanner does.

        Args:
            path: It ends in ``.trace``, ``.json``, ``.json.gz`` or ``.tar.gz``; the last one
                holds a ``.trace``.

        Raises:
            InputError: If it ends in anything else.
            OSError: If it cannot be written.
        """
        path = Path(path)
        if not path.name.endswith(_ENDINGS):
            raise InputError(f"{path}: a trace must end in {', '.join(_ENDINGS)}")
        if not path.name.endswith(".tar.gz"):
            write_chrome(self.trace(), path)
            return path
        with TemporaryDirectory() as folder, writing_atomically(path) as out:
            inside = Path(folder) / f"{path.name.removesuffix('.tar.gz')}.trace"
            write_chrome(self.trace(), inside)
            with tarfile.open(fileobj=out, mode="w:gz") as tar:
                tar.add(inside, inside.name)
        return path

    def trace(self) -> Trace:
        """Return the job in the model that all other traces have."""
        builder = TraceBuilder()
        for problem in self.problems:
            builder.lose(problem, "the file")
        for process, thread, worker in self._threads():
            track = builder.track(process, thread)
            names = builder.numbers([_name(worker, key) for key in range(KEYS)])
            key, start, end = (worker.intervals[name] for name in ("key", "start", "end"))
            sane = (np.minimum(start, end) > -MOST_NS) & (np.maximum(start, end) < MOST_NS)
            sound = sane & (start <= end)
            for why, odd in (
                ("ends before it begins", sane & ~sound),
                ("has a time that is out of range", ~sane),
            ):
                if odd.any():
                    builder.lose(f"an interval that {why}", "any file", int(odd.sum()))
            tracks = np.full(int(sound.sum()), track, np.int32)
            builder.slices(tracks, names[key[sound]], start[sound], (end - start)[sound])
        return builder.trace()

    def _threads(self) -> Iterator[tuple[str, str, ScannerWorker]]:
        for worker in self.master.workers if self.master else ():
            yield "master", "master", worker
        for node, worker in self.workers():
            tag = f"_{worker.tag}" if worker.tag else ""
            yield f"node {node}", f"{worker.kind}_{node:02d}_{worker.number:02d}{tag}", worker

    def _total_time(self) -> float:
        if not self.nodes:
            return 0.0
        first = min(found.start for found in self.nodes.values())
        return (max(found.end for found in self.nodes.values()) - first) / _NS_PER_S

    def _files(self) -> dict[int, Path]:
        files = {file.stem.removeprefix("profile_"): file for file in self.path.glob("profile_*")}
        return {
            int(node): file
            for node, file in files.items()
            if node.isdecimal() and file.suffix == ".bin"
        }

    def _read(self, name: str, *, master: bool = False) -> NodeFile | None:
        found = self._decoded(name, partial(read_node, master=master))
        self.problems += [f"{name}: {problem}" for problem in found.problems] if found else []
        return found

    def _decoded(self, name: str, decode: Callable[[bytes], _Decoded]) -> _Decoded | None:
        """Return what a file holds, or None if it is missing or damaged."""
        try:
            return decode(content(self.path / name))
        except FileNotFoundError:
            return None
        except (OSError, FormatError) as error:
            self.problems.append(f"{name}: {error}")
            return None


def _name(worker: ScannerWorker, key: int) -> str:
    return worker.names.get(key) or f"unknown key {key}"


#: BulkJobDescriptor, the bare protobuf message in ``descriptor.bin``.
_descriptor = message(
    JobDescriptor, (1, integer), (2, text), (3, integer), (4, integer), (5, integer)
)


def read_descriptor(content: bytes) -> JobDescriptor:
    """Read a descriptor; what else it holds is skipped.

    Raises:
        FormatError: If it breaks off, or is none.
    """
    try:
        return _descriptor(memoryview(content))
    except WireError as error:
        raise FormatError(str(error)) from error
