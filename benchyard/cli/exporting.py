"""``benchyard export``: results for spreadsheets, data frames and papers."""

from collections.abc import Sequence
from pathlib import Path

import click

from benchyard.cli.common import (
    Selection,
    campaign_option,
    case_options,
    file_sources,
    gathered,
    results_option,
    selected_results,
    suspect_option,
)
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import columns_option, output_option
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import shown
from benchyard.core.outputs import Output, write
from benchyard.core.quantity import plural
from benchyard.show.export.files import WRITERS, write_workbook
from benchyard.show.export.latex import latex
from benchyard.show.export.paper import markdown, paper_tables
from benchyard.show.export.sources import CaseFolder, source_of
from benchyard.show.export.tidy import Choice, Tally, summarized, tidy

#: Format of tables for papers to what writes them, and ending of a file to its format.
_WRITE_TABLES = {"latex": latex, "markdown": markdown}
_PAPERS = {".tex": "latex", ".md": "markdown"}
_STDOUT = Path("-")
#: Files of other tools are named as their tools want it; OpenMetrics ends in the latter.
_OTHERS = (".json", ".prom", ".txt")


@click.command("export")
@case_options
@results_option
@gathered("selection", Selection)
@output_option(
    *("files", *WRITERS, *_PAPERS, *_OTHERS),
    multiple=True,
    help="File to write: .csv, .parquet, .arrow, .xlsx, .tex or .md; - is stdout.",
)
@click.option("--csv", "format_", flag_value="csv", help="CSV on stdout; so it is without -o.")
@click.option("--latex", "format_", flag_value="latex", help="LaTeX tables on stdout.")
@click.option("--markdown", "format_", flag_value="markdown", help="Markdown tables on stdout.")
@click.option(
    "--as",
    "form",
    metavar="NAME",
    help="The form of another tool: asv, bencher, conbench, github-action-custom, "
    "google-benchmark, hyperfine, openmetrics or pytest-benchmark.",
)
@click.option(
    "--summary", is_flag=True, help="A row for each step and metric, not each repetition."
)
@field_options(Choice, "metrics")
@columns_option
@field_options(Choice, "counted")
@suspect_option
@click.option(
    "--points",
    "layout",
    metavar="columns|rows|PARAMETER",
    show_default="columns up to four points",
    help="Where tables of LaTeX and Markdown have the points of a matrix; a parameter has a column "
    "for each of its values, and the others are rows.",
)
@campaign_option
@gathered("choice", Choice)
def command(
    selection: Selection,
    choice: Choice,
    files: tuple[Path, ...],
    format_: str | None,
    form: str | None,
    columns: tuple[str, ...] | None,
    layout: str | None,
    campaign: str | None,
    *,
    summary: bool,
) -> None:
    """Write results for spreadsheets, data frames and papers.

    CASE is what benchyard run takes, a folder with results, or a file of another tool. A file
    gets a row for each run, step, repetition and metric, or with --summary for each step and
    metric; .xlsx begins with medians and a comparison; .tex and .md get tables of medians; --as
    writes the file of another tool. Without -o, it goes to stdout, as CSV without --as.

    Example:
        benchyard export mine -o mine.csv
        benchyard export mine --as hyperfine -o mine.json
    """
    outputs = [
        (file, _kind(file, format_)) for file in files or (Output.opened(_STDOUT, (".csv",)),)
    ]
    if form is not None:
        if format_ or columns or layout or summary or choice.counted:
            raise click.UsageError("--as writes no tables: leave out what is for these")
        _write_as(form, _sources(selection, campaign), choice, [file for file, _ in outputs])
        return
    _refuse_useless(outputs, format_, columns)
    sources, tally = _sources(selection, campaign), Tally()
    rows = (summarized if summary else tidy)(sources, choice, tally)
    rows = rows if columns is None else rows.only(columns)
    # Rows come last: what does not count is told by them.
    for file, kind in sorted(outputs, key=lambda output: output[1] == "rows"):
        if kind in _WRITE_TABLES:
            write(file, _WRITE_TABLES[kind](paper_tables(sources, choice, tally, layout)))
        elif file.suffix.lower() == ".xlsx":
            missing = write_workbook(file, sources, choice, rows, summary=summary)
            if missing:
                say(f"{shown(file)} has no sheet of comparisons: {missing}", err=True)
        else:
            WRITERS[file.suffix.lower()](rows, file)
    _tell(tally, counted=choice.counted)


def _sources(selection: Selection, campaign: str | None) -> list[CaseFolder]:
    sources, rest = file_sources(selection)
    if rest.cases or not sources:
        sources += [source_of(*one) for one in selected_results(rest, campaign)[0]]
    if not sources:
        raise InputError(f"{shown(selection.root)}: no runs there; benchyard run makes them")
    return sources


def _write_as(
    form: str, sources: Sequence[CaseFolder], choice: Choice, files: Sequence[Path]
) -> None:
    from benchyard.cli.other_files import write_as  # noqa: PLC0415 - 0.2 s

    tally = Tally()
    tally.unreadable += write_as(form, sources, choice, files)
    _tell(tally, counted=False)


def _kind(file: Path, format_: str | None) -> str:
    """Return how a file is written: ``latex``, ``markdown`` or ``rows``."""
    if file == _STDOUT:
        return format_ if format_ in _WRITE_TABLES else "rows"
    return _PAPERS.get(file.suffix.lower(), "rows")


def _refuse_useless(
    outputs: Sequence[tuple[Path, str]], format_: str | None, columns: Sequence[str] | None
) -> None:
    if any(file.suffix.lower() in _OTHERS for file, _ in outputs):
        endings = " or ".join((*WRITERS, *_PAPERS))
        raise click.UsageError(f"it must end in {endings}; --as NAME writes others")
    if format_ and _STDOUT not in (file for file, _ in outputs):
        raise click.UsageError(
            "--csv, --latex and --markdown are for stdout; a file's ending says how it is written"
        )
    if columns is not None and "rows" not in (kind for _, kind in outputs):
        raise click.UsageError("--columns is for rows; tables have their columns by --points")


def _tell(tally: Tally, *, counted: bool) -> None:
    """Say on stderr what does not count.

    Raises:
        RecordError: If runs cannot be read.
    """
    executions = plural(tally.executions, "execution")
    reasons = [f"{n:,} {word.replace('_', ' ')}" for word, n in tally.left_out.most_common()]
    if reasons:
        number = f"{tally.left_out.total():,} of {executions}"
        what = "left out" if counted else "marked in the column left_out (--counted drops them)"
        say(f"{number} {what}: {', '.join(reasons)}", err=True)
    if tally.suspect:
        number = f"{tally.suspect:,} of {executions}"
        say(f"{number} suspect, and counted (--suspect leave-out drops them)", err=True)
    if tally.unreadable:
        number = plural(len(tally.unreadable), "finished run")
        raise RecordError("\n".join([f"{number} left out:", *tally.unreadable]))
