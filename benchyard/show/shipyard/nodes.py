"""Nodes and runs: their phases and how long each took."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise

from benchyard.core.model import Json
from benchyard.show.shipyard.events import (
    IMAGE_WORK,
    NODE_PHASES,
    RUN_PHASES,
    Intake,
    Operation,
    Subject,
)
from benchyard.show.shipyard.matching import DIGITS, Edge, Span, between, match

Spans = Mapping[Operation, Sequence[Span]]

#: Of time that two phases share, the first of these gets it: what is more special than the other.
_CLAIMS = (
    *(Operation.REGISTRY, Operation.CONTAINER, Operation.PREPARATION, Operation.RESOURCES),
    *(Operation.PULL, Operation.START, Operation.READY, Operation.STOP, Operation.STEP),
    Operation.INITIALIZE,
)


def summed(spans: Iterable[Span]) -> float:
    """Return the sum of all durations that are known; what overlaps counts twice (s)."""
    return math.fsum(span.duration or 0.0 for span in spans)


def _is_unfinished(spans: Iterable[Span]) -> bool:
    return any(span.is_open for span in spans)


def _covered(spans: Iterable[Span]) -> float:
    """Return the length of the union of the finished spans (s)."""
    known = sorted((s for s in spans if s.duration is not None), key=lambda span: span.start)
    if len(known) == 1:
        return summed(known)
    until = accumulate((span.seen_until for span in known), max, initial=-math.inf)
    parts = (
        span.seen_until - max(span.start, last) for span, last in zip(known, until, strict=False)
    )
    return round(math.fsum(max(0.0, part) for part in parts), DIGITS)


@dataclass(frozen=True)
class Node:
    """One preparation of a node, or one run.

    Args:
        name: The node's id; of a run case, number and host.
        pool: Partition that it is of; empty where there are none.
        spans: What it did, each in order of time.
        facts: ``offer``, ``sku``, ``nglobalresources``; of a run ``case``, ``run``, ``outcome``.
        nth: Which of its preparations this is, from 1.
    """

    name: str
    pool: str
    spans: Spans
    facts: Mapping[str, Json]
    is_run: bool = False
    nth: int = 1

    @property
    def label(self) -> str:
        """Its name, with the number of a repeated preparation."""
        return self.name if self.nth == 1 else f"{self.name} ({self.nth})"

    def of(self, *operations: Operation) -> Sequence[Span]:
        """Return the spans of some operations."""
        return [span for operation in operations for span in self.spans.get(operation, ())]

    @cached_property
    def start(self) -> float:
        """Start of the preparation or run; if unknown, the first event."""
        opening = self.of(Operation.RUN if self.is_run else Operation.PREPARATION)
        return min(span.start for span in opening or chain(*self.spans.values()))

    def length(self, operation: Operation) -> float | None:
        """Return how long an operation took (s).

        None where it is unfinished, or was not told.
        """
        spans = self.of(operation)
        is_known = any(span.duration is not None for span in spans) and not _is_unfinished(spans)
        return _covered(spans) if is_known else None

    def is_open(self, operation: Operation) -> bool:
        """Tell whether an operation began and did not finish."""
        spans = self.of(operation)
        # A phase that was only ever given up is unfinished; an image may be there by another way.
        if not self.is_run and operation in IMAGE_WORK:
            return _is_unfinished(spans)
        return bool(spans) and self.length(operation) is None

    @property
    def unfinished(self) -> list[str]:
        """Names of the unfinished operations, with the image or step."""
        return [operation.value for operation in NODE_PHASES if self.is_open(operation)] + [
            f"{operation.value} {span.name}".rstrip()
            for operation, spans in self.spans.items()
            for span in spans
            if span.is_open and operation not in NODE_PHASES
        ]

    @property
    def is_finished(self) -> bool:
        """Whether nothing is known to be unfinished."""
        return not any(map(self.is_open, self.spans))

    @property
    def ready_at(self) -> float | None:
        """When it was prepared and all its resources were loaded, seconds since 1970."""
        awaited = (Operation.PREPARATION, Operation.RESOURCES)
        if not self.of(awaited[0]) or any(map(self.is_open, awaited)):
            return None
        return max(span.seen_until for span in self.of(*awaited))

    # -- as Batch Shipyard counts

    def column(self, operation: Operation) -> float | None:
        """Return the value of an operation in Batch Shipyard's ``.dat`` (s).

        Of a run, the preparation is how long it took until its resources were initialized, and the
        global resources are how long that took.
        """
        if operation in IMAGE_WORK:
            return self.total(operation)
        if operation is Operation.PREPARATION:
            return self._install()
        if operation is not Operation.RESOURCES:
            return self.optional(operation)
        if not self.is_run:
            return self.length(operation)
        loading = self.of(Operation.INITIALIZE, Operation.PULL)
        if not loading or _is_unfinished(loading):
            return None if loading else 0.0
        return between(min(s.start for s in loading), max(s.seen_until for s in loading))

    def _install(self) -> float | None:
        """From the preparation's start to the private registry's, or else to its end (s)."""
        following = self.of(Operation.INITIALIZE if self.is_run else Operation.REGISTRY)
        if self.is_run or (following and self.of(Operation.PREPARATION)):
            begun = min((span.start for span in following), default=self.start)
            return between(self.start, begun)
        return self.length(Operation.PREPARATION)

    def optional(self, operation: Operation) -> float | None:
        """Return the length of what not every node or run does (s): 0 where it was not begun."""
        is_told = operation is Operation.RUN or self.of(operation)
        return self.length(operation) if is_told else 0.0

    def total(self, *operations: Operation) -> float | None:
        """Return the sum over all images (s); None where one of them is unfinished."""
        spans = self.of(*operations)
        return None if _is_unfinished(spans) else summed(spans)

    # -- as a bar

    def segments(self) -> dict[Operation, tuple[float, float]]:
        """Return the finished and unfinished time of each phase, in the bar's order (s).

        What overlaps counts once: a preparation that pulls the container does not have that time.
        An unfinished phase goes on until the last that is known of the node, and has nothing that
        a finished one has. The last of a run is what is in no phase.
        """
        phases = (*RUN_PHASES, Operation.RUN) if self.is_run else NODE_PHASES
        claims = [(op, done) for done in (True, False) for op in _CLAIMS if op in phases]
        own, claimed, before = dict[tuple[Operation, bool], float](), list[Span](), 0.0
        last = max(span.seen_until for span in chain(*self.spans.values()))
        for operation, done in (*claims, (Operation.RUN, True), (Operation.RUN, False)):
            spans = self.of(operation)
            # An unfinished span has no length as long as it is not ended here.
            begun = [span for span in spans if span.is_open]
            ended = [span._replace(duration=between(span.start, last)) for span in begun]
            claimed += spans if done else ended
            after = _covered(claimed)
            own[operation, done] = between(before, after)
            before = after
        return {op: (own[op, True], own[op, False]) for op in phases}


@dataclass(frozen=True)
class Graph:
    """All nodes, and all runs, in order of their start.

    Args:
        read: What they were made of, and what was left out.
        strays: How many ends have neither start nor length.
    """

    nodes: Sequence[Node]
    runs: Sequence[Node]
    read: Intake
    strays: int


def assemble(intake: Intake) -> Graph:
    """Match starts with ends, and group spans by node."""
    every = intake.subjects.values()
    exported = {(s.pool, s.node) for s in every if s.edges[Operation.PREPARATION][0]}
    # Runs that were exported in Batch Shipyard's form are nodes already.
    read = [one for one in every if not one.is_run or (one.pool, one.node) not in exported]
    runs = [one for one in read if one.is_run]
    # The name of a run has host and folder if they differ.
    hosts, pools = len({run.node for run in runs}) > 1, len({run.pool for run in runs}) > 1
    strays, bars = 0, list[Node]()
    for one in read:
        spans, alone = _matched(one)
        strays += alone
        name = one.node
        if one.is_run:
            name = f"{one.facts['case']} run {one.facts['run']}"
            name += f" on {one.node}" * hosts + f" in {one.pool}" * pools
        bars += _parted(Node(name, one.pool, spans, one.facts, one.is_run)) if spans else ()
    bars.sort(key=lambda bar: (bar.start, bar.label, bar.pool))
    nodes, runs = ([bar for bar in bars if bar.is_run is kind] for kind in (False, True))
    return Graph(nodes, runs, intake, strays)


def _matched(subject: Subject) -> tuple[Spans, int]:
    """Return the spans of a subject, and how many of its ends match no start."""
    found, strays = defaultdict[Operation, list[Span]](list), 0
    for operation, sides in subject.edges.items():
        groups = defaultdict[str, tuple[list[Edge], list[Edge]]](lambda: ([], []))
        for side, edge in ((side, edge) for side, edges in enumerate(sides) for edge in edges):
            # An end does not tell of which of several cascades it is.
            groups["" if operation in NODE_PHASES else edge.name][side].append(edge)
        for edges in groups.values():
            spans, alone = match(*edges)
            found[operation] += spans
            # What begins to load need not have come by torrent.
            strays += alone if operation is not Operation.TORRENT else 0
    pulled = {span.name for span in found[Operation.PULL]}
    found[Operation.TORRENT] = [
        span._replace(superseded=True) if span.is_open and span.name in pulled else span
        for span in found[Operation.TORRENT]
    ]
    order = [operation for operation in Operation if found[operation]]
    return {op: sorted(found[op], key=lambda span: (span.start, span.name)) for op in order}, strays


def _parted(whole: Node) -> Iterator[Node]:
    """Split a node at each of its preparations."""
    opening = Operation.RUN if whole.is_run else Operation.PREPARATION
    starts = sorted({span.start for span in whole.of(opening)})
    for nth, (first, last) in enumerate(pairwise([-math.inf, *starts[1:], math.inf]), 1):
        within = {
            operation: [span for span in spans if first <= span.start < last]
            for operation, spans in whole.spans.items()
        }
        yield replace(whole, nth=nth, spans=within)
