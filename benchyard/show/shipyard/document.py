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
images: of all nodes, what took longest first: image, operation, finished, unfinished, size_bytes,
  total_s, mean_s, least_s, most_s.
totals: nodes and runs: column to count, missing, total_s, mean_s, least_s, most_s. starts and
  ready: count, first, last, spread_s, variance_s2 (of the sample).

Versions of the format:
1: the first.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from benchyard.core.model import Json, JsonObject
from benchyard.show.shipyard import totals
from benchyard.show.shipyard.events import IMAGE_WORK, NODE_PHASES, RUN_PHASES, Operation
from benchyard.show.shipyard.matching import DIGITS, Span
from benchyard.show.shipyard.nodes import BarKind, Graph, Node, finished, summed

FORMAT = "benchyard-graph"
VERSION = 1
#: First line of a ``.dat``. Source: Azure/batch-shipyard, cascade/graph.py (graph_data).
_DAT_HEADER = (
    "NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup ShipyardContainerPull "
    "GlobalResourcesLoad TotalPull TotalSave TotalLoad TotalTorrent"
)


def document(graph: Graph, sources: Sequence[str]) -> JsonObject:
    """Return the document.

    Args:
        sources: What was read, as the user wrote it.
    """
    nodes, runs, read = graph.of(BarKind.NODE), graph.of(BarKind.RUN), graph.read
    return {
        "format": FORMAT,
        "version": VERSION,
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
        "images": [asdict(one) for one in totals.image_figures(nodes)],
        "totals": {
            "nodes": {name: asdict(one) for name, one in totals.column_figures(nodes).items()},
            "runs": {name: asdict(one) for name, one in totals.run_figures(runs).items()},
            "starts": _spread(totals.spread(node.start for node in nodes)),
            "ready": _spread(totals.spread(node.ready_at for node in nodes)),
        },
    }


def iso(at: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 in UTC, with microseconds."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def _node(node: Node) -> JsonObject:
    columns = list(totals.COLUMNS.items())[: len(NODE_PHASES)]
    return {
        "node": node.name,
        "pool": node.pool or None,
        "nth": node.nth,
        **node.facts,
        **_times(node),
        "ready_at": iso(node.ready_at),
        "preparation_s": node.length(Operation.PREPARATION),
        **{f"{name}_s": node.column(operation) for name, operation in columns},
        **_segments(node),
        **{operation.value: _work(node.of(operation)) for operation in IMAGE_WORK},
        "acquisition_s": totals.acquisition(node),
    }


def _times(node: Node) -> JsonObject:
    return {
        "started_at": iso(node.start),
        "finished": node.is_finished,
        "unfinished": list[Json](node.unfinished),
    }


def _segments(node: Node) -> JsonObject:
    return {
        "segments_s": {op.value: round(sum(one), DIGITS) for op, one in node.segments().items()}
    }


def _work(spans: Sequence[Span]) -> JsonObject:
    return {
        "total_s": summed(spans),
        "finished": len(finished(spans)),
        "unfinished": sum(span.is_open for span in spans),
        "bytes": sum(span.size or 0 for span in spans),
        "images": [{"image": span.name, **_span(span)} for span in spans],
    }


def _span(span: Span) -> JsonObject:
    return {
        "started_at": iso(span.start),
        "duration_s": span.duration,
        "size_bytes": span.size,
        "given_up": span.superseded,
    }


def _run(run: Node) -> JsonObject:
    return {
        **run.facts,
        "pool": run.pool or None,
        "nth": run.nth,
        **_times(run),
        "duration_s": run.length(Operation.RUN),
        "phases_s": {op.value: run.optional(op) for op in RUN_PHASES},
        **_segments(run),
        "spans": [
            {"what": op.value, "name": span.name, **_span(span)}
            for op, spans in run.spans.items()
            if op is not Operation.RUN
            for span in spans
        ],
    }


def _spread(spread: totals.Spread) -> JsonObject:
    return asdict(spread) | {"first": iso(spread.first), "last": iso(spread.last)}


# -- columns for gnuplot


def dat(nodes: Sequence[Node]) -> str:
    """Return a line for each node in order of its start, in the columns of Batch Shipyard's.

    What is unfinished or was not told is ``nan``, which gnuplot takes for missing: a sum that lacks
    a part is none. Of a run of ours the columns hold what is exported of it for Batch Shipyard:
    until its resources are initialized for the preparation, initializing them for the global
    resources.
    """
    return "\n".join([_DAT_HEADER, *map(_line, nodes)]) + "\n"


def _line(node: Node) -> str:
    start = datetime.fromtimestamp(node.start, UTC).strftime("%Y-%m-%d-%H:%M:%S.%f")
    # Columns are parted by spaces, and a quotation mark would join two of them.
    name = re.sub(r"[\s\"\x00-\x1f\x7f]+", "_", node.label)
    return " ".join((start, name, *(_cell(node, op) for op in totals.COLUMNS.values())))


def _cell(node: Node, operation: Operation) -> str:
    value = node.column(operation)
    if value is None or not math.isfinite(value):
        return "nan"
    # As the original writes them: images with five decimals, the others as they are.
    return f"{value:.5f}" if operation in IMAGE_WORK else str(value)
