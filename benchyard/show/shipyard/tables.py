"""Nodes and runs in words and figures: tables and sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchyard.core.quantity import duration, number, plural
from benchyard.core.table import BYTES, COUNT, LONG, MOMENT, SECONDS, TEXT, Column, Field, Table
from benchyard.core.wording import printable
from benchyard.show.shipyard.document import COLUMNS, images, node_totals, run_totals, spread
from benchyard.show.shipyard.events import IMAGE_WORK, RUN_PHASES, Operation
from benchyard.show.shipyard.nodes import Graph, Node, summed

_HEADS = ("INSTALL", "REGISTRY", "CONTAINER", "RESOURCES", "PULLS", "SAVES", "LOADS", "TORRENTS")
_PHASES = {op: op.upper() for op in RUN_PHASES} | {Operation.RUN: "WHOLE"}
_COUNTS = (Column("finished", "N", COUNT), Column("unfinished", "UNFINISHED", COUNT))
_LENGTHS = [Column(f"{one}_s", one.upper(), SECONDS) for one in ("total", "mean", "least", "most")]
_IMAGE = (Column("image", "IMAGE"), Column("operation", "WORK"), *_COUNTS)
_TOTAL = (Column("column", "ALTOGETHER"), Column("count", "N", COUNT))
#: Images in the table; the others are counted.
_MOST_IMAGES = 20


def tables(graph: Graph) -> Iterator[Table]:
    """Yield tables of nodes and images, of runs, and of the totals of both."""
    if nodes := graph.nodes:
        yield _bars("NODE", nodes, dict(zip(COLUMNS.values(), _HEADS, strict=True)))
        columns = (*_IMAGE, Column("size_bytes", "SIZE", BYTES), *_LENGTHS)
        rows = [[*one.values()] for one in images(nodes)]
        if rows:
            every = Table("images", "Images", columns, rows)
            yield every.first(_MOST_IMAGES, "; --json has all")
        yield from _total_table(node_totals(nodes))
    if runs := graph.runs:
        yield _bars("RUN", runs, _PHASES)
        yield from _total_table(run_totals(runs))


def _bars(what: str, bars: Sequence[Node], heads: Mapping[Operation, str]) -> Table:
    """Return a table of nodes or runs; columns that none of them has are left out."""
    first = min(bar.start for bar in bars)
    fields: Sequence[Field] = (
        ("pool", "POOL", TEXT, lambda bar: bar.pool),
        ("name", what, TEXT, lambda bar: bar.label),
        ("start", "STARTED (UTC)", MOMENT, lambda bar: bar.start),
        ("after_s", "AFTER", SECONDS, lambda bar: bar.start - first),
        *((f"{op}_s", head, SECONDS, partial(_length, op)) for op, head in heads.items()),
        ("outcome", "OUTCOME", TEXT, lambda bar: bar.facts.get("outcome")),
        ("unfinished", "UNFINISHED", LONG, lambda bar: ", ".join(bar.unfinished)),
    )
    table = Table.of_things(what, what, fields, bars).hiding_unknown()
    return table.without(() if len({bar.pool for bar in bars}) > 1 else ("POOL",))


def _length(operation: Operation, bar: Node) -> float | None:
    """Return what is known of the time of an operation; images are summed on nodes."""
    if not bar.of(operation):
        return None
    if bar.is_run:
        return bar.length(operation)
    return summed(bar.of(operation)) if operation in IMAGE_WORK else bar.column(operation)


def _total_table(totals: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[Table]:
    """Yield the table of sums and averages; nothing if none is known."""
    columns = (*_TOTAL, Column("missing", "UNKNOWN", COUNT), *_LENGTHS)
    rows = [
        [name.replace("_", " "), *(one | {"missing": one["missing"] or None}).values()]
        for name, one in totals
        if one["most_s"]
    ]
    if rows:
        yield Table("totals", "Totals", columns, rows).hiding_unknown()


# -- sentences


def summary(graph: Graph) -> list[str]:
    """Return the sentences below the tables."""
    nodes, runs = graph.nodes, graph.runs
    found = list[str]()
    if nodes:
        found.append(_count(nodes, "node"))
        found.append(f"starts: {_spread_words(node.start for node in nodes)}")
        found.append(f"ready: {_spread_words(node.ready_at for node in nodes)}")
    return found + ([_count(runs, "run")] if runs else [])


def _count(nodes: Sequence[Node], noun: str) -> str:
    several = sum(node.nth > 1 for node in nodes)
    again = f", {several:,} of them prepared again" if several and noun == "node" else ""
    unfinished = sum(not node.is_finished for node in nodes)
    rest = f", {unfinished:,} unfinished" if unfinished else ""
    return plural(len(nodes), noun) + again + rest


def _spread_words(times: Iterable[float | None]) -> str:
    figures = spread(times)
    if not figures["count"]:
        return "none is"
    text = f"{figures['count']:,} within {duration(figures['spread_s'])}"
    if (squares := figures["variance_s2"]) is None:
        return text
    deviation = duration(squares**0.5)
    return f"{text}, standard deviation {deviation}, variance {number(squares, 4)} s²"


def notes(graph: Graph) -> list[str]:
    """Return notes on what was left out."""
    read, kinds = graph.read, list[str]()
    left = {"events that are not shown": read.unknown, "rows of other pools": read.other_pools}
    for what, counts in left.items():
        if named := ", ".join(f"{printable(n)} ({c:,})" for n, c in sorted(counts.items())):
            kinds.append(f"{what}: {named}")
    if graph.strays:
        kinds.append(f"{plural(graph.strays, 'end')} without a start, left out")
    if read.unreadable:
        kinds.append(f"{plural(read.unreadable, 'row')} not readable, left out; such as:")
    return kinds + [f"  {problem}" for problem in read.problems]
