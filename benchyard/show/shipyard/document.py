"""Nodes and runs as one JSON document, format ``benchyard-graph``; and as columns for gnuplot.

Times are ISO 8601 in UTC, lengths seconds, sizes bytes. What was told is not rounded; differences
of times are to the microsecond. Null is what is unfinished or was not told, never zero.

sources: what was read, as the user wrote it.
read: rows and events; unreadable of them, with problems in words (the first ones); unknown events
  by name; other_pools: rows of partitions that were not asked for; ends_without_start.
nodes: each preparation of a node, in order of time, with
  node, pool, nth (of its preparations), started_at, ready_at, finished,
  unfinished (what is, in words), offer, sku, nglobalresources where they were told.
  preparation_s: all of it. The four columns of Batch Shipyard: docker_install_s,
    private_registry_s, container_pull_s, global_resources_s.
  segments_s: the same time without what overlaps, as it is drawn; an unfinished phase counts
    until the last that was seen, but for what finished ones have.
  pull, save, load, torrent: total_s (of what is finished), finished, unfinished, bytes, images:
    image, started_at, duration_s, size_bytes, given_up (unfinished, but done again or otherwise).
  acquisition_s: pulls, torrents and loads together.
runs: each run of ours, with run, case, host, outcome, started_at, finished, unfinished,
  duration_s, phases_s (initialize, pull, start, ready, step, stop; none is 0), segments_s (run is
  what is in no phase), and steps, phases and pulls as spans: what, name, started_at, duration_s,
  size_bytes, given_up.
images: of all nodes, what took longest first: image, operation, finished, unfinished, size_bytes
  (the largest that was told), total_s, mean_s, least_s, most_s.
totals: nodes and runs: column to count, missing, total_s, mean_s, least_s, most_s. starts and
  ready: count, first, last, spread_s (which the original calls a variance), variance_s2 (of the
  sample).

Versions of the format:
1: the first.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from statistics import fmean, variance
from typing import Any

from benchyard.core.model import Json, JsonObject
from benchyard.show.shipyard.events import IMAGE_WORK, NODE_PHASES, RUN_PHASES, Operation
from benchyard.show.shipyard.matching import DIGITS, Span, between
from benchyard.show.shipyard.nodes import Graph, Node, summed

#: First line of a ``.dat``. Source: Azure/batch-shipyard, cascade/graph.py (graph_data).
_DAT_HEADER = (
    "NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup ShipyardContainerPull "
    "GlobalResourcesLoad TotalPull TotalSave TotalLoad TotalTorrent"
)
#: Operations that have a column, in the order of the original's ``.dat``, by the column's name.
COLUMNS = {op.value.replace("preparation", "docker_install"): op for op in NODE_PHASES + IMAGE_WORK}
#: Figures of several lengths.
LENGTHS = ("total_s", "mean_s", "least_s", "most_s")
#: What getting images took altogether, as the original adds it up.
_ACQUISITION = (Operation.PULL, Operation.TORRENT, Operation.LOAD)


def document(graph: Graph, sources: Sequence[str]) -> JsonObject:
    """Return the document.

    Args:
        sources: What was read, as the user wrote it.
    """
    nodes, runs, read = graph.nodes, graph.runs, graph.read
    return {
        "format": "benchyard-graph",
        "version": 1,
        "sources": list(sources),
        "read": {
            "rows": read.taken,
            "unreadable": read.unreadable,
            "problems": list(read.problems),
            "unknown": dict(sorted(read.unknown.items())),
            "other_pools": dict(sorted(read.other_pools.items())),
            "ends_without_start": graph.strays,
        },
        "nodes": [_node(node) for node in nodes],
        "runs": [_run(run) for run in runs],
        "images": list(images(nodes)),
        "totals": {
            "nodes": dict(node_totals(nodes)),
            "runs": dict(run_totals(runs)),
            "starts": spread(node.start for node in nodes),
            "ready": spread(node.ready_at for node in nodes),
        },
    }


def _node(node: Node) -> JsonObject:
    return {
        "node": node.name,
        **_bar(node),
        "ready_at": _iso(node.ready_at),
        "preparation_s": node.length(Operation.PREPARATION),
        **{f"{name}_s": node.column(op) for name, op in COLUMNS.items() if op in NODE_PHASES},
        **{operation.value: _work(node.of(operation)) for operation in IMAGE_WORK},
        "acquisition_s": node.total(*_ACQUISITION),
    }


def _bar(bar: Node) -> JsonObject:
    return {
        **bar.facts,
        "pool": bar.pool or None,
        "nth": bar.nth,
        "started_at": _iso(bar.start),
        "finished": bar.is_finished,
        "unfinished": list[Json](bar.unfinished),
        "segments_s": {op.value: round(sum(one), DIGITS) for op, one in bar.segments().items()},
    }


def _iso(at: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 in UTC, with microseconds."""
    return (
        None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    )


