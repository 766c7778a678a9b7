"""From what was taken in to nodes and runs."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from benchyard.show.shipyard import vocabulary as events
from benchyard.show.shipyard.intake import Intake
from benchyard.show.shipyard.joining import Moved, join
from benchyard.show.shipyard.matching import match
from benchyard.show.shipyard.nodes import Kind, Node, Work
from benchyard.show.shipyard.spans import Operation, Span
from benchyard.show.shipyard.tables import Told

#: What a node does once, by its events.
_ONCE = (
    (Operation.PREPARATION, events.NODE_START, events.NODE_END),
    (Operation.REGISTRY, events.REGISTRY_START, events.REGISTRY_END),
    (Operation.CONTAINER, events.CONTAINER_START, events.CONTAINER_END),
    (Operation.RESOURCES, events.CASCADE_START, events.CASCADE_END),
)
#: What it does with each image.
_IMAGES = (
    (Operation.PULL, events.PULL_START, events.PULL_END),
    (Operation.SAVE, events.SAVE_START, events.SAVE_END),
    (Operation.LOAD, events.LOAD_START, events.LOAD_END),
    (Operation.TORRENT, events.TORRENT_START, events.LOAD_START),
)
#: What our runs call what they do, where that is not the operation's name.
_OURS = {"attempt": Operation.STEP}


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes and runs, in order of their start, and what was left out.

    Args:
        taken: Number of rows and events.
        unreadable: How many of them were left out.
        problems: Why, the first of them in words.
        unknown: Events that nothing is known of, by name, and how many there were.
        other_pools: Partitions that were not asked for, and how many rows they have.
        strays: How many ends have neither start nor length.
    """

    nodes: tuple[Node, ...]
    taken: int
    unreadable: int
    problems: tuple[str, ...]
    unknown: Mapping[str, int]
    other_pools: Mapping[str, int]
    strays: int

    def of(self, kind: Kind) -> list[Node]:
        """Return the nodes, or the runs."""
        return [node for node in self.nodes if node.kind is kind]


def assemble(intake: Intake) -> Graph:
    """Match starts with ends, and put what belongs to one node together."""
    moved = {op: join(*map(intake.ledger.columns, names)) for op, *names in _IMAGES}
    moved[Operation.TORRENT] = _without_pulled(moved[Operation.TORRENT], moved[Operation.PULL])
    strays = sum(sum(one.strays.values()) for op, one in moved.items() if op is not _IMAGES[3][0])
    found = list[Node]()
    for node, alone in _nodes(intake, moved):
        found += node
        strays += alone
    for node, alone in _runs(intake):
        found += node
        strays += alone
    return Graph(
        tuple(sorted(found, key=lambda node: (node.start, node.label, node.pool))),
        intake.taken,
        intake.unreadable,
        tuple(intake.problems),
        dict(sorted(intake.unknown.items())),
        dict(sorted(intake.other_pools.items())),
        strays,
    )


def _without_pulled(torrents: Moved, pulls: Moved) -> Moved:
    """Take torrents that never came to loading as given up where the image was pulled instead."""
    waiting = np.flatnonzero(np.isnan(torrents.length))
    if not len(waiting):
        return torrents
    pulled = set(zip(pulls.node.tolist(), pulls.image.tolist(), strict=True))
    superseded = torrents.superseded.copy()
    for place in waiting.tolist():
        superseded[place] |= (int(torrents.node[place]), int(torrents.image[place])) in pulled
    return replace(torrents, superseded=superseded)


def _nodes(intake: Intake, moved: Mapping[Operation, Moved]) -> Iterator[tuple[list[Node], int]]:
    """Yield the preparations of each node, and the number of its ends without a start."""
    edges = np.arange(len(intake.nodes) + 1)
    bounds = {op: np.searchsorted(one.node, edges).tolist() for op, one in moved.items()}
    for number, told in enumerate(intake.nodes):
        work = {
            op: Work(intake.ledger.images.names, one.part(*bounds[op][number : number + 2]))
            for op, one in moved.items()
            if bounds[op][number] < bounds[op][number + 1]
        }
        spans, strays = dict[Operation, list[Span]](), 0
        for operation, start, end in _ONCE:
            found, alone = _match(told, start, end)
            strays += alone
            if found:
                spans[operation] = found
        if spans or work:
            name = told.node
            whole = Node(Kind.NODE, name, told.pool, 1, spans, work, told.facts)
            yield _parted(whole, Operation.PREPARATION), strays
        else:
            yield [], strays


def _match(told: Told, start: str, end: str) -> tuple[list[Span], int]:
    """Match what a node does once; ends do not tell of which of several starts they are."""
    starts, ends = told.starts.get(start, {}), told.ends.get(end, {})
    if not (starts or ends):
        return [], 0
    every = [at for times in starts.values() for at in times]
    spans, strays = match({"": every} if every else {}, ends)
    if len(spans) == 1:
        return spans, strays
    # Begun again is only what began in the same mode: docker's cascade is not singularity's.
    last = {mode: max(times) for mode, times in starts.items()}
    mode_of = {at: mode for mode, times in starts.items() for at in times}
    named = [span._replace(name=mode_of.get(span.start, "")) for span in spans]
    return [
        span._replace(superseded=span.duration is None and span.start < last[span.name])
        for span in sorted(named, key=lambda span: (span.start, span.name))
    ], strays


def _runs(intake: Intake) -> Iterator[tuple[list[Node], int]]:
    exported = {(told.pool, told.node) for told in intake.nodes if told.starts}
    # Runs that were exported in Batch Shipyard's form are nodes already.
    runs = [t for t in intake.runs.values() if (t.pool, t.node) not in exported]
    hosts, folders = {told.node for told in runs}, {told.pool for told in runs}
    for told in runs:
        spans, strays = dict[Operation, list[Span]](), 0
        for what in events.OURS:
            starts, ends = told.starts.get(what, {}), told.ends.get(what, {})
            if starts or ends:
                found, alone = match(starts, ends)
                strays += alone
                spans[_OURS.get(what) or Operation(what)] = sorted(
                    found, key=lambda span: (span.start, span.name)
                )
        name = f"{told.case} run {told.run}" + (f" on {told.node}" if len(hosts) > 1 else "")
        name += f" in {told.pool}" if len(folders) > 1 else ""
        facts = {"case": told.case, "run": told.run, "host": told.node, **told.facts}
        yield _parted(Node(Kind.RUN, name, told.pool, 1, spans, {}, facts), Operation.RUN), strays


def _parted(whole: Node, opening: Operation) -> list[Node]:
    """Part a node that was prepared several times: each preparation has what began after it."""
    starts = sorted({span.start for span in whole.spans.get(opening, ())})
    if len(starts) < 2:
        return [whole]
    edges = [-math.inf, *starts[1:], math.inf]
    parts = list[Node]()
    for nth, (first, last) in enumerate(pairwise(edges), 1):
        spans = {
            op: inside
            for op, spans in whole.spans.items()
            if (inside := [span for span in spans if first <= span.start < last])
        }
        work = {
            op: inside
            for op, one in whole.work.items()
            if len((inside := one.part(first, last)).moved.node)
        }
        parts.append(replace(whole, nth=nth, spans=spans, work=work))
    return parts
