"""Sums, averages and spreads over all nodes, and figures of each image."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from statistics import variance

import numpy as np

from benchyard.show.shipyard.ledger import Booleans, Floats, Integers
from benchyard.show.shipyard.nodes import IMAGE_WORK, RUN_PHASES, Node
from benchyard.show.shipyard.sizes import NO_SIZE
from benchyard.show.shipyard.spans import Operation, between

#: Name of a column to its value, for nodes; the order of the original's ``.dat``.
COLUMNS: Mapping[str, Callable[[Node], float | None]] = {
    "docker_install": lambda node: node.install,
    "private_registry": lambda node: node.optional(Operation.REGISTRY),
    "container_pull": lambda node: node.optional(Operation.CONTAINER),
    "global_resources": lambda node: node.resources,
    "pull": lambda node: node.total(Operation.PULL),
    "save": lambda node: node.total(Operation.SAVE),
    "load": lambda node: node.total(Operation.LOAD),
    "torrent": lambda node: node.total(Operation.TORRENT),
}
#: What getting images took altogether, as the original adds it up.
_ACQUISITION = (Operation.PULL, Operation.TORRENT, Operation.LOAD)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one column over all nodes; of those that have a value.

    Args:
        count: How many have one.
        missing: How many have none: unfinished, or not told.
        total: Seconds, as are the others; None where nothing has a value.
    """

    count: int
    missing: int
    total: float | None
    mean: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """How far apart in time something happened on all nodes.

    Args:
        first: Seconds since 1970, as is ``last``; None where it happened nowhere.
        variance: Of the sample (s²); None for fewer than two.
    """

    count: int
    first: float | None
    last: float | None
    variance: float | None

    @property
    def seconds(self) -> float | None:
        """From the first to the last (s); the original calls that of the starts a variance."""
        if self.first is None or self.last is None:
            return None
        return between(self.first, self.last)


@dataclass(frozen=True, slots=True)
class ImageFigures:
    """What was done with one image in one way, on all nodes.

    Args:
        bytes: The largest size that was told; None where none was.
        total: Seconds; the others are of what was finished, None where nothing was.
    """

    image: str
    operation: Operation
    done: int
    open: int
    bytes: int | None
    total: float
    mean: float | None
    least: float | None
    most: float | None


def acquisition(node: Node) -> float | None:
    """Return how long getting images took: pulls, torrents and loads (s)."""
    parts = [node.total(operation) for operation in _ACQUISITION]
    known = [part for part in parts if part is not None]
    return fsum(known) if len(known) == len(parts) else None


def column_figures(nodes: Sequence[Node]) -> dict[str, Figures]:
    """Return the figures of each column, and of getting images altogether."""
    columns = {**COLUMNS, "acquisition": acquisition}
    return {name: figures(value(node) for node in nodes) for name, value in columns.items()}


def run_figures(runs: Sequence[Node]) -> dict[str, Figures]:
    """Return the figures of each phase of our runs, and of the whole of them."""
    phases = (*RUN_PHASES, Operation.RUN)
    return {op.value: figures(phase(run, op) for run in runs) for op in phases}


def phase(run: Node, operation: Operation) -> float | None:
    """Return how much of the clock a phase of a run took (s): 0 where there was none of it."""
    if operation is Operation.RUN:
        return run.length(operation)
    return run.optional(operation)


def figures(values: Iterable[float | None]) -> Figures:
    """Return the figures of some values."""
    every = list(values)
    known = [value for value in every if value is not None]
    missing = len(every) - len(known)
    if not known:
        return Figures(0, missing, None, None, None, None)
    total = fsum(known)
    return Figures(len(known), missing, total, total / len(known), min(known), max(known))


def spread_of_starts(nodes: Iterable[Node]) -> Spread:
    """Return how far apart the nodes' preparations began."""
    return _spread([node.start for node in nodes])


def spread_of_ready(nodes: Iterable[Node]) -> Spread:
    """Return how far apart the nodes were ready."""
    times = [node.ready_at for node in nodes]
    return _spread([at for at in times if at is not None])


def _spread(times: Sequence[float]) -> Spread:
    if not times:
        return Spread(0, None, None, None)
    first = min(times)
    # Near zero there are more digits than at seconds since 1970.
    passed = [at - first for at in times]
    spread = variance(passed) if len(passed) > 1 else None
    return Spread(len(times), first, max(times), spread)


def image_figures(nodes: Iterable[Node]) -> list[ImageFigures]:
    """Return the figures of each image and operation, what took longest first."""
    of: dict[Operation, list[Node]] = {op: [] for op in IMAGE_WORK}
    for node in nodes:
        for operation in node.work:
            of[operation].append(node)
    found = [one for op in IMAGE_WORK for one in _of_operation(op, of[op])]
    return sorted(found, key=lambda one: (-one.total, one.image, one.operation))


def _of_operation(operation: Operation, nodes: Sequence[Node]) -> list[ImageFigures]:
    if not nodes:
        return []
    parts = [node.work[operation].moved for node in nodes]
    image = np.concatenate([part.image for part in parts])
    length = np.concatenate([part.length for part in parts])
    size = np.concatenate([part.size for part in parts])
    given_up = np.concatenate([part.superseded for part in parts])
    # By length, too, so that sums do not depend on the order in which events came.
    order = np.lexsort((length, image))
    image, length, size, given_up = image[order], length[order], size[order], given_up[order]
    edges = np.flatnonzero(np.diff(image, prepend=-1, append=-2)).tolist()
    names = nodes[0].work[operation].names
    return [
        _of_image(
            names[int(image[low])],
            operation,
            length[low:high],
            size[low:high],
            given_up[low:high],
        )
        for low, high in pairwise(edges)
    ]


def _of_image(
    image: str, operation: Operation, length: Floats, size: Integers, given_up: Booleans
) -> ImageFigures:
    known = length[~np.isnan(length)].tolist()
    largest = int(size.max())
    return ImageFigures(
        image,
        operation,
        done=len(known),
        open=int(np.count_nonzero(np.isnan(length) & ~given_up)),
        bytes=None if largest == NO_SIZE else largest,
        total=fsum(known),
        mean=fsum(known) / len(known) if known else None,
        least=min(known, default=None),
        most=max(known, default=None),
    )