def _work(spans: Sequence[Span]) -> JsonObject:
    return {
        "total_s": summed(spans),
        "finished": sum(span.duration is not None for span in spans),
        "unfinished": sum(span.is_open for span in spans),
        "bytes": sum(span.size or 0 for span in spans),
        "images": [{"image": span.name, **_span(span)} for span in spans],
    }


def _span(span: Span) -> JsonObject:
    return {
        "started_at": _iso(span.start),
        "duration_s": span.duration,
        "size_bytes": span.size,
        "given_up": span.superseded,
    }


def _run(run: Node) -> JsonObject:
    return {
        **_bar(run),
        "duration_s": run.length(Operation.RUN),
        "phases_s": {op.value: run.optional(op) for op in RUN_PHASES},
        "spans": [
            {"what": op.value, "name": span.name, **_span(span)}
            for op, spans in run.spans.items()
            if op is not Operation.RUN
            for span in spans
        ],
    }


# -- figures over all of them


def node_totals(nodes: Sequence[Node]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each column, and of getting images altogether."""
    for name, operation in COLUMNS.items():
        yield name, _counted(node.column(operation) for node in nodes)
    yield "acquisition", _counted(node.total(*_ACQUISITION) for node in nodes)


def run_totals(runs: Sequence[Node]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each phase of our runs, and of the whole of them."""
    for operation in (*RUN_PHASES, Operation.RUN):
        yield operation.value, _counted(run.optional(operation) for run in runs)


def _counted(values: Iterable[float | None]) -> dict[str, Any]:
    """Return the figures of those that are known, and how many are not: unfinished or not told."""
    every = list(values)
    known = [value for value in every if value is not None]
    figures = (math.fsum(known), fmean(known), min(known), max(known)) if known else (None,) * 4
    lengths = dict(zip(LENGTHS, figures, strict=True))
    return {"count": len(known), "missing": len(every) - len(known), **lengths}


def spread(times: Iterable[float | None]) -> dict[str, Any]:
    """Return how far instants are apart, seconds since 1970; None is not known."""
    known = sorted(at for at in times if at is not None)
    # Near zero there are more digits than at seconds since 1970.
    passed = [at - known[0] for at in known]
    return {
        "count": len(known),
        "first": _iso(known[0]) if known else None,
        "last": _iso(known[-1]) if known else None,
        "spread_s": between(known[0], known[-1]) if known else None,
        "variance_s2": variance(passed) if len(passed) > 1 else None,
    }


def images(nodes: Iterable[Node]) -> list[dict[str, Any]]:
    """Return the figures of each image and operation, what took longest first."""
    groups = defaultdict[tuple[str, Operation], list[Span]](list)
    for node, operation in product(nodes, IMAGE_WORK):
        for span in node.of(operation):
            groups[span.name, operation].append(span)
    found = [_image(*group, spans) for group, spans in groups.items()]
    return sorted(found, key=lambda one: (-one["total_s"], one["image"], one["operation"]))


def _image(image: str, operation: Operation, spans: Sequence[Span]) -> dict[str, Any]:
    figures = _counted(span.duration for span in spans)
    return {
        "image": image,
        "operation": operation.value,
        "finished": figures["count"],
        "unfinished": sum(span.is_open for span in spans),
        "size_bytes": max((s.size for s in spans if s.size is not None), default=None),
        **{name: figures[name] for name in LENGTHS},
        "total_s": summed(spans),
    }


# -- columns for gnuplot


def dat(graph: Graph) -> str:
    """Return a line for each bar in order of its start, in the columns of Batch Shipyard's.

    What is unfinished or was not told is ``nan``, which gnuplot takes for missing: a sum that lacks
    a part is none. Of a run of ours the columns hold what is exported of it for Batch Shipyard:
    until its resources are initialized for the preparation, initializing them for the global
    resources.
    """
    bars = sorted((*graph.nodes, *graph.runs), key=lambda bar: (bar.start, bar.label, bar.pool))
    return "\n".join([_DAT_HEADER, *map(_dat_line, bars)]) + "\n"


def _dat_line(node: Node) -> str:
    start = datetime.fromtimestamp(node.start, UTC).strftime("%Y-%m-%d-%H:%M:%S.%f")
    # Columns are parted by spaces, and a quotation mark would join two of them.
    name = re.sub(r"[\s\"\x00-\x1f\x7f]+", "_", node.label)
    cells = ((node.column(operation), operation in IMAGE_WORK) for operation in COLUMNS.values())
    # As the original writes them: images with five decimals, the others as they are.
    texts = ("nan" if n is None else f"{n:.5f}" if is_image else str(n) for n, is_image in cells)
    return " ".join((start, name, *texts))
