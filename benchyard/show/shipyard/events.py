"""Collects rows and events of every format, in any order, and counts what is unreadable.

Source of what there is, in all years: Azure/batch-shipyard, cascade/ and scripts/, 2016 to 2019.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeAlias, cast

from msgspec import Meta

from benchyard.core.amounts import unit_size
from benchyard.core.json_text import read_as
from benchyard.core.model import Json
from benchyard.core.wording import printable, quote
from benchyard.results.events import read_message, read_plain_message
from benchyard.show.shipyard.matching import Edge

Row: TypeAlias = Mapping[str, Any]


class Operation(StrEnum):
    """What a span is of, in the order in which spans are told."""

    PREPARATION = "preparation"
    REGISTRY = "private_registry"
    CONTAINER = "container_pull"
    RESOURCES = "global_resources"
    RUN = "run"
    INITIALIZE = "initialize"
    PULL = "pull"
    START = "start"
    READY = "ready"
    STEP = "step"
    STOP = "stop"
    UPLOAD = "upload"
    ARCHIVE = "archive"
    SAVE = "save"
    LOAD = "load"
    TORRENT = "torrent"


#: Operation to its starts and its ends.
Edges: TypeAlias = defaultdict[Operation, tuple[list[Edge], list[Edge]]]

#: What a node does before it is ready, what a run of ours does, and what a node does with images.
NODE_PHASES, RUN_PHASES = tuple(Operation)[:4], tuple(Operation)[5:11]
IMAGE_WORK = (Operation.PULL, Operation.SAVE, Operation.LOAD, Operation.TORRENT)

_OURS = "benchyard:"
#: What comes before ``start`` and ``end`` in an event's name.
_WORDS = {
    "nodeprep:": Operation.PREPARATION,
    "privateregistry:": Operation.REGISTRY,
    "shipyard:pull-": Operation.CONTAINER,
    "cascade:docker-run-pull-": Operation.CONTAINER,  # for a few days of 2016
    **{f"cascade:{work}-": work for work in (Operation.PULL, Operation.SAVE, Operation.LOAD)},
    **{f"{_OURS}{what}-".replace("step", "attempt"): what for what in tuple(Operation)[4:13]},
}
#: Event to what begins and what ends with it.
_EVENTS: dict[str, tuple[Operation | None, Operation | None]] = {
    **{f"{words}start": (operation, None) for words, operation in _WORDS.items()},
    **{f"{words}end": (None, operation) for words, operation in _WORDS.items()},
    "cascade:start": (Operation.RESOURCES, None),
    "cascade:gr-done": (None, Operation.RESOURCES),
    "cascade:torrent-start": (Operation.TORRENT, None),
    "cascade:load-start": (Operation.LOAD, Operation.TORRENT),
}
#: What events of a node's phases, and of a run as a whole, tell beside times.
_FACTS = ("offer", "sku", "nglobalresources", "outcome")

#: The year 9999 ends; a time beyond it is none (seconds since 1970).
_LATEST = 253_402_300_800.0
#: A row's key is the time, or begins with it.
_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?(?=\||\Z)")
#: No pull and no run takes longer; what is was no length (s).
_LONGEST = 1e12
#: No image is larger; what is was no size (B).
_LARGEST = 1e18
#: Docker writes decimal units: kB is 1,000 bytes. Source: docker/go-units, size.go, decimapAbbrs.
_SIZE = re.compile(
    r"(?<![\w.+-])([0-9]+(?:\.[0-9]*)?(?:e\+?[0-9]{1,2})?)\s*((?:[kKMGTP]i?)?B)?(?![\w.])"
)
#: So many problems are kept in words; the rest is counted.
_TOLD = 20


_Name: TypeAlias = Annotated[str, Meta(min_length=1)]


@dataclass
class _TableRow:
    RowKey: str | float
    NodeId: _Name
    Event: str
    Message: str | None = None
    PartitionKey: str | None = None


@dataclass
class _OwnEvent:
    at: Annotated[datetime, Meta(tz=True)]
    node: _Name
    event: str
    message: dict[str, Any] | None = None


@dataclass
class Subject:
    """The events of one node or one run.

    Args:
        pool: Partition that it is of; empty where there are none.
        node: The node's id, or the host's name.
        facts: What was told beside times: ``offer``, ``sku``; of a run first which one it is,
            ``case``, ``run`` and ``host``.
    """

    pool: str
    node: str
    is_run: bool
    facts: dict[str, Json]
    edges: Edges = field(default_factory=lambda: Edges(lambda: ([], [])))


@dataclass
class Intake:
    """All events as read, and what was left out.

    Args:
        pool: Only rows of this pool are taken; None for all.
        taken: Number of rows and events.
        unreadable: How many of them, and of lines that are no JSON, were left out.
        problems: Why, the first of them in words.
        unknown: Events that nothing is known of, by name, and how many there were.
        other_pools: Partitions that were not asked for, and how many rows they have.
    """

    pool: str | None = None
    taken: int = 0
    unreadable: int = 0
    problems: list[str] = field(default_factory=list[str])
    unknown: Counter[str] = field(default_factory=Counter[str])
    other_pools: Counter[str] = field(default_factory=Counter[str])
    subjects: dict[tuple[Json, ...], Subject] = field(
        default_factory=dict[tuple[Json, ...], Subject]
    )

    def take(self, row: Any, where: str, pool: str = "") -> None:
        """Take a row of a table, or an event as ``events.jsonl`` has it.

        Args:
            where: What a problem is put behind: ``events.jsonl line 3``.
            pool: What an event is of; a row tells it itself.
        """
        self.taken += 1
        try:
            kind = _OwnEvent if isinstance(row, dict) and "RowKey" not in row else _TableRow
            told = read_as(kind, cast("object", row))
            if isinstance(told, _OwnEvent):
                self._keep(told.event, pool, told.node, told.at.timestamp(), told.message or {})
            else:
                self._take_row(told)
        except ValueError as error:
            self.refuse(where, str(error))

    def refuse(self, where: str, why: str) -> None:
        """Count an unreadable row, and keep the reason."""
        self.unreadable += 1
        if len(self.problems) < _TOLD:
            self.problems.append(printable(f"{where}: {why}"))

    def _take_row(self, row: _TableRow) -> None:
        pool, text = row.PartitionKey or "", row.Message or ""
        if pool and self.pool not in (None, pool.partition("$")[2]):
            self.other_pools[pool] += 1
            return
        told = _SECONDS.match(str(row.RowKey))
        at = float(told[0]) if told else _LATEST
        if at >= _LATEST:
            raise ValueError(f"its RowKey is {quote(row.RowKey)}, and no time")
        is_ours = row.Event.strip().lower().startswith(_OURS)
        message = read_message(text) if is_ours else read_plain_message(text)
        self._keep(row.Event, pool, row.NodeId, at, message)

    def _keep(self, name: str, pool: str, node: str, at: float, message: Row) -> None:
        event = name.strip().lower()
        sides = _EVENTS.get(event, (None, None))
        operation = sides[0] or sides[1]
        if operation is None:
            self.unknown[event] += 1
            return
        identity: dict[str, Json] = {}
        if is_ours := event.startswith(_OURS):
            identity = {"case": message.get("case"), "run": message.get("run"), "host": node}
            if not (isinstance(identity["case"], str) and isinstance(identity["run"], int)):
                raise ValueError("its message names no case and run")
        part = _part_of(message) if is_ours else _image_of(operation, message)
        key, size = (pool, node, *identity.values()), read_size(message.get("size"))
        subject = self.subjects.setdefault(key, Subject(pool, node, is_ours, identity))
        if operation in NODE_PHASES or operation is Operation.RUN:
            subject.facts |= {f: message[f] for f in _FACTS if f in message} | subject.facts
        for is_end, side in enumerate(sides):
            if side is not None:
                length = _length(message) if is_end else None
                subject.edges[side][is_end].append(Edge(at, part, length, size))


def _length(message: Row) -> float | None:
    """Return the duration in a message (s), or None."""
    try:
        length = float(message["diff"])
    except (KeyError, TypeError, ValueError):
        return None
    return length if 0.0 <= length < _LONGEST else None


def read_size(told: Any) -> int | None:
    """Return the size in a message (bytes), or None.

    They may be a number, docker's ``125.1 MB`` and ``123MB``, and what Batch Shipyard cut out of
    later listings: ``ago 125MB``. The last size in the text counts. Batch Shipyard itself takes a
    MB for 1024² bytes, which docker does not mean.
    """
    if not isinstance(told, str):
        is_count = isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _LARGEST
        return told if is_count else None
    found = _SIZE.findall(told[-100:])
    number, unit = found[-1] if found else ("", "")
    if not number or (not unit and "." in number):
        return None
    size = float(number) * float(unit_size(unit or "B"))
    return round(size) if size <= _LARGEST else None


def _image_of(operation: Operation, message: Row) -> str:
    """Return the image of a node's event; for phases, the mode of the cascade.

    Docker and Singularity may pull the same at the same time, on the same node.
    """
    if operation not in IMAGE_WORK:
        return str(message.get("mode", ""))
    image, kind = message.get("img"), message.get("grtype", "docker")
    if not (isinstance(image, str) and image):
        raise ValueError("its message names no image (img=…)")
    return image if kind == "docker" else f"{image} [{kind}]"


def _part_of(message: Row) -> str:
    """Return the name of the step, phase or pull of a run."""
    if "img" in message:
        return str(message["img"])
    if "attempt" in message:
        again = message["attempt"]
        return f"{message.get('step')}" + (f", attempt {again}" if again != 1 else "")
    if "resource" in message:
        step = message.get("step")
        return f"{message['resource']}" + ("" if step is None else f", step {step}")
    return str(message.get("sink", ""))
