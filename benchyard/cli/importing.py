"""``benchyard import``: keep files of other benchmark tools."""

from pathlib import Path

import click

from benchyard.cli.common import json_option, results_option, root_option
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import ExitCode
from benchyard.core.files import shown
from benchyard.core.table import text_table
from benchyard.core.wording import printable


@click.command("import")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(exists=True, path_type=Path),
)
@click.option("--case", default="", metavar="NAME", help="Name of the case; that of the format.")
@click.option(
    "--columns",
    metavar="NAME=COLUMN,...",
    help="Take the files for CSV with these columns: name, value, unit, metric, time, commit, "
    "host, run, parameter.NAME. What is no column is a constant.",
)
@root_option
@results_option
@json_option
def command(
    files: tuple[Path, ...],
    case: str,
    columns: str | None,
    root: Path,
    results: Path | None,
    *,
    as_json: bool,
) -> int:
    """Keep files of other benchmark tools as campaigns of a case.

    FILE is a file, or a folder with such files. Each commit or day in it becomes a campaign, in
    NAME/results below --root or in NAME below --results; what is there already is not added again.
    history, check, compare, alarms and the explorer then take it as what was measured here.

    Example:
        benchyard import --case api .benchmarks
        benchyard import times.csv --case queries --columns name=query,value=ms,unit=ms
    """
    from benchyard.catalogue import importing  # noqa: PLC0415 - 0.2 s

    def home(name: str) -> Path:
        return results / name if results else root / name / "results"

    read = importing.csv_reader(columns) if columns else importing.read_known
    kept, damaged = importing.import_files(files, case, home, read)
    if as_json:
        print_json({"cases": [one.to_json() for one in kept], "damaged": [*damaged]})
    elif kept:
        heads = ("CASE", "FILES", "CAMPAIGNS", "NEW", "RESULTS")
        rows = [
            (one.case, *map(str, (one.files, len(one.campaigns), one.added)), shown(one.results))
            for one in kept
        ]
        print_table(text_table(heads, rows, right=heads[1:4]))
    for text in (*(text for one in kept for text in one.left_out), *damaged):
        say(f"left out: {printable(text)}", err=True)
    return ExitCode.WRONG_INPUT if damaged or not kept else ExitCode.DONE
