"""Nodes and runs in words and figures: tables and sentences."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from benchyard.core.quantity import UNKNOWN, duration, number, plural
from benchyard.core.table import BYTES, COUNT, NUMBER, SECONDS, Column, Table, text_table
from benchyard.core.wording import printable
from benchyard.show.shipyard.document import COLUMNS, images, node_totals, run_totals, spread
from benchyard.show.shipyard.events import IMAGE_WORK, RUN_PHASES, Operation
from benchyard.show.shipyard.nodes import BarKind, Graph, Node, summed

#: Written for what is unfinished.
UNFINISHED = "unfinished"
_HEADS = ("INSTALL", "REGISTRY", "CONTAINER", "RESOURCES", "PULLS", "SAVES", "LOADS", "TORRENTS")
_LENGTHS = [Column(f"{one}_s", one.upper(), SECONDS) for one in ("total", "mean", "least", "most")]
#: Images in the table; the others are counted.
_MOST_IMAGES = 20


def tables(graph: Graph) -> Iterator[Table]:
    """Yield tables of nodes and images, of runs, and of the totals of both."""
    nodes, runs = graph.of(BarKind.NODE), graph.of(BarKind.RUN)
    if nodes:
        yield _node_table(nodes)
        if found := images(nodes):
            yield _image_table(found).first(_MOST_IMAGES, "; --json has all")
        yield _total_table(node_totals(nodes))
    if runs:
        yield _run_table(runs)
        yield _total_table(run_totals(runs))


def _node_table(nodes: Sequence[Node]) -> Table:
    """Return a table of nodes; columns that no node has are left out."""
    columns = {
        head: operation
        for head, operation in zip(_HEADS, COLUMNS.values(), strict=True)
        if head in ("INSTALL", "RESOURCES") or any(n.column(operation) != 0.0 for n in nodes)
    }
    first = min(node.start for node in nodes)
    rows = [
        (
            *(node.pool, node.label, clock(node.start), after(node.start - first)),
            *(_node_cell(node, operation) for operation in columns.values()),
        )
        for node in nodes
    ]
    figures = ("AFTER", *columns)
    whole = text_table(("POOL", "NODE", "STARTED (UTC)", *figures), rows, figures)
    return whole.without(() if len({node.pool for node in nodes}) > 1 else ("POOL",))


def _node_cell(node: Node, operation: Operation) -> str:
    spans = node.of(operation)
    left = sum(span.is_open for span in spans)
    if left and operation in IMAGE_WORK:
        return f"{duration(summed(spans))}, {left:,} {UNFINISHED}"
    return _length(node.column(operation), is_open=node.is_open(operation)) if spans else UNKNOWN


def _length(seconds: float | None, *, is_open: bool) -> str:
    if seconds is None:
        return UNFINISHED if is_open else UNKNOWN
    return duration(seconds) + (f", {UNFINISHED}" if is_open else "")


def clock(at: float) -> str:
    """Write an instant, in UTC, to the tenth of a second."""
    when = datetime.fromtimestamp(at, UTC)
    return f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 100_000}"


def after(seconds: float) -> str:
    """Write the delay after the first start."""
    return f"+{duration(seconds)}" if seconds else "first"


def _run_table(runs: Sequence[Node]) -> Table:
    """Return a table of runs; phases that no run has are left out."""
    used = [*(op for op in RUN_PHASES if any(run.of(op) for run in runs)), Operation.RUN]
    rows = [
        (
            *(run.label, clock(run.start)),
            *(_length(run.optional(op), is_open=run.is_open(op)) for op in used),
            str(run.facts.get("outcome") or UNKNOWN),
        )
        for run in runs
    ]
    figures = [op.upper() for op in used[:-1]] + ["WHOLE"]
    return text_table(("RUN", "STARTED (UTC)", *figures, "OUTCOME"), rows, figures)


def _image_table(figures: Sequence[dict[str, Any]]) -> Table:
    columns = [
        *(Column("image", "IMAGE"), Column("operation", "WORK")),
        *(Column("finished", "N", COUNT), Column("unfinished", "UNFINISHED", COUNT)),
        *(Column("size_bytes", "SIZE", BYTES), *_LENGTHS),
    ]
    return Table("images", "Images", columns, [[*one.values()] for one in figures])


def _total_table(totals: Iterable[tuple[str, dict[str, Any]]]) -> Table:
    """Return a table of sums and averages."""
    rows = list[list[Any]]()
    for name, one in totals:
        if one["most_s"]:
            every = one["count"] + one["missing"]
            count = f"{one['count']:,}" + (f" of {every:,}" if one["missing"] else "")
            rows.append([name.replace("_", " "), count, *(one[c.key] for c in _LENGTHS)])
    columns = [Column("column", "ALTOGETHER"), Column("count", "N", NUMBER), *_LENGTHS]
    return Table("totals", "Totals", columns, rows)


# -- sentences


def summary(graph: Graph) -> list[str]:
    """Return the sentences below the tables."""
    nodes, runs = graph.of(BarKind.NODE), graph.of(BarKind.RUN)
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
    found, read = list[str](), graph.read
    for what, counts in (
        ("events that are not shown", read.unknown),
        ("rows of other pools", read.other_pools),
    ):
        if counts:
            named = (f"{printable(name)} ({count:,})" for name, count in sorted(counts.items()))
            found.append(f"{what}: {', '.join(named)}")
    if graph.strays:
        found.append(f"{plural(graph.strays, 'end')} without a start, left out")
    if read.unreadable:
        found.append(f"{plural(read.unreadable, 'row')} not readable, left out:")
        found += [f"  {problem}" for problem in read.problems]
        if read.unreadable > len(read.problems):
            found.append(f"  and {read.unreadable - len(read.problems):,} more")
    return found
