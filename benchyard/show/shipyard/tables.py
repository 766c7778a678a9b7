"""Nodes and runs in words and figures: tables and sentences."""

from collections.abc import Sequence
from datetime import UTC, datetime

from benchyard.core.quantity import UNKNOWN, amount, duration, number, plural
from benchyard.core.table import Table, text_table
from benchyard.core.wording import printable
from benchyard.show.shipyard import totals
from benchyard.show.shipyard.events import IMAGE_WORK, RUN_PHASES, Operation
from benchyard.show.shipyard.nodes import BarKind, Graph, Node, summed

#: Written for what is unfinished.
UNFINISHED = "unfinished"
_HEADERS = ("INSTALL", "REGISTRY", "CONTAINER", "RESOURCES", "PULLS", "SAVES", "LOADS", "TORRENTS")
_LENGTHS = ("TOTAL", "MEAN", "LEAST", "MOST")


def figure(seconds: float | None, *, is_open: bool = False) -> str:
    """Write a length of time."""
    if seconds is None:
        return UNFINISHED if is_open else UNKNOWN
    text = duration(seconds)
    return f"{text}, {UNFINISHED}" if is_open else text


def clock(at: float) -> str:
    """Write an instant, in UTC, to the tenth of a second."""
    when = datetime.fromtimestamp(at, UTC)
    return f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 100_000}"


def after(seconds: float) -> str:
    """Write the delay after the first start."""
    return f"+{duration(seconds)}" if seconds else "first"


# -- tables


def node_table(nodes: Sequence[Node]) -> Table:
    """Return a table of nodes; columns that no node has are left out."""
    columns = {
        header: operation
        for header, operation in zip(_HEADERS, totals.COLUMNS.values(), strict=True)
        if header in ("INSTALL", "RESOURCES") or any(n.column(operation) != 0.0 for n in nodes)
    }
    first = min(node.start for node in nodes)
    rows = [
        (
            *(printable(node.pool), printable(node.label), clock(node.start)),
            after(node.start - first),
            *(_cell(node, operation) for operation in columns.values()),
        )
        for node in nodes
    ]
    figures = ("AFTER", *columns)
    whole = text_table(("POOL", "NODE", "STARTED (UTC)", *figures), rows, figures)
    return whole.without(() if len({node.pool for node in nodes}) > 1 else ("POOL",))


def _cell(node: Node, operation: Operation) -> str:
    spans = node.of(operation)
    left = sum(span.is_open for span in spans)
    if left and operation in IMAGE_WORK:
        return f"{figure(summed(spans))}, {left:,} {UNFINISHED}"
    if not spans:
        return UNKNOWN
    return figure(node.column(operation), is_open=node.is_open(operation))


def run_table(runs: Sequence[Node]) -> Table:
    """Return a table of runs; phases that no run has are left out."""
    used = [op for op in RUN_PHASES if any(run.of(op) for run in runs)]
    rows = [
        (
            *(printable(run.label), clock(run.start)),
            *(figure(run.optional(op), is_open=run.is_open(op)) for op in (*used, Operation.RUN)),
            printable(str(run.facts.get("outcome") or UNKNOWN)),
        )
        for run in runs
    ]
    figures = (*(op.upper() for op in used), "WHOLE")
    return text_table(("RUN", "STARTED (UTC)", *figures, "OUTCOME"), rows, figures)


def image_table(images: Sequence[totals.ImageFigures]) -> Table:
    """Return a table of images."""
    rows = list[list[str]]()
    for one in images:
        left = f"{one.unfinished:,}" if one.unfinished else UNKNOWN
        cells = [one.operation.value, f"{one.finished:,}", left, amount(one.size_bytes, "B")]
        rows.append([printable(one.image), *cells, *_lengths(one)])
    figures = ("N", "UNFINISHED", "SIZE", *_LENGTHS)
    return text_table(("IMAGE", "WORK", *figures), rows, figures)


def total_table(columns: dict[str, totals.Figures]) -> Table:
    """Return a table of sums and averages."""
    rows = list[list[str]]()
    for name, one in columns.items():
        if one.most_s:
            count = f"{one.count:,}" + (f" of {one.count + one.missing:,}" if one.missing else "")
            rows.append([name.replace("_", " "), count, *_lengths(one)])
    figures = ("N", *_LENGTHS)
    return text_table(("ALTOGETHER", *figures), rows, figures)


def _lengths(one: totals.Figures | totals.ImageFigures) -> list[str]:
    return [figure(value) for value in (one.total_s, one.mean_s, one.least_s, one.most_s)]


# -- sentences


def summary(graph: Graph) -> list[str]:
    """Return the sentences below the tables."""
    nodes, runs = graph.of(BarKind.NODE), graph.of(BarKind.RUN)
    found = list[str]()
    if nodes:
        found.append(_count(nodes, "node"))
        found.append(f"starts: {_spread(totals.spread(node.start for node in nodes))}")
        found.append(f"ready: {_spread(totals.spread(node.ready_at for node in nodes))}")
    if runs:
        found.append(_count(runs, "run"))
    return found


def _count(nodes: Sequence[Node], noun: str) -> str:
    several = sum(node.nth > 1 for node in nodes)
    again = f", {several:,} of them prepared again" if several and noun == "node" else ""
    unfinished = sum(not node.is_finished for node in nodes)
    rest = f", {unfinished:,} unfinished" if unfinished else ""
    return plural(len(nodes), noun) + again + rest


def _spread(spread: totals.Spread) -> str:
    if spread.spread_s is None:
        return "none is"
    text = f"{spread.count:,} within {duration(spread.spread_s)}"
    if spread.variance_s2 is None:
        return text
    deviation = duration(spread.variance_s2**0.5)
    return f"{text}, standard deviation {deviation}, variance {number(spread.variance_s2, 4)} s²"


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
