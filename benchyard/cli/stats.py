"""``benchyard stats``: the statistics of finished runs, computed anew."""

from collections.abc import Sequence
from pathlib import Path

import click

from benchyard.analysis.comparison.samples import DURATION
from benchyard.case.loading import Loaded
from benchyard.cli.common import (
    Selection,
    campaign_option,
    has_runs,
    selected_results,
    selection,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import columns_option, stdout_flag
from benchyard.cli.options import verbose_option
from benchyard.cli.outcome import name_of, print_outcome, read_summary
from benchyard.cli.terminal import say
from benchyard.core.errors import RecordError
from benchyard.core.model import Case
from benchyard.core.quantity import plural, shorten
from benchyard.core.wording import cell
from benchyard.results.trust import Suspect
from benchyard.run.summarize import summarize
from benchyard.show.export.files import csv_pieces
from benchyard.show.export.sources import source_of
from benchyard.show.export.tidy import Choice, Tally, summarized
from benchyard.show.summary_tables import Look, reported

#: Characters of a list of names.
_LONGEST_LIST = 300


@click.command("stats")
@selection
@campaign_option
@suspect_option
@field_options(Choice, "metrics", metrics={"help": "Show this metric, or a glob; several times."})
@columns_option
@stdout_flag("--csv", "as_csv", "CSV on stdout, as benchyard export --summary.")
@stdout_flag("--markdown", "as_markdown", "Markdown tables on stdout.")
@verbose_option
def command(
    selection: Selection,
    *,
    campaign: str | None,
    metrics: tuple[str, ...],
    columns: tuple[str, ...] | None,
    as_json: bool,
    as_csv: bool,
    as_markdown: bool,
    suspect: Suspect,
    verbose: bool,
) -> None:
    """Show and update the statistics of finished runs.

    Reads the records alone (run.json), or metrics.csv where KROWN's exectool made the results. The
    case need not be executable here; a folder with results is enough. Runs that measured something
    else than the newest one have their own table. Exits with 1 if a finished run cannot be read.

    Example:
        benchyard stats mine
    """
    look = Look(metrics, None if as_csv else columns)
    chosen, loaded = selected_results(selection, campaign)
    unreadable = sum(
        len(summarize(case.title, folder, suspect=suspect))
        for case, folder in chosen
        if has_runs(folder)
    )
    look.refuse_unmatched([read_summary(place) for _, place in chosen])
    if as_csv:
        _print_csv(chosen, metrics, columns, suspect)
    elif as_markdown:
        _print_markdown(chosen, look)
    else:
        print_outcome(chosen, as_json=as_json, look=look, verbose=verbose)
    if not (as_json or metrics):
        _tell_of_reported([place for _, place in chosen])
    _tell_of_invalid(loaded, [case.folder for case, _ in chosen])
    if unreadable:
        text = f"{plural(unreadable, 'finished run')} left out"
        raise RecordError(f"{text}: not readable; the warnings of its case say why, and what to do")


def _print_csv(
    chosen: Sequence[tuple[Case, Path]],
    metrics: tuple[str, ...],
    columns: Sequence[str] | None,
    suspect: Suspect,
) -> None:
    sources = [source_of(case, place) for case, place in chosen]
    choice = Choice(metrics or (DURATION,), suspect)
    rows = summarized(sources, choice, Tally())
    for piece in csv_pieces(rows if columns is None else rows.only(columns)):
        say(piece, end="")


def _print_markdown(chosen: Sequence[tuple[Case, Path]], look: Look) -> None:
    for case, place in chosen:
        table = look.table(read_summary(place).get("steps") or ())
        say(f"**{cell(name_of(case, place))}**\n\n{table.markdown()}")


def _tell_of_reported(places: Sequence[Path]) -> None:
    """Say which metrics commands reported themselves, and how to see them."""
    names = reported([read_summary(place) for place in places])
    if names:
        listed = shorten(", ".join(names), _LONGEST_LIST)
        say(f"reported by commands: {listed}; --metric NAME shows them", err=True)


def _tell_of_invalid(loaded: Sequence[Loaded], shown: Sequence[Path]) -> None:
    alone = sum(1 for item in loaded if item.problems and item.file.parent not in shown)
    if alone:
        text = f"{plural(alone, 'invalid case')} without results left alone"
        say(f"{text}; benchyard validate says why", err=True)
