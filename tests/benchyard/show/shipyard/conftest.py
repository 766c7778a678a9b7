"""Rows of Batch Shipyard's table, as its nodes write them."""

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from benchyard.show.shipyard.events import Intake
from benchyard.show.shipyard.nodes import Graph, Node, assemble

#: When the first node of most tests began: 2016-11-18 19:35:23.25 UTC.
START = 1_479_497_723.25
PARTITION = "batch$pool"

Row = dict[str, Any]


def row(at: float | str, node: str, event: str, message: str | None = None, **more: Any) -> Row:
    made = {"PartitionKey": PARTITION, "RowKey": str(at), "NodeId": node, "Event": event, **more}
    return made if message is None else {**made, "Message": message}


def prepared(node: str, start: float = START, *, registry: bool = False) -> list[Row]:
    """Return the events of a node without images: 120.5 s of preparation, then 1000 s."""
    extra = [
        row(start + 100, node, "privateregistry:start", "ipaddress=10.0.0.4"),
        row(start + 110.25, node, "privateregistry:end"),
    ]
    return [
        row(start, node, "nodeprep:start", "offer=ubuntuserver,sku=16.04.0-lts"),
        row(start + 60, node, "shipyard:pull-start"),
        row(start + 65, node, "shipyard:pull-end"),
        *(extra if registry else ()),
        row(start + 120.5, node, "nodeprep:end"),
        row(start + 121, node, "cascade:start"),
        row(start + 1121, node, "cascade:gr-done", "nglobalresources=2"),
    ]


def pulled(node: str, image: str, start: float, length: float = 30.0) -> list[Row]:
    """Return all seven events that a node tells of an image."""
    end = start + length
    return [
        row(start, node, "cascade:pull-start", f"img={image}"),
        row(end + 0.5, node, "cascade:pull-end", f"img={image},diff={length},size=125.1 MB"),
        row(end + 1, node, "cascade:save-start", f"img={image}"),
        row(end + 11, node, "cascade:save-end", f"img={image},size=222000111,diff=9.5"),
        row(end + 12, node, "cascade:torrent-start", f"img={image}"),
        row(end + 20, node, "cascade:load-start", f"img={image},size=222000111"),
        row(end + 25.5, node, "cascade:load-end", f"img={image},diff=5.25"),
    ]


def pool(nodes: int, images: int, seed: int = 1) -> list[Row]:
    """Return a pool whose events come in no order."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    found = list[Row]()
    for number in range(nodes):
        name, start = f"tvm-{number}", START + 3.7 * number
        found += prepared(name, start, registry=bool(number % 2))
        for image in range(images):
            begin = round(start + 125 + chance.uniform(0, 500), 6)
            found += pulled(name, f"image-{image}", begin, round(chance.uniform(1, 60), 6))
    chance.shuffle(found)
    return found


def graph_of(rows: Sequence[Any], where: str = "row", asked: str | None = None) -> Graph:
    intake = Intake(asked)
    for number, one in enumerate(rows, 1):
        intake.take(one, f"{where} {number}")
    return assemble(intake)


def only(rows: Iterable[Row]) -> Node:
    """Return the only node that there is, of rows that are all readable."""
    graph = graph_of(list(rows))
    assert graph.read.problems == []
    [node] = (*graph.nodes, *graph.runs)
    return node


def ours(at: float, event: str, /, **message: Any) -> Row:
    when = datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    told = {"case": "words", "run": 1, **message}
    return {"at": f"{when}Z", "node": "lab", "event": f"benchyard:{event}", "message": told}


def run_rows(start: float = START, **more: Any) -> list[Row]:
    step = {"step": "s1", "name": "Load", "index": 1, "resource": "Redis", "attempt": 1}
    return [
        ours(start, "run-start", offer="Debian GNU/Linux", sku="12", **more),
        ours(start + 1, "initialize-start", resource="Redis", **more),
        ours(start + 2, "pull-start", resource="Redis", img="redis:7", **more),
        ours(start + 6, "pull-end", resource="Redis", img="redis:7", diff=3.75, size=5, **more),
        ours(start + 7, "initialize-end", resource="Redis", diff=6.0, outcome="completed", **more),
        ours(start + 7, "start-start", resource="Redis", step=1, **more),
        ours(start + 8, "start-end", resource="Redis", step=1, diff=1.0, **more),
        ours(start + 8, "ready-start", resource="Redis", step=1, **more),
        ours(start + 8.5, "ready-end", resource="Redis", step=1, diff=0.5, **more),
        ours(start + 9, "attempt-start", **step, **more),
        ours(start + 12, "attempt-end", **step, diff=3.0, outcome="failed", **more),
        ours(start + 13, "attempt-start", **step | {"attempt": 2}, **more),
        ours(start + 20, "attempt-end", **step | {"attempt": 2}, diff=7.0, **more),
        ours(start + 21, "stop-start", resource="Redis", **more),
        ours(start + 22, "stop-end", resource="Redis", diff=1.0, **more),
        ours(start + 23, "run-end", outcome="completed", diff=23.0, **more),
    ]
