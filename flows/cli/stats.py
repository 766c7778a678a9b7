"""``benchyard stats``: the statistics of finished runs, computed anew."""

from pathlib import Path

import click

from benchyard.case.loading import raise_problems
from benchyard.execution.layout import done_runs
from benchyard.execution.plain import summarize
from flows.cli.common import (
    cases_of,
    load_selected,
    results_of,
    results_option,
    selection,
)
from flows.cli.outcome import print_outcome


@click.command("stats")
@selection
@results_option
def command(
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    resource_folders: tuple[Path, ...],
    root: Path,
    results: Path | None,
    *,
    as_json: bool,
) -> None:
    """Show and rewrite the statistics of finished runs.

    They come from the records alone (run.json), so they are never older than the runs.
    """
    _, loaded = load_selected(root, cases, tags, resource_folders)
    raise_problems(loaded)
    chosen = cases_of(loaded)
    folders = [results_of(case, root, results) for case in chosen]
    for case, folder in zip(chosen, folders, strict=True):
        if done_runs(folder):
            summarize(case.title, folder)
    print_outcome(chosen, folders, as_json=as_json)
