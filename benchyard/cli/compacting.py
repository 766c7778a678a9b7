"""``benchyard compact``: results reduced to what comparisons read, for a repository."""

from pathlib import Path

import click

from benchyard.analysis.compacting import write_compact
from benchyard.analysis.comparison.run_sets import parse_selection, read_run_sets
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.cli.option_types import NamedPath
from benchyard.cli.terminal import print_table, say
from benchyard.core.files import shown
from benchyard.core.quantity import amount
from benchyard.core.table import Table
from benchyard.core.wording import in_short, printable


@click.command("compact")
@click.argument("results")
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    type=NamedPath(file_okay=False),
    help="Folder for the compact results, one below it for each case.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    default=(ALL_METRICS,),
    show_default=True,
    help="Metric to keep beside the durations; a glob, or all. May be given several times.",
)
def command(results: str, folder: Path, metrics: tuple[str, ...]) -> None:
    """Reduce results to what comparisons read, small enough for a repository.

    RESULTS is the results of a case, a case, or a folder with several of these; FOLDER@1-5,8 takes
    some of the runs. What is written is read as results are: by compare, and by --baseline. Runs
    that were written before for the same case are replaced.
    """
    made = write_compact(read_run_sets(parse_selection(results)), folder, metrics)
    rows = [
        (
            printable(one.title),
            in_short(one.runs) or "-",
            amount(max(one.sizes), "B"),
            shown(one.folder),
        )
        for one in made
    ]
    print_table(Table(("CASE", "RUNS", "LARGEST RUN", "FOLDER"), rows, ("LARGEST RUN",)))
    total = sum(size for one in made for size in one.sizes)
    say(f"\n{amount(total, 'B')} in all")
