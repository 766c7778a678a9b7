"""Nodes and runs: their phases and how long each took."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

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
#: The run itself has what is left, which is in none of its phases.
_CLAIMS = (
    *(Operation.REGISTRY, Operation.CONTAINER, Operation.PREPARATION, Operation.RESOURCES),
    *(Operation.PULL, Operation.START, Operation.READY, Operation.STOP, Operation.STEP),
    *(Operation.INITIALIZE, Operation.RUN),
)


def is_unfinished(spans: Iterable[Span]) -> bool:
    """Tell whether any span is unfinished and was not begun again."""
    return any(span.is_open for span in spans)


def finished(spans: Iterable[Span]) -> list[Span]:
    """Return the finished spans."""
    return [span for span in spans if span.duration is not None]


def summed(spans: Iterable[Span]) -> float:
    """Return the sum of all durations that are known; what overlaps counts twice (s)."""
    return math.fsum(span.duration or 0.0 for span in spans)


def _covered(spans: Iterable[Span]) -> float:
    """Return the length of the union of the finished spans (s)."""
    known = finished(spans)
    if len(known) == 1:
        return summed(known)
    lengths, until = list[float](), -math.inf
    for span in sorted(known, key=lambda span: span.start):
        end = max(until, span.seen_until)
        lengths.append(end - max(span.start, until))
        until = end
    return round(math.fsum(lengths), DIGITS)


class Segment(NamedTuple):
    """The time of a phase that no other phase claims (s).

    Args:
        finished: Under what was finished of it.
        unfinished: Under what was not, and under nothing finished.
    """

    finished: float
    unfinished: float


class BarKind(StrEnum):
    """What a bar stands for."""

    NODE = "node"
    RUN = "run"


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

    kind: BarKind
    name: str
    pool: str
    spans: Spans
    facts: Mapping[str, Json]
    nth: int = 1

    @property
    def label(self) -> str:
        """Its name, with the number of a repeated preparation."""
        return self.name if self.nth == 1 else f"{self.name} ({self.nth})"

    @property
    def phases(self) -> Sequence[Operation]:
        """Its phases, in the bar's order; the last of a run is what is in no other."""
        return NODE_PHASES if self.kind is BarKind.NODE else (*RUN_PHASES, Operation.RUN)

    @property
    def opening(self) -> Operation:
        """The operation that it begins with."""
        return Operation.PREPARATION if self.kind is BarKind.NODE else Operation.RUN

    def of(self, operation: Operation) -> Sequence[Span]:
        """Return the spans of an operation."""
        return self.spans.get(operation, ())

    @cached_property
    def start(self) -> float:
        """Start of the preparation or run; if unknown, the first event."""
        return min(span.start for span in self.of(self.opening) or chain(*self.spans.values()))

    @cached_property
    def seen_until(self) -> float:
        """The last instant that is known of it, seconds since 1970."""
        return max(span.seen_until for span in chain(*self.spans.values()))

    def length(self, operation: Operation) -> float | None:
        """Return how long an operation took (s).

        None where it is unfinished, or was not told.
        """
        spans = self.of(operation)
        return None if is_unfinished(spans) or not finished(spans) else _covered(spans)

    def is_open(self, operation: Operation) -> bool:
        """Tell whether an operation began and did not finish."""
        spans = self.of(operation)
        # A phase that was only ever given up is unfinished; an image may be there by another way.
        other = self.kind is BarKind.NODE and operation in IMAGE_WORK
        return is_unfinished(spans) or (bool(spans) and not finished(spans) and not other)

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

    # -- as Batch Shipyard counts

    def column(self, operation: Operation) -> float | None:
        """Return the value of an operation in Batch Shipyard's ``.dat`` (s)."""
        if operation is Operation.PREPARATION:
            return self.install
        if operation is Operation.RESOURCES:
            return self.resources
        return self.total(operation) if operation in IMAGE_WORK else self.optional(operation)

    @property
    def install(self) -> float | None:
        """From the preparation's start to the private registry's, or else to its end (s).

        Of a run how long it took until its resources were initialized.
        """
        following = Operation.REGISTRY if self.kind is BarKind.NODE else Operation.INITIALIZE
        begun = [span.start for span in self.of(following)]
        if self.kind is BarKind.NODE and not (begun and self.of(Operation.PREPARATION)):
            return self.length(Operation.PREPARATION)
        return between(self.start, min(begun, default=self.start))

    def optional(self, operation: Operation) -> float | None:
        """Return the length of what not every node or run does (s): 0 where it was not begun."""
        is_told = operation is Operation.RUN or self.of(operation)
        return self.length(operation) if is_told else 0.0

    @property
    def resources(self) -> float | None:
        """Until all global resources were loaded, from the cascade's start on (s)."""
        if self.kind is BarKind.NODE:
            return self.length(Operation.RESOURCES)
        loading = [*self.of(Operation.INITIALIZE), *self.of(Operation.PULL)]
        if not loading or is_unfinished(loading):
            return None if loading else 0.0
        return between(min(s.start for s in loading), max(s.seen_until for s in loading))

    def total(self, *operations: Operation) -> float | None:
        """Return the sum over all images (s); None where one of them is unfinished."""
        spans = [span for operation in operations for span in self.of(operation)]
        return None if is_unfinished(spans) else summed(spans)

    @property
    def ready_at(self) -> float | None:
        """When it was prepared and all its resources were loaded, seconds since 1970."""
        awaited = [op for op in (Operation.PREPARATION, Operation.RESOURCES) if self.of(op)]
        if Operation.PREPARATION not in awaited or any(self.length(op) is None for op in awaited):
            return None
        return max(span.seen_until for op in awaited for span in self.of(op))

    # -- as a bar

    def segments(self) -> dict[Operation, Segment]:
        """Return the time of each phase without overlaps, in the bar's order.

        What overlaps counts once: a preparation that pulls the container does not have that time.
        An unfinished phase goes on until the last that is known of the node, and has nothing that
        a finished one has. The last of a run is what is in no phase.
        """
        claims = [(op, done) for done in (True, False) for op in _CLAIMS if op in self.phases]
        claims.sort(key=lambda claim: claim[0] is Operation.RUN)
        own, claimed, before = dict[tuple[Operation, bool], float](), list[Span](), 0.0
        for operation, done in claims:
            claimed += finished(self.of(operation)) if done else self._seen(operation)
            after = _covered(claimed)
            own[operation, done] = between(before, after)
            before = after
        return {op: Segment(own[op, True], own[op, False]) for op in self.phases}

    def _seen(self, operation: Operation) -> list[Span]:
        """Return the unfinished spans, ended at the last known instant."""
        begun = [span for span in self.of(operation) if span.is_open]
        return [s._replace(duration=between(s.start, self.seen_until)) for s in begun]


