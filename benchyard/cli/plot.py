"""``benchyard plot``: the curves of a run as a picture."""

from pathlib import Path

import click

from benchyard.cli.common import (
    one_case,
    resources_option,
    results_of,
    results_option,
    root_option,
)
from benchyard.cli.option_types import OutputFile
from benchyard.cli.outcome import read_summary
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError
from benchyard.core.files import shown, write_atomically
from benchyard.results.folders import run_folder
from benchyard.show.curves import draw, read_curves, run_to_draw


@click.command("plot")
@click.argument("case")
@click.option(
    "--run",
    type=click.IntRange(1),
    help="Which run; without it the median one, else the last that is done.",
)
@click.option(
    "--out",
    type=OutputFile(".svg"),
    help="File to write, .svg; without it curves-run-N.svg in the current folder.",
)
@results_option
@resources_option
@root_option
def command(
    case: str,
    run: int | None,
    out: Path | None,
    results: Path | None,
    resource_folders: tuple[Path, ...],
    root: Path,
) -> None:
    """Draw the curves of a run: CPU, memory, disk and network, step by step.

    The picture shows what was sampled; what counts is in the record, read at the boundaries of
    each step.
    """
    folder = results_of(one_case(case, root, resource_folders), root, results)
    number = run or _middle(folder)
    file = out or Path(f"curves-run-{number}.svg")
    place = run_folder(folder, number)
    if not place.is_dir():
        raise InputError(f"there is no run {number} in {shown(folder)}")
    write_atomically(file, draw(read_curves(place)))
    say(f"run {number}: {file}")


def _middle(results: Path) -> int:
    run = run_to_draw(results, read_summary(results))
    if run is None:
        raise InputError(f"there is no run in {shown(results)} yet; benchyard run makes them")
    return run
