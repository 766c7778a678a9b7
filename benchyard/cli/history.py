"""``benchyard history``: what was measured, through time, and since when it is at its level."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.sides import Places
from benchyard.analysis.comparison.states import ChangeItem, cases_of
from benchyard.cli.checking import ACCEPTING
from benchyard.cli.common import gathered, json_option, results_option, root_option
from benchyard.cli.option_types import Whole, output_option, since_option
from benchyard.cli.terminal import has_unicode, print_json, print_table, say, styled
from benchyard.core.errors import InputError
from benchyard.core.wording import printable
from benchyard.publish.sinks import open_reader
from benchyard.show.history.plot import history_drawing
from benchyard.show.history.report import (
    changes,
    cut,
    document,
    entries_table,
    label,
    on,
    tests_table,
    timings_table,
    told_levels,
)
from benchyard.show.history.series import Series, TestSummary, Window, read_series, read_tests
from benchyard.show.history.steps import case_summaries, level_changes, read_steps

#: How many of the newest are looked at, unless the user says otherwise.
LIMIT = 100


@click.command("history")
@click.argument("case", required=False)
@click.argument("step", required=False)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="A metric instead of the wall time, or a glob; several times.",
)
@root_option
@results_option
@since_option
@click.option(
    "--limit",
    show_default=f"{LIMIT}; of a CASE all campaigns",
    type=Whole(0, 10_000_000),
    help="At most so many of each, the newest; 0 takes all.",
)
@click.option("--machine", "host", metavar="NAME", help="Only what was measured on this machine.")
@click.option(
    "--all-machines",
    "pooled",
    is_flag=True,
    help="Put what all machines measured into one series; else each has its own.",
)
@click.option(
    "--sink",
    metavar="SINK",
    help="Read published timings instead: local, local:FILE, datastore or azure-tables.",
)
@click.option("--newest-first", is_flag=True, help="List the newest first.")
@output_option(
    *("plot", ".png", ".svg"),
    help="Draw what is shown into a picture, .png or .svg.",
)
@json_option
@gathered("window", Window)
@gathered("places", Places)
def command(
    case: str | None,
    step: str | None,
    metrics: tuple[str, ...],
    sink: str | None,
    window: Window,
    places: Places,
    plot: Path | None,
    *,
    newest_first: bool,
    as_json: bool,
) -> None:
    """Show since when cases are at their level.

    Without CASE, lists the cases with results, each with its newest change of level. With CASE,
    shows each step over its campaigns: its level, since when, and what changed then. With STEP,
    lists every campaign. benchyard check judges the newest one. A series is of one host. Suspect
    campaigns are marked and not counted.

    Example:
        benchyard history
        benchyard history 'mine[threads=1]' -o history.svg
    """
    if window.pooled and window.host is not None:
        raise click.UsageError("--machine takes one, --all-machines takes all: leave one out")
    if plot is not None and case is None:
        raise click.UsageError("--output draws a CASE, or one STEP of it; name one")
    if sink is not None and metrics:
        raise click.UsageError("a sink has wall times alone: leave out --metric or --sink")
    usual = LIMIT if case is None or sink else None
    window = replace(window, limit=(usual if window.limit is None else window.limit) or None)
    tests, found, items = _read(case, step, sink, places, metrics or (DURATION,), window)
    if as_json:
        print_json(document(sink, window, tests, found if case else (), items))
    elif case is None:
        _show_tests(tests)
    else:
        _show_levels(case, step, found, items)
        _show_series(found, single=step is not None, newest_first=newest_first)
        for note in cut(found, window):
            say(note, dim=True)
    if plot is not None:
        _draw(found, case or "", plot)


def _read(
    case: str | None,
    step: str | None,
    sink: str | None,
    places: Places,
    metrics: Sequence[str],
    window: Window,
) -> tuple[list[TestSummary], list[Series], list[ChangeItem]]:
    """Return what there is, the series of it (of a sink those of a case), and what changed."""
    if sink is None:
        cases = cases_of((case,) if case else (), places)
        found = read_steps(cases, step, metrics, window)
        items = level_changes(found)
        return list(case_summaries(cases, found, items)), found, items
    with closing(open_reader(sink)) as reader:
        if case is None:
            return list(read_tests(reader, window)), [], []
        return [], read_series(reader, case, step, window), []


def _show_tests(tests: Sequence[TestSummary]) -> None:
    if not tests:
        say("no test was published in this time")
        return
    print_table(tests_table(tests))
    if any(test.open for test in tests):
        say(ACCEPTING)


def _show_levels(
    case: str, step: str | None, found: Sequence[Series], items: Sequence[ChangeItem]
) -> None:
    tests = {series.test for series in found}
    heading = [min(tests) if len(tests) == 1 else case, *([step] if step else [])]
    say(styled(printable("  ".join(heading)), bold=True), on(found))
    for text in map(str, items) if items else told_levels(found):
        say(text)
    if any(item.is_open for item in items):
        say(ACCEPTING)


def _show_series(found: Sequence[Series], *, single: bool, newest_first: bool) -> None:
    shown = [series for series in found if series.points]
    if not shown:
        say("nothing was measured in this time")
        return
    print_table(entries_table(shown, unicode=has_unicode()))
    for text in changes(shown) if not single else ():
        say(text)
    for series in shown if single else ():
        say()
        if shown[1:]:
            say(styled(label(series, shown), bold=True))
        print_table(timings_table(series, newest_first=newest_first))


def _draw(found: Sequence[Series], case: str, file: Path) -> None:
    shown = [series for series in found if series.points]
    if not shown:
        raise InputError(f"{file}: nothing to draw, nothing was measured in this time")
    history_drawing(shown, 820, case, 400).write(file)