@dataclass(frozen=True)
class Graph:
    """All nodes and runs, in order of their start.

    Args:
        read: What they were made of, and what was left out.
        strays: How many ends have neither start nor length.
    """

    nodes: Sequence[Node]
    read: Intake
    strays: int

    def of(self, kind: BarKind) -> list[Node]:
        """Return the nodes, or the runs."""
        return [node for node in self.nodes if node.kind is kind]


def assemble(intake: Intake) -> Graph:
    """Match starts with ends, and group spans by node."""
    told, strays, found = intake.subjects.values(), 0, list[Node]()
    exported = {(s.pool, s.node) for s in told if s.edges[Operation.PREPARATION][0]}
    # Runs that were exported in Batch Shipyard's form are nodes already.
    told = [one for one in told if one.case is None or (one.pool, one.node) not in exported]
    runs = [one for one in told if one.case is not None]
    several = len({run.node for run in runs}) > 1, len({run.pool for run in runs}) > 1
    for subject in told:
        spans, alone = _matched(subject)
        strays += alone
        if spans:
            found += _parted(_node(subject, spans, several))
    nodes = sorted(found, key=lambda node: (node.start, node.label, node.pool))
    return Graph(nodes, intake, strays)


def _matched(told: Subject) -> tuple[Spans, int]:
    """Return the spans of a subject, and how many of its ends match no start."""
    found, strays = {operation: list[Span]() for operation in Operation}, 0
    for operation, edges in told.edges.items():
        groups = defaultdict[str, tuple[list[Edge], list[Edge]]](lambda: ([], []))
        for side, some in enumerate(edges):
            for edge in some:
                # An end does not tell of which of several cascades it is.
                groups["" if operation in NODE_PHASES else edge.name][side].append(edge)
        for starts, ends in groups.values():
            spans, alone = match(starts, ends)
            found[operation] += spans
            # What begins to load need not have come by torrent.
            strays += alone * (operation is not Operation.TORRENT)
    pulled = {span.name for span in found[Operation.PULL]}
    found[Operation.TORRENT] = [
        s._replace(superseded=True) if s.is_open and s.name in pulled else s
        for s in found[Operation.TORRENT]
    ]
    ordered = {op: sorted(spans, key=lambda s: (s.start, s.name)) for op, spans in found.items()}
    return {op: spans for op, spans in ordered.items() if spans}, strays


def _node(told: Subject, spans: Spans, several: tuple[bool, bool]) -> Node:
    """Return a subject as one node; the name of a run has host and folder if they differ."""
    if told.case is None:
        return Node(BarKind.NODE, told.node, told.pool, spans, told.facts)
    hosts, folders = several
    name = f"{told.case} run {told.run}" + (f" on {told.node}" if hosts else "")
    name += f" in {told.pool}" if folders else ""
    facts = {"case": told.case, "run": told.run, "host": told.node, **told.facts}
    return Node(BarKind.RUN, name, told.pool, spans, facts)


def _parted(whole: Node) -> Iterator[Node]:
    """Split a node at each of its preparations."""
    starts = sorted({span.start for span in whole.of(whole.opening)})
    for nth, (first, last) in enumerate(pairwise([-math.inf, *starts[1:], math.inf]), 1):
        within = {
            operation: [span for span in spans if first <= span.start < last]
            for operation, spans in whole.spans.items()
        }
        yield replace(whole, nth=nth, spans={op: spans for op, spans in within.items() if spans})
