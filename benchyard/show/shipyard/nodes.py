"""A node's preparation, or a run of ours: what it did, and how long that took."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchyard.core.model import Json
from benchyard.show.shipyard.joining import Moved
from benchyard.show.shipyard.sizes import NO_SIZE
from benchyard.show.shipyard.spans import (
    DIGITS,
    Operation,
    Span,
    between,
    covered,
    is_unfinished,
    shares,
)

#: What a node does before it is ready, and what it does with images meanwhile.
NODE_PHASES = (
    Operation.PREPARATION,
    Operation.REGISTRY,
    Operation.CONTAINER,
    Operation.RESOURCES,
)
IMAGE_WORK = (Operation.PULL, Operation.SAVE, Operation.LOAD, Operation.TORRENT)
#: What a run of ours does.
RUN_PHASES = (
    Operation.INITIALIZE,
    Operation.PULL,
    Operation.START,
    Operation.READY,
    Operation.STEP,
    Operation.STOP,
)
#: Of time that two phases share, the first of these gets it: what is more special than the other.
#: The run itself has what is left, which is in none of its phases.
_CLAIMS = (
    Operation.REGISTRY,
    Operation.CONTAINER,
    Operation.PREPARATION,
    Operation.RESOURCES,
    Operation.PULL,
    Operation.START,
    Operation.READY,
    Operation.STOP,
    Operation.STEP,
    Operation.INITIALIZE,
    Operation.RUN,
)


class Segment(NamedTuple):
    """How much of the clock a phase has for itself (s).

    Args:
        finished: Under what was finished of it.
        unfinished: Under what was not, and under nothing finished.
    """

    finished: float
    unfinished: float

    @property
    def total(self) -> float:
        """Both."""
        return round(self.finished + self.unfinished, DIGITS)


class Kind(StrEnum):
    """What a bar stands for."""

    NODE = "node"
    RUN = "run"


@dataclass(frozen=True)
class Work:
    """What one node did with images in one way, in order of time.

    Args:
        names: All images, by number.
        moved: The columns of this node alone.
    """

    names: Sequence[str]
    moved: Moved

    @cached_property
    def total(self) -> float:
        """The sum of all lengths that are known (s); what overlaps counts twice."""
        return math.fsum(self.moved.length[~np.isnan(self.moved.length)].tolist())

    @cached_property
    def done(self) -> int:
        """How many were finished."""
        return int(np.count_nonzero(~np.isnan(self.moved.length)))

    @cached_property
    def open(self) -> int:
        """How many are unfinished, and were not begun again."""
        return int(np.count_nonzero(np.isnan(self.moved.length) & ~self.moved.superseded))

    @cached_property
    def bytes(self) -> int:
        """The sum of all sizes that were told."""
        size = self.moved.size
        return int(size[size != NO_SIZE].sum())

    @cached_property
    def seen_until(self) -> float:
        """The last instant that is known, seconds since 1970."""
        ends = self.moved.start + np.nan_to_num(self.moved.length)
        return float(ends.max()) if len(ends) else -math.inf

    def spans(self) -> list[Span]:
        """Return each of them, in order of time."""
        names, moved = self.names, self.moved
        columns = zip(
            moved.image.tolist(),
            moved.start.tolist(),
            moved.length.tolist(),
            moved.size.tolist(),
            moved.superseded.tolist(),
            strict=True,
        )
        found = [
            Span(
                names[int(image)],
                start,
                None if math.isnan(length) else length,
                None if size == NO_SIZE else size,
                superseded,
            )
            for image, start, length, size, superseded in columns
        ]
        # The columns are in order of time; what began at once is in that of names.
        return sorted(found, key=lambda span: (span.start, span.name))

    def part(self, first: float, last: float) -> "Work":
        """Return what began from one instant on and before another."""
        low, high = np.searchsorted(self.moved.start, (first, last)).tolist()
        return Work(self.names, self.moved.part(low, high))


@dataclass(frozen=True)
class Node:
    """One preparation of a node, or one run.

    Args:
        name: The node's id; of a run case, number and host.
        pool: Partition that it is of; empty where there are none.
        nth: Which of its preparations this is, from 1.
        spans: What it did, but for images of a node.
        work: What it did with images.
        facts: ``offer``, ``sku``, ``nglobalresources``; of a run ``case``, ``run``, ``outcome``.
    """

    kind: Kind
    name: str
    pool: str
    nth: int
    spans: Mapping[Operation, Sequence[Span]]
    work: Mapping[Operation, Work] = field(default_factory=dict[Operation, Work])
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def label(self) -> str:
        """What it is called among the others."""
        return self.name if self.nth == 1 else f"{self.name} ({self.nth})"

    @cached_property
    def start(self) -> float:
        """When its preparation, or the run, began; else the first that was seen of it."""
        own = self.spans.get(self._whole, ())
        known = own or [span for spans in self.spans.values() for span in spans]
        starts = [span.start for span in known]
        if not own:
            starts += [
                float(one.moved.start[0]) for one in self.work.values() if one.done or one.open
            ]
        return min(starts, default=math.nan)

    @property
    def _whole(self) -> Operation:
        return Operation.PREPARATION if self.kind is Kind.NODE else Operation.RUN

    @cached_property
    def seen_until(self) -> float:
        """The last instant that is known of it, seconds since 1970."""
        known = [span.seen_until for spans in self.spans.values() for span in spans]
        known += [one.seen_until for one in self.work.values()]
        return max(known, default=math.nan)

    def length(self, operation: Operation) -> float | None:
        """Return how much of the clock something took (s).

        None where it is unfinished, or was not told.
        """
        spans = self.spans.get(operation, ())
        if is_unfinished(spans) or all(span.duration is None for span in spans):
            return None
        return covered(spans)

    def is_open(self, operation: Operation) -> bool:
        """Tell whether something was begun and is not finished."""
        spans = self.spans.get(operation, ())
        work = self.work.get(operation)
        alone = bool(spans) and all(span.duration is None for span in spans)
        return alone or is_unfinished(spans) or (work is not None and work.open > 0)

    @property
    def unfinished(self) -> list[str]:
        """What is unfinished, in words: the operation, and of which image or step."""
        found = [op.value for op in self.spans if self.is_open(op) and op in NODE_PHASES]
        found += [
            f"{op.value} {span.name}".rstrip()
            for op, spans in self.spans.items()
            if op not in NODE_PHASES
            for span in spans
            if span.is_open
        ]
        for op, work in self.work.items():
            if work.open:
                found += [f"{op.value} {span.name}" for span in work.spans() if span.is_open]
        return found

    @property
    def is_finished(self) -> bool:
        """Whether nothing is known to be unfinished."""
        return not any(self.is_open(op) for op in (*self.spans, *self.work))

    # -- as Batch Shipyard counts

    @property
    def install(self) -> float | None:
        """From the preparation's start to the private registry's, or else to its end (s)."""
        if self.kind is Kind.RUN:
            return self._before_images
        registry = self.spans.get(Operation.REGISTRY, ())
        if not (registry and self.spans.get(Operation.PREPARATION)):
            return self.length(Operation.PREPARATION)
        return between(self.start, min(span.start for span in registry))

    @property
    def _before_images(self) -> float:
        """Return how long a run took until its resources were initialized (s)."""
        begun = [span.start for span in self.spans.get(Operation.INITIALIZE, ())]
        return between(self.start, min(begun, default=self.start))

    def optional(self, operation: Operation) -> float | None:
        """Return the length of what not every node does (s): 0 where it was not begun."""
        return self.length(operation) if self.spans.get(operation) else 0.0

    @property
    def resources(self) -> float | None:
        """Until all global resources were loaded, from the cascade's start on (s)."""
        if self.kind is Kind.NODE:
            return self.length(Operation.RESOURCES)
        loading = [*self.spans.get(Operation.INITIALIZE, ()), *self.spans.get(Operation.PULL, ())]
        if not loading or is_unfinished(loading):
            return None if loading else 0.0
        return between(min(s.start for s in loading), max(s.seen_until for s in loading))

    def total(self, operation: Operation) -> float | None:
        """Return the sum over all images (s); None where one of them is unfinished."""
        if self.kind is Kind.RUN:
            spans = self.spans.get(operation, ())
            return None if is_unfinished(spans) else math.fsum(s.duration or 0.0 for s in spans)
        work = self.work.get(operation)
        if work is None:
            return 0.0
        return None if work.open else work.total

    @property
    def ready_at(self) -> float | None:
        """When it was prepared and all its resources were loaded, seconds since 1970."""
        awaited = [op for op in (Operation.PREPARATION, Operation.RESOURCES) if self.spans.get(op)]
        if Operation.PREPARATION not in awaited or any(self.length(op) is None for op in awaited):
            return None
        return max(span.seen_until for op in awaited for span in self.spans[op])

    # -- as a bar

    def segments(self) -> dict[Operation, Segment]:
        """Return how much of the clock each phase has for itself, in the bar's order.

        What overlaps counts once: a preparation that pulls the container does not have that time.
        An unfinished phase goes on until the last that is known of the node, and has nothing that
        a finished one has. The last of a run is what is in no phase.
        """
        phases = NODE_PHASES if self.kind is Kind.NODE else (*RUN_PHASES, Operation.RUN)
        claims = [(op, is_open) for is_open in (False, True) for op in _CLAIMS if op in phases]
        claims.sort(key=lambda claim: claim[0] is Operation.RUN)
        own = shares([self._closed(op, is_open=is_open) for op, is_open in claims])
        of = dict(zip(claims, own, strict=True))
        return {op: Segment(of[op, False], of[op, True]) for op in phases}

    def _closed(self, operation: Operation, *, is_open: bool) -> list[Span]:
        """Return what was finished, or else what was not up to the last that is known."""
        spans = self.spans.get(operation, ())
        if not is_open:
            return [span for span in spans if span.duration is not None]
        until = self.seen_until
        begun = [span for span in spans if span.is_open]
        return [span._replace(duration=between(span.start, until)) for span in begun]
