"""Nodes and runs as one JSON document, format ``benchyard-graph``.

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

from collections.abc import Sequence
from datetime import UTC, datetime

from benchyard.core.model import Json, JsonObject
from benchyard.show.shipyard.assembling import Graph
from benchyard.show.shipyard.nodes import IMAGE_WORK, RUN_PHASES, Kind, Node, Work
from benchyard.show.shipyard.spans import Operation, Span
from benchyard.show.shipyard.totals import (
    COLUMNS,
    Figures,
    ImageFigures,
    Spread,
    acquisition,
    column_figures,
    image_figures,
    phase,
    run_figures,
    spread_of_ready,
    spread_of_starts,
)

FORMAT = "benchyard-graph"
VERSION = 1
#: Columns that are not of images: those are told with their sum.
_PHASES = ("docker_install", "private_registry", "container_pull", "global_resources")


def document(graph: Graph, sources: Sequence[str]) -> JsonObject:
    """Return the document.

    Args:
        sources: What was read, as the user wrote it.
    """
    nodes, runs = graph.of(Kind.NODE), graph.of(Kind.RUN)
    return {
        "format": FORMAT,
        "version": VERSION,
        "sources": list(sources),
        "read": {
            "rows": graph.taken,
            "unreadable": graph.unreadable,
            "problems": list(graph.problems),
            "unknown": dict(graph.unknown),
            "other_pools": dict(graph.other_pools),
            "ends_without_start": graph.strays,
        },
        "nodes": [_node(node) for node in nodes],
        "runs": [_run(run) for run in runs],
        "images": [_image(one) for one in image_figures(nodes)],
        "totals": {
            "nodes": _figures(column_figures(nodes)),
            "runs": _figures(run_figures(runs)),
            "starts": _spread(spread_of_starts(nodes)),
            "ready": _spread(spread_of_ready(nodes)),
        },
    }


def iso(at: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 in UTC, with microseconds."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def _node(node: Node) -> JsonObject:
    told: JsonObject = {
        "node": node.name,
        "pool": node.pool or None,
        "nth": node.nth,
        **node.facts,
        **_times(node),
        "ready_at": iso(node.ready_at),
        "preparation_s": node.length(Operation.PREPARATION),
    }
    told |= {f"{name}_s": COLUMNS[name](node) for name in _PHASES}
    told["segments_s"] = {op.value: one.total for op, one in node.segments().items()}
    told |= {op.value: _work(node.work.get(op)) for op in IMAGE_WORK}
    told["acquisition_s"] = acquisition(node)
    return told


def _times(node: Node) -> JsonObject:
    return {
        "started_at": iso(node.start),
        "finished": node.is_finished,
        "unfinished": list[Json](node.unfinished),
    }


def _work(work: Work | None) -> JsonObject:
    if work is None:
        return {"total_s": 0.0, "finished": 0, "unfinished": 0, "bytes": 0, "images": []}
    return {
        "total_s": work.total,
        "finished": work.done,
        "unfinished": work.open,
        "bytes": work.bytes,
        "images": [{"image": span.name, **_span(span)} for span in work.spans()],
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
        "phases_s": {op.value: phase(run, op) for op in RUN_PHASES},
        "segments_s": {op.value: one.total for op, one in run.segments().items()},
        "spans": [
            {"what": op.value, "name": span.name, **_span(span)}
            for op, spans in run.spans.items()
            if op is not Operation.RUN
            for span in spans
        ],
    }


def _image(one: ImageFigures) -> JsonObject:
    return {
        "image": one.image,
        "operation": one.operation.value,
        "finished": one.done,
        "unfinished": one.open,
        "size_bytes": one.bytes,
        "total_s": one.total,
        "mean_s": one.mean,
        "least_s": one.least,
        "most_s": one.most,
    }


def _figures(columns: dict[str, Figures]) -> JsonObject:
    return {
        name: {
            "count": one.count,
            "missing": one.missing,
            "total_s": one.total,
            "mean_s": one.mean,
            "least_s": one.least,
            "most_s": one.most,
        }
        for name, one in columns.items()
    }


def _spread(spread: Spread) -> JsonObject:
    return {
        "count": spread.count,
        "first": iso(spread.first),
        "last": iso(spread.last),
        "spread_s": spread.seconds,
        "variance_s2": spread.variance,
    }
