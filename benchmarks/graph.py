"""What putting performance events together costs: ours, and the way of Batch Shipyard's graph.py.

The input is what its table holds: a dictionary for each event, seven of each image on each node,
their ends in random order. Ours is measured from the rows to every node's sums; so is its way,
written again (``peer_graph``). Both must come to the same sums. At the largest size its way takes
up to half a minute, and is measured once.

A file is read in a process of its own, for the memory: from JSON lines to the same sums; start-up
of Python and imports are in its memory, not in its time.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum, isclose
from pathlib import Path

from benchmarks.peer_graph import put_together
from benchmarks.table import Figure, Size, run_program
from benchyard.show.shipyard.document import COLUMNS
from benchyard.show.shipyard.events import Intake
from benchyard.show.shipyard.nodes import Graph, assemble
from benchyard.show.shipyard.reading import read_rows

#: Nobody waits for it: what 100,000 events may take.
SECONDS = 5.0
MEGABYTES = 300.0
#: Images on each of 100 nodes to rounds of ours and of its way.
IMAGES = {100: (7, 3), 200: (7, 3), 400: (5, 2), 800: (7, 1)}
NODES = 100
#: Many nodes with few images each: 354,000 events.
MANY_NODES, FEW_IMAGES = 1000, 50
#: Eight times the images may take so much more time: linear, and as much for caches and garbage.
GROWTH = 8 * 2
#: The original, unchanged, on 2 cores of an Intel Xeon, as the rest of its figures: s.
_LITERATURE = {100: 0.301, 200: 0.88, 400: 2.97, 800: 10.19}
_ORIGINAL = "graph.py itself, other machine"

#: Reads a file, puts it together, and prints time and peak memory.
_READING = """
import sys, time
from pathlib import Path
from benchyard.show.shipyard.events import Intake
from benchyard.show.shipyard.nodes import assemble
from benchyard.show.shipyard.reading import read_source
from benchyard.show.shipyard.document import node_totals
start = time.perf_counter()
intake = Intake()
read_source(sys.argv[1], intake)
graph = assemble(intake)
dict(node_totals(graph.nodes))
took = time.perf_counter() - start
# Not getrusage: that begins with what the parent had.
[peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
print(took, int(peak.split()[1]) * 1024)
"""

Row = dict[str, str]


def measure(size: Size) -> list[Figure]:
    """Measure at four numbers of images on 100 nodes, then 1,000 nodes, then files."""
    figures: list[Figure] = []
    medians: list[float] = []
    nodes = size.of(NODES, 4)
    for images, (rounds, others) in IMAGES.items():
        few = size.of(images, images // 100)
        rows = list(_rows(nodes, few))
        figures += _compared(f"{nodes:,} nodes x {few:,} images", rows, (rounds, others), size)
        if not size.quick:
            figures.append(_literature(images))
        medians.append(figures_of(figures, "ours")[-1])
    figures.append(
        Figure("time at 800 images / at 100, ours", [medians[-1] / medians[0]], "", GROWTH)
    )
    theirs = figures_of(figures, "its way")
    figures.append(Figure("  its way", [theirs[-1] / theirs[0]], ""))
    many = list(_rows(size.of(MANY_NODES, 10), size.of(FEW_IMAGES, 2)))
    title = f"{size.of(MANY_NODES, 10):,} nodes x {size.of(FEW_IMAGES, 2):,} images"
    figures += _compared(title, many, (7, 2), size)
    return figures + _of_file(title, many, size.of(5))


def figures_of(figures: Sequence[Figure], whose: str) -> list[float]:
    """Return the medians of one side, in order of size."""
    return [one.value or 0.0 for one in figures if one.what.startswith(f"{whose}, ")]


def _compared(title: str, rows: list[Row], rounds: tuple[int, int], size: Size) -> list[Figure]:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(size.of(rounds[0], 1)):
        took, sums = _timed(_ours, rows)
        ours.append(took)
        if number < size.of(rounds[1], 1):
            took, others = _timed(_theirs, rows)
            theirs.append(took)
            _check(sums, others)
    what = f"{title}, {len(rows):,} events"
    return [
        Figure(f"ours, {what}", ours, limit=SECONDS * len(rows) / 1e5),
        Figure(f"its way, {what}", theirs),
        Figure("  its time / ours", [min(theirs) / min(ours)], ""),
    ]


def _literature(images: int) -> Figure:
    what = f"the original, {NODES} nodes x {images} images"
    return Figure(what, [_LITERATURE[images]], literature=_ORIGINAL)


def _timed(
    way: Callable[[list[Row]], dict[str, float]], rows: list[Row]
) -> tuple[float, dict[str, float]]:
    start = time.perf_counter()
    sums = way(rows)
    return time.perf_counter() - start, sums


def _ours(rows: list[Row]) -> dict[str, float]:
    intake = Intake()
    read_rows(rows, "table", intake)
    graph: Graph = assemble(intake)
    return {
        node.name: fsum(node.column(one) or 0.0 for one in COLUMNS.values()) for node in graph.nodes
    }


def _theirs(rows: list[Row]) -> dict[str, float]:
    timings, _ = put_together(rows)
    return {node: fsum(_shown(told)) for node, told in timings.items()}


def _shown(told: Mapping[str, float]) -> Iterator[float]:
    # The preparation is in the docker install already.
    yield from (length for name, length in told.items() if name != "nodeprep")


def _check(ours: Mapping[str, float], theirs: Mapping[str, float]) -> None:
    """Refuse to compare two that do not do the same.

    Raises:
        RuntimeError: If a node's sum differs by more than the rounding of its times.
    """
    for node, total in theirs.items():
        if not isclose(ours[node], total, rel_tol=1e-9, abs_tol=1e-2):
            raise RuntimeError(f"{node}: {ours[node]} s is not {total} s")


# -- files


def _of_file(title: str, rows: list[Row], rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        file = Path(made, "rows.jsonl")
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
        measured = [_read(file) for _ in range(rounds)]
        megabytes = file.stat().st_size / 1e6
    limit = SECONDS * len(rows) / 1e5
    what = f"{title}, {len(rows):,} events, {megabytes:,.0f} MB of JSON lines"
    return [
        Figure(f"file: {what}", [took for took, _ in measured], limit=limit),
        Figure("  its peak memory, MB", [peak / 1e6 for _, peak in measured], "", MEGABYTES),
    ]


def _read(file: Path) -> tuple[float, float]:
    command = [sys.executable, "-c", _READING, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    took, peak = map(float, ended.stdout.split())
    return took, peak


# -- rows


def _rows(nodes: int, images: int) -> Iterator[Row]:
    chance = random.Random(1)  # noqa: S311 - no secret
    for number in range(nodes):
        node = f"tvm-1392786932_{number}-20161118t193523z"
        start = 1_479_497_723.25 + 3.7 * number
        told: list[tuple[float, str, str | None]] = [
            (start, "nodeprep:start", "offer=ubuntuserver,sku=16.04.0-lts"),
            (start + 120.5, "nodeprep:end", None),
            (start + 121, "cascade:start", None),
            (start + 1200, "cascade:gr-done", f"nglobalresources={images}"),
        ]
        for image in range(images):
            told += _image(f"registry.example.com/team/image-{image:04d}:latest", start, chance)
        for at, event, message in sorted(told, key=lambda one: one[0]):
            row = {"PartitionKey": "batch$pool", "RowKey": str(at), "NodeId": node, "Event": event}
            yield row if message is None else {**row, "Message": message}


def _image(
    name: str, node_start: float, chance: random.Random
) -> Iterator[tuple[float, str, str | None]]:
    length = round(chance.uniform(5, 60), 6)
    start = round(node_start + 122 + chance.uniform(0, 900), 6)
    end, size = start + length, chance.randrange(10**6, 10**9)
    pulled = f"img={name},diff={length},size={size // 10**5 / 10} MB"
    yield start, "cascade:pull-start", f"img={name}"
    yield end + 0.1, "cascade:pull-end", pulled
    yield end + 0.2, "cascade:save-start", f"img={name}"
    yield end + 10.1, "cascade:save-end", f"img={name},size={size},diff=9.87654"
    yield end + 11, "cascade:torrent-start", f"img={name}"
    yield end + 20, "cascade:load-start", f"img={name},size={size}"
    yield end + 25, "cascade:load-end", f"img={name},diff=4.98765"


if __name__ == "__main__":
    run_program(__doc__, measure)
