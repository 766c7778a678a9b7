"""Our runs as rows of Batch Shipyard's own form, for its graph.py and similar programs.

One row for each event, ``RowKey`` a float of seconds as text, later by a microsecond where that
is taken; ``Message`` without escapes, so what would part it wrongly is replaced. Every run is a
node, because graph.py looks at the first preparation of a node alone; its start is part of the
node's name, for two campaigns have runs of the same numbers.

==================================  ======================  =======================================
ours                                theirs                  what it means there
==================================  ======================  =======================================
run-start                           nodeprep:start          with ``offer`` and ``sku``
first initialize-start              nodeprep:end,           the node is prepared, and its images
                                    cascade:start           begin to be loaded
pull-start, pull-end                cascade:pull-start,     with ``grtype=docker``, ``img``,
                                    cascade:pull-end        ``diff`` and ``size``
last initialize-end                 cascade:gr-done         all is loaded: ``nglobalresources``
==================================  ======================  =======================================

What has no counterpart goes along under its own name; graph.py passes over it. Without an
``initialize`` the run's start stands for it: graph.py wants all four of every node. A pull without
its end is left out, for graph.py would lose all nodes by it.

Source: Azure/batch-shipyard, cascade/perf.py and cascade/graph.py.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchyard.core.errors import SinkUnavailableError
from benchyard.core.model import Json, plain, slug
from benchyard.publish.sinks.azure.client import EventTable
from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.rows import Row, cut, is_ours, microseconds
from benchyard.results.events import MEASURED, Event

#: How often others may take what was free a moment before.
_MOST_TRIES = 20
#: So many microseconds after the last row it is looked what is taken.
_CROWD = 1_000_000
_CONTENT = ("Event", "NodeId", "Message")
_LONGEST_MESSAGE = 30_000
_PARTING = re.compile(r"[,=\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def rows_of(events: Iterable[Event], partition: str) -> list[Row]:
    """Return the events of runs as rows of Batch Shipyard's form, each with a key of its own.

    Args:
        events: Of a document; those that belong to no run keep their node and name.
        partition: Key of the partition.
    """
    at, rows = 0, list[Row]()
    for event in sorted(_told(events), key=lambda event: event.at):
        at = max(at + 1, microseconds(event.at))
        rows.append(_row(event, at, partition))
    return rows


def _told(events: Iterable[Event]) -> Iterator[Event]:
    runs: dict[str, list[Event]] = {}
    for event in events:
        node = _node(event)
        if node is None:
            yield event
        else:
            runs.setdefault(node, []).append(event)
    for node, told in runs.items():
        yield from _of_run(node + _start(told), sorted(told, key=lambda event: event.at))


def _start(told: Iterable[Event]) -> str:
    """Tell runs of one number apart, such as those of two campaigns.

    Runs of older records were exported under the name alone, and must not be there twice.
    """
    began = [e.at for e in told if e.name == "run-start" and "subject" in e.message]
    return f"-{min(began):%Y%m%dT%H%M%S.%fZ}" if began else ""


def _node(event: Event) -> str | None:
    """Return a name of the run that an event is of, without spaces; None if it is of none."""
    said = event.message
    for whole, part in (("case", "run"), ("test", "document")):
        if part in said:
            names = (event.node, said.get(whole), said[part])
            return "-".join(slug(str(name)) for name in names)
    return None


def _of_run(node: str, told: Sequence[Event]) -> Iterator[Event]:
    start = told[0]
    loading = [event.at for event in told if event.name == "initialize-start"]
    loaded = [event.at for event in told if event.name == "initialize-end"]
    began = min(loading, default=start.at)
    pulls = list(_pulls(told))
    system: dict[str, Json] = {key: start.message.get(key, "unknown") for key in ("offer", "sku")}
    yield Event(start.at, node, "nodeprep", "start", system)
    yield Event(began, node, "nodeprep", "end")
    yield Event(began, node, "cascade", "start", {"mode": "docker"})
    for event in pulls:
        yield Event(event.at, node, "cascade", event.name, _pull(event))
    ended = max([began, *loaded, *(event.at for event in pulls)])
    yield Event(ended, node, "cascade", "gr-done", {"nglobalresources": len(pulls) // 2})
    for event in told:
        if event.name not in ("pull-start", "pull-end"):
            # The whole subject is JSON, which this form cannot hold.
            message = {name: one for name, one in event.message.items() if name != MEASURED}
            yield Event(event.at, node, event.source, event.name, message)


def _pulls(told: Sequence[Event]) -> Iterator[Event]:
    """Yield starts and ends of pulls in pairs."""
    waiting: dict[Json, list[Event]] = {}
    for event in told:
        image = str(event.message.get("img"))
        if event.name == "pull-start":
            waiting.setdefault(image, []).append(event)
        elif event.name == "pull-end" and waiting.get(image):
            yield from (waiting[image].pop(0), event)


def _pull(event: Event) -> dict[str, Json]:
    known: dict[str, Json] = {"grtype": "docker", "img": event.message.get("img")}
    if "diff" in event.message:
        known["diff"] = event.message["diff"]
    if "size" in event.message:
        # graph.py wants two words, and takes any unit that it does not know for bytes.
        known["size"] = f"{plain(event.message['size'])} B"
    return known


def _row(event: Event, at: int, partition: str) -> Row:
    made = {
        "PartitionKey": partition,
        "RowKey": _key(at),
        "Event": f"{event.source}:{event.name}".lower(),
        "NodeId": event.node,
    }
    pairs = (f"{_plain(name)}={_plain(value)}" for name, value in event.message.items())
    message = cut(",".join(pairs), _LONGEST_MESSAGE)
    return made | ({"Message": message} if message else {})


def _plain(value: Json) -> str:
    return _PARTING.sub("_", plain(value))


def _key(at: int) -> str:
    return str(at / 1e6)


def export(events: Iterable[Event], access: Access, table: EventTable) -> None:
    """Insert all events of some runs; rows that are there already are not inserted again.

    Batch Shipyard inserts one by one, and tries the next microsecond where one is taken: of a
    hundred rows of one instant the last takes a hundred requests. Here the taken keys are read
    first, and rows are sent by the hundred. What it raises is said in ``contract.Sink``.
    """
    wanted = rows_of(events, access.partition)
    if not wanted:
        return
    query = "PartitionKey eq @partition and RowKey ge @first and RowKey le @last"
    first, last = wanted[0]["RowKey"], _key(_at(wanted[-1]) + _CROWD)
    parameters = {"partition": access.partition, "first": first, "last": last}
    for _ in range(_MOST_TRIES):
        near = table.read(query, parameters, ("RowKey", *_CONTENT))
        if table.create(placed(wanted, [row for row in near if not is_ours(row["RowKey"])])):
            return
    raise SinkUnavailableError(
        f"others write the same rows into table '{access.table}', from {first} on; it may go when "
        "they are done"
    )


def placed(wanted: Iterable[Row], there: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Yield the rows that are not there yet, each at the first free microsecond from its own on.

    Args:
        wanted: In order of time.
        there: What the table holds around them. A row with the same content, where a wanted one
            would be put, is that one; each is so once.
    """
    taken: dict[int, tuple[Any, ...] | None] = {_at(row): _content(row) for row in there}
    for row in wanted:
        at, content = _at(row), _content(row)
        while at in taken and taken[at] != content:
            at += 1
        if at not in taken:
            yield row | {"RowKey": _key(at)}
        taken[at] = None  # it is this row from now on


def _at(row: Mapping[str, Any]) -> int:
    return round(float(row["RowKey"]) * 1e6)


def _content(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _CONTENT)
