"""``benchyard stats``: the statistics of finished runs, computed anew."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from benchyard.case.loading import Loaded, raise_problems
from benchyard.cli.common import load_selected, results_of, results_option, selection
from benchyard.cli.outcome import print_outcome, read_summary, refuse_unknown_metric
from benchyard.cli.terminal import say
from benchyard.core.errors import RecordError
from benchyard.core.model import Case
from benchyard.results.campaigns import chosen_campaigns
from benchyard.results.folders import Results
from benchyard.results.krown import krown_runs
from benchyard.run.summarize import summarize
from benchyard.show.steps_table import DURATION
from benchyard.statistics.figures import plural


@click.command("stats")
@selection
@results_option
@click.option(
    "--campaign",
    metavar="NAME",
    help="An earlier campaign by the beginning of its date or digest, or all of them.",
)
@click.option(
    "--include-suspect",
    is_flag=True,
    help="Describe executions too that were disturbed; the summary says so.",
)
@click.option(
    "--metric",
    default=DURATION,
    show_default=True,
    metavar="NAME",
    help="What the table shows of each step, as summary.json names it: call_s, resource_cpu_s.",
)
def command(
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    resource_folders: tuple[Path, ...],
    root: Path,
    results: Path | None,
    *,
    campaign: str | None,
    as_json: bool,
    include_suspect: bool,
    metric: str,
) -> None:
    """Show and rewrite the statistics of finished runs.

    They come from the records alone (run.json), so they are never older than the runs. Results
    that KROWN's exectool made have no records: their metrics.csv is read instead. A case need not
    be executable here: its results are enough. A finished run that cannot be read is left out and
    named, and the exit code is 1. Runs that measured something else than the newest one are told
    apart from it.
    """
    _, loaded = load_selected(root, cases, tags, resource_folders)
    chosen = [
        (case, place)
        for item in loaded
        for case, folder in _targets(item, root, results)
        for place in chosen_campaigns(folder, campaign)
    ]
    if not chosen:
        raise_problems(loaded)
    unreadable = sum(
        len(summarize(case.title, folder, include_suspect=include_suspect))
        for case, folder in chosen
        if _has_runs(folder)
    )
    refuse_unknown_metric((read_summary(folder) for _, folder in chosen), metric)
    print_outcome(chosen, as_json=as_json, metric=metric)
    _tell_of_invalid(loaded, [case.folder for case, _ in chosen])
    if unreadable:
        text = f"{plural(unreadable, 'finished run')} left out"
        raise RecordError(f"{text}: not readable; the warnings of its case say why, and what to do")


def _targets(item: Loaded, root: Path, results: Path | None) -> Iterator[tuple[Case, Path]]:
    """Yield cases with their results folders; of an invalid case, those with runs."""
    if not item.problems:
        yield from ((case, results_of(case, root, results)) for case in item.cases)
        return
    case = Case(item.file.parent, id="", name=item.name, description="", steps=())
    folder = results_of(case, root, results)
    if _has_runs(folder):
        yield case, folder
    # Points of a matrix that cannot be read any more: their folders tell which they were.
    for point in sorted(folder.iterdir()) if folder.is_dir() else ():
        if _has_runs(point):
            yield replace(case, name=f"{case.name}[{point.name}]"), point


def _has_runs(folder: Path) -> bool:
    return bool(Results(folder).marked() or krown_runs(folder))


def _tell_of_invalid(loaded: Sequence[Loaded], shown: Sequence[Path]) -> None:
    alone = sum(1 for item in loaded if item.problems and item.file.parent not in shown)
    if alone:
        text = f"{plural(alone, 'invalid case')} without results left alone"
        say(f"{text}; benchyard validate says why", err=True)
