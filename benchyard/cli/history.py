"""``benchyard history``: what was published, through time."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from benchyard.cli.common import gathered, json_option
from benchyard.cli.option_types import Whole, output_option, since_option
from benchyard.cli.terminal import has_unicode, print_json, print_table, say, styled
from benchyard.core.errors import InputError
from benchyard.core.wording import printable
from benchyard.publish.sinks import open_reader
from benchyard.publish.sinks.contract import Reader
from benchyard.show.history.plot import draw
from benchyard.show.history.report import (
    changes,
    cut,
    entries_document,
    entries_table,
    on,
    summary,
    tests_document,
    tests_table,
    timings_table,
)
from benchyard.show.history.series import Series, Window, read_series, read_tests

#: How many of the newest are looked at, unless the user says otherwise.
LIMIT = 100


@click.command("history")
@click.argument("test", required=False)
@click.argument("entry", required=False)
@click.option(
    "--sink",
    default="local",
    show_default=True,
    metavar="SINK",
    help="Where to read: local, local:FILE, datastore or azure-tables.",
)
@since_option
@click.option(
    "--limit",
    default=LIMIT,
    show_default=True,
    type=Whole(0, 10_000_000),
    help="At most so many of each, the newest; 0 takes all.",
)
@click.option("--machine", "host", metavar="NAME", help="Only what was measured on this machine.")
@click.option(
    "--all-machines",
    "pooled",
    is_flag=True,
    help="Put the timings of all machines into one series; else each has its own.",
)
@click.option("--newest-first", is_flag=True, help="List the newest timing first.")
@output_option(
    *("plot", ".png", ".svg"),
    help="Draw what is shown into a picture, .png or .svg.",
)
@json_option
@gathered("window", Window)
def command(
    test: str | None,
    entry: str | None,
    sink: str,
    window: Window,
    plot: Path | None,
    *,
    newest_first: bool,
    as_json: bool,
) -> None:
    """Show published timings over time.

    Without TEST, lists the tests. With TEST, lists its entries, each with its newest wall time
    against the median of those before it. With ENTRY, lists every wall time. Compare what stands
    out with benchyard compare: it judges whether a difference is more than noise. A series is of
    one host, and shows where the subject changed. Suspect timings are marked and not counted.

    Example:
        benchyard history
        benchyard history 'mine[threads=1]' -o history.svg
    """
    window = replace(window, limit=window.limit or None)
    if window.pooled and window.host is not None:
        raise click.UsageError("--machine takes one, --all-machines takes all: leave one out")
    if plot is not None and test is None:
        raise click.UsageError("--output draws a TEST, or one ENTRY of it; name one")
    with closing(open_reader(sink)) as reader:
        if test is None:
            _show_tests(reader, sink, window, as_json=as_json)
            return
        found = read_series(reader, test, entry, window)
    if as_json:
        print_json(entries_document(sink, window, test, found, newest_first=newest_first))
    elif entry is None:
        _show_entries(test, found, window)
    else:
        for place, series in enumerate(found):
            say("\n" if place else "", end="")
            _show_timings(series, newest_first=newest_first)
        _tell_of_cut(found, window)
    if plot is not None:
        _draw(found, test, plot)


def _show_tests(reader: Reader, sink: str, window: Window, *, as_json: bool) -> None:
    tests = list(read_tests(reader, window))
    if as_json:
        print_json(tests_document(sink, window, tests))
    elif tests:
        print_table(tests_table(tests))
    else:
        say("no test was published in this time")


def _show_entries(test: str, found: list[Series], window: Window) -> None:
    say(styled(printable(test), bold=True), on(found))
    if not found:
        say("no timings in this time")
        return
    print_table(entries_table(found, unicode=has_unicode()))
    for text in changes(found):
        say(text)
    _tell_of_cut(found, window)


def _show_timings(series: Series, *, newest_first: bool) -> None:
    name = styled(printable(series.test), bold=True)
    say(name, f"  {printable(series.entry)}{on([series])}")
    if series.points:
        print_table(timings_table(series, newest_first=newest_first))
        say()
    for text in summary(series, unicode=has_unicode()):
        say(text)


def _tell_of_cut(found: list[Series], window: Window) -> None:
    text = cut(found, window)
    if text:
        say(text, dim=True)


def _draw(found: list[Series], test: str, file: Path) -> None:
    shown = [series for series in found if series.points]
    if not shown:
        raise InputError(f"{file}: nothing to draw, there are no timings in this time")
    drawn = draw(shown, test, file)
    if drawn < len(shown):
        text = f"{file} shows the {drawn} entries that changed most, of {len(shown):,}"
        say(text, err=True)
