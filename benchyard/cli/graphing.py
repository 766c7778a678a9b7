"""``benchyard graph``: how long nodes took to be ready, and runs for each of their phases."""

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from pathlib import Path
from typing import Any

import click

from benchyard.cli.common import json_option
from benchyard.cli.option_types import NamedPath, output_option
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.outputs import failed, write
from benchyard.core.quantity import shorten
from benchyard.show.shipyard import tables
from benchyard.show.shipyard.document import dat, document
from benchyard.show.shipyard.events import Intake
from benchyard.show.shipyard.nodes import Graph, assemble
from benchyard.show.shipyard.plot import graph_drawing
from benchyard.show.shipyard.reading import read_rows, read_source


@click.command("graph")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--azure", "from_azure", is_flag=True, help="Read the Azure table of this environment, too."
)
@click.option(
    "--configdir",
    type=NamedPath(file_okay=False),
    metavar="FOLDER",
    help="Read the Azure table of Batch Shipyard's credentials.json, config.json and pool.json.",
)
@click.option("--prefix", metavar="PREFIX", help="What the table's name begins with, before perf.")
@click.option(
    "--account", metavar="NAME", help="First half of the partition's key, the Batch account."
)
@click.option(
    "--batch-pool",
    "pool",
    metavar="NAME",
    help="Second half of the key, the Batch pool; of rows in files, only those of this pool.",
)
@output_option(
    *("outputs", ".png", ".svg", ".dat"),
    multiple=True,
    help="Write a picture (.png, .svg) or gnuplot's columns (.dat). May be given several times.",
)
@json_option
def command(
    sources: tuple[str, ...],
    configdir: Path | None,
    outputs: tuple[Path, ...],
    *,
    from_azure: bool,
    as_json: bool,
    **names: Any,
) -> None:
    """Show what nodes and runs spent their time on.

    SOURCE is a file with exported rows of a table (JSON lines, JSON or CSV), a file with events, a
    folder with runs, or - for standard input. With --azure or --configdir, or without SOURCE, rows
    are read from Azure. Nodes are those of Batch Shipyard, of any version.

    Example:
        benchyard graph mine/results -o nodes.svg
    """
    named = list(sources)
    intake = Intake(names["pool"])
    for source in sources:
        read_source(source, intake)
    if from_azure or configdir is not None or not sources:
        named.append(_read_azure(configdir, names, intake))
    graph = assemble(intake)
    if not (graph.nodes or graph.runs):
        raise InputError(_nothing(graph, named))
    for file in outputs:
        _write(graph, named, file)
    if as_json:
        print_json(document(graph, named))
    else:
        _print(graph)
        for file in filterfalse(failed, outputs):
            say(f"written: {shown(file)}")
    for note in tables.notes(graph):
        say(note, fg="yellow", err=True)


def _read_azure(configdir: Path | None, names: Mapping[str, Any], intake: Intake) -> str:
    from benchyard.publish.sinks.azure.credentials import access  # noqa: PLC0415 - most graphs are of files
    from benchyard.publish.sinks.azure.reader import rows  # noqa: PLC0415

    try:
        found = access(configdir, **names)
    except InputError as error:
        hint = "; or name a SOURCE: a file with events, or a folder with runs"
        raise InputError(f"{error}{hint}") from error
    read_rows(rows(found), f"table {found.table}", intake)
    return f"{found.host}/{found.table} {found.partition}"


def _nothing(graph: Graph, sources: Sequence[str]) -> str:
    where = ", ".join(sources)
    if not graph.read.taken and not graph.read.unreadable:
        return f"{where}: there are no events"
    found = "\n".join(f"  {note}" for note in tables.notes(graph))
    return f"{where}: there is no event of a node or a run\n{found}".rstrip()


def _write(graph: Graph, sources: Sequence[str], file: Path) -> None:
    if file.suffix.lower() == ".dat":
        write(file, dat(graph).encode(errors="backslashreplace"))
        return
    graph_drawing(graph, _title(graph, sources)).write(file)


def _title(graph: Graph, sources: Sequence[str]) -> str:
    """Return the title of a picture: the pool with its system, or the sources."""
    pools = {node.pool.partition("$")[2] or node.pool for node in graph.nodes}
    if len(pools) == 1 and "" not in pools and not graph.runs:
        facts = graph.nodes[0].facts
        system = [str(facts[name]) for name in ("offer", "sku") if name in facts]
        return f"{pools.pop()}" + (f" ({' '.join(system)})" if system else "")
    text = ", ".join(Path(source).name or source for source in sources)
    return shorten(text, 80)


def _print(graph: Graph) -> None:
    for table in tables.tables(graph):
        print_table(table)
        say()
    for sentence in tables.summary(graph):
        say(sentence, bold=True)
