"""Nodes and runs in words and figures: rows of tables, and sentences."""

from collections.abc import Sequence
from datetime import UTC, datetime

from benchyard.core.wording import duration, printable
from benchyard.show.shipyard.assembling import Graph
from benchyard.show.shipyard.nodes import RUN_PHASES, Kind, Node
from benchyard.show.shipyard.spans import Operation
from benchyard.show.shipyard.totals import (
    COLUMNS,
    Figures,
    ImageFigures,
    Spread,
    phase,
    spread_of_ready,
    spread_of_starts,
)
from benchyard.statistics.figures import plain, plural

#: Written for what is unfinished, and for what was not told.
UNFINISHED, UNKNOWN = "unfinished", "-"
#: Column of a node to its header.
HEADERS = {
    "docker_install": "INSTALL",
    "private_registry": "REGISTRY",
    "container_pull": "CONTAINER",
    "global_resources": "RESOURCES",
    "pull": "PULLS",
    "save": "SAVES",
    "load": "LOADS",
    "torrent": "TORRENTS",
}
#: Column to what its being unfinished depends on, where the names differ.
_OPERATIONS = {"docker_install": Operation.PREPARATION}
_PREFIXES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def figure(seconds: float | None, *, is_open: bool = False) -> str:
    """Write a length of time."""
    if seconds is None:
        return UNFINISHED if is_open else UNKNOWN
    text = duration(seconds) if seconds else "0 s"
    return f"{text}, {UNFINISHED}" if is_open else text


def size(count: int | None) -> str:
    """Write a number of bytes in decimal units, as docker does."""
    if count is None:
        return UNKNOWN
    for factor, unit in _PREFIXES:
        if count >= factor:
            return f"{plain(count / factor, 4)} {unit}"
    return f"{count} B"


def clock(at: float) -> str:
    """Write an instant, in UTC, to the tenth of a second."""
    when = datetime.fromtimestamp(at, UTC)
    return f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // 100_000}"


def after(seconds: float) -> str:
    """Write how much later than the first something began."""
    return f"+{duration(seconds)}" if seconds else "first"


# -- tables


def node_table(nodes: Sequence[Node]) -> list[list[str]]:
    """Return the rows of a table, the header first; columns that no node has are left out."""
    used = [name for name in HEADERS if _is_used(name, nodes)]
    pools = len({node.pool for node in nodes}) > 1
    first = min(node.start for node in nodes)
    header = ["NODE", "STARTED (UTC)", "AFTER", *(HEADERS[name] for name in used)]
    rows = [["POOL", *header] if pools else header]
    for node in nodes:
        cells = [printable(node.label), clock(node.start), after(node.start - first)]
        cells += [_cell(node, name) for name in used]
        rows.append([printable(node.pool), *cells] if pools else cells)
    return rows


def _is_used(name: str, nodes: Sequence[Node]) -> bool:
    if name in ("docker_install", "global_resources"):
        return True
    return any(COLUMNS[name](node) != 0.0 for node in nodes)


def _cell(node: Node, name: str) -> str:
    operation = _OPERATIONS.get(name) or Operation(name)
    work = node.work.get(operation)
    if work is not None and work.open:
        return f"{figure(work.total)}, {work.open:,} {UNFINISHED}"
    if work is None and not node.spans.get(operation):
        return UNKNOWN
    return figure(COLUMNS[name](node), is_open=node.is_open(operation))


def run_table(runs: Sequence[Node]) -> list[list[str]]:
    """Return the rows of a table, the header first; phases that no run has are left out."""
    used = [op for op in RUN_PHASES if any(run.spans.get(op) for run in runs)]
    rows = [["RUN", "STARTED (UTC)", *(op.upper() for op in used), "WHOLE", "OUTCOME"]]
    for run in runs:
        lengths = [figure(phase(run, op), is_open=run.is_open(op)) for op in (*used, Operation.RUN)]
        outcome = str(run.facts.get("outcome") or UNKNOWN)
        rows.append([printable(run.label), clock(run.start), *lengths, printable(outcome)])
    return rows


def image_table(images: Sequence[ImageFigures]) -> list[list[str]]:
    """Return the rows of a table of images, the header first."""
    rows = [["IMAGE", "WORK", "N", "UNFINISHED", "SIZE", "TOTAL", "MEAN", "LEAST", "MOST"]]
    for one in images:
        lengths = [figure(value) for value in (one.total, one.mean, one.least, one.most)]
        count = f"{one.open:,}" if one.open else UNKNOWN
        cells = [one.operation.value, f"{one.done:,}", count, size(one.bytes)]
        rows.append([printable(one.image), *cells, *lengths])
    return rows


def total_table(columns: dict[str, Figures]) -> list[list[str]]:
    """Return the rows of a table of sums and averages, the header first."""
    rows = [["ALTOGETHER", "N", "TOTAL", "MEAN", "LEAST", "MOST"]]
    for name, one in columns.items():
        if one.most:
            lengths = [figure(value) for value in (one.total, one.mean, one.least, one.most)]
            count = f"{one.count:,}" + (f" of {one.count + one.missing:,}" if one.missing else "")
            rows.append([name.replace("_", " "), count, *lengths])
    return rows


# -- sentences


def summary(graph: Graph) -> list[str]:
    """Return what it comes to, a sentence each."""
    nodes, runs = graph.of(Kind.NODE), graph.of(Kind.RUN)
    found = list[str]()
    if nodes:
        found.append(_count(nodes, "node"))
        found.append(f"starts: {_spread(spread_of_starts(nodes))}")
        found.append(f"ready: {_spread(spread_of_ready(nodes))}")
    if runs:
        found.append(_count(runs, "run"))
    return found


def _count(nodes: Sequence[Node], noun: str) -> str:
    several = sum(node.nth > 1 for node in nodes)
    again = f", {several:,} of them prepared again" if several and noun == "node" else ""
    unfinished = sum(not node.is_finished for node in nodes)
    rest = f", {unfinished:,} unfinished" if unfinished else ""
    return plural(len(nodes), noun) + again + rest


def _spread(spread: Spread) -> str:
    if spread.seconds is None:
        return "none is"
    text = f"{spread.count:,} within {duration(spread.seconds)}"
    if spread.variance is None:
        return text
    deviation = duration(spread.variance**0.5)
    return f"{text}, standard deviation {deviation}, variance {plain(spread.variance, 4)} s²"


def notes(graph: Graph) -> list[str]:
    """Return what a reader should know of what was left out."""
    found = list[str]()
    if graph.unknown:
        named = ", ".join(f"{printable(name)} ({n:,})" for name, n in graph.unknown.items())
        found.append(f"events that are not shown: {named}")
    if graph.other_pools:
        named = ", ".join(f"{printable(name)} ({n:,})" for name, n in graph.other_pools.items())
        found.append(f"rows of other pools: {named}")
    if graph.strays:
        found.append(f"{plural(graph.strays, 'end')} without a start, left out")
    if graph.unreadable:
        found.append(f"{plural(graph.unreadable, 'row')} not readable, left out:")
        found += [f"  {problem}" for problem in graph.problems]
        if graph.unreadable > len(graph.problems):
            found.append(f"  and {graph.unreadable - len(graph.problems):,} more")
    return found
