"""Sums, averages and spreads over all nodes, and figures of each image."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import variance

from benchyard.show.shipyard.events import IMAGE_WORK, NODE_PHASES, RUN_PHASES, Operation
from benchyard.show.shipyard.matching import Span, between
from benchyard.show.shipyard.nodes import Node

#: Operations that have a column, in the order of the original's ``.dat``, by the column's name.
COLUMNS = {op.value.replace("preparation", "docker_install"): op for op in NODE_PHASES + IMAGE_WORK}
#: What getting images took altogether, as the original adds it up.
_ACQUISITION = (Operation.PULL, Operation.TORRENT, Operation.LOAD)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one column over the nodes that have a value.

    Args:
        count: How many have one.
        missing: How many have none: unfinished, or not told.
        total_s: Seconds, as are the others; None where nothing has a value.
    """

    count: int
    missing: int
    total_s: float | None = None
    mean_s: float | None = None
    least_s: float | None = None
    most_s: float | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread over time of an event on all nodes.

    Args:
        first: Seconds since 1970, as is ``last``; None where it happened nowhere.
        spread_s: From the first to the last; the original calls that of the starts a variance.
        variance_s2: Of the sample (s²); None for fewer than two.
    """

    count: int
    first: float | None = None
    last: float | None = None
    spread_s: float | None = None
    variance_s2: float | None = None


@dataclass(frozen=True, slots=True)
class ImageFigures:
    """Figures of one operation on one image, over all nodes.

    Args:
        size_bytes: The largest size that was told; None where none was.
        total_s: Seconds; the others are of what was finished, None where nothing was.
    """

    image: str
    operation: Operation
    finished: int
    unfinished: int
    size_bytes: int | None
    total_s: float
    mean_s: float | None
    least_s: float | None
    most_s: float | None


def acquisition(node: Node) -> float | None:
    """Return how long getting images took: pulls, torrents and loads (s)."""
    parts = figures(node.total(operation) for operation in _ACQUISITION)
    return None if parts.missing else parts.total_s


def column_figures(nodes: Sequence[Node]) -> dict[str, Figures]:
    """Return the figures of each column, and of getting images altogether."""
    found = {name: figures(node.column(op) for node in nodes) for name, op in COLUMNS.items()}
    return found | {"acquisition": figures(map(acquisition, nodes))}


def run_figures(runs: Sequence[Node]) -> dict[str, Figures]:
    """Return the figures of each phase of our runs, and of the whole of them."""
    phases = (*RUN_PHASES, Operation.RUN)
    return {op.value: figures(run.optional(op) for run in runs) for op in phases}


def figures(values: Iterable[float | None]) -> Figures:
    """Return the figures of some values."""
    every = list(values)
    known = [value for value in every if value is not None]
    if not known:
        return Figures(0, len(every))
    total, missing = fsum(known), len(every) - len(known)
    return Figures(len(known), missing, total, total / len(known), min(known), max(known))


def spread(times: Iterable[float | None]) -> Spread:
    """Return the spread of the known instants, seconds since 1970."""
    known = [at for at in times if at is not None]
    if not known:
        return Spread(0)
    first, last = min(known), max(known)
    # Near zero there are more digits than at seconds since 1970.
    passed = [at - first for at in known]
    squares = variance(passed) if len(passed) > 1 else None
    return Spread(len(known), first, last, between(first, last), squares)


def image_figures(nodes: Iterable[Node]) -> list[ImageFigures]:
    """Return the figures of each image and operation, what took longest first."""
    spans = defaultdict[tuple[str, Operation], list[Span]](list)
    for node in nodes:
        for operation in IMAGE_WORK:
            for span in node.of(operation):
                spans[span.name, operation].append(span)
    found = [_of_image(*which, some) for which, some in spans.items()]
    return sorted(found, key=lambda one: (-one.total_s, one.image, one.operation))


def _of_image(image: str, operation: Operation, spans: Sequence[Span]) -> ImageFigures:
    known = figures(span.duration for span in spans)
    return ImageFigures(
        image,
        operation,
        known.count,
        sum(span.is_open for span in spans),
        max((span.size for span in spans if span.size is not None), default=None),
        known.total_s or 0.0,
        known.mean_s,
        known.least_s,
        known.most_s,
    )
