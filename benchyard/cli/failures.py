"""``benchyard failures``: what failed and was retried, the most fragile steps first."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from benchyard.analysis.executions import Collected, StepTry, collect, executions, results_below
from benchyard.analysis.failure_rates import by_fragility, troubled
from benchyard.analysis.failure_tables import (
    document,
    executions_table,
    link_of,
    rates_table,
    retries_table,
    steps_table,
    summary,
)
from benchyard.case.loading import Loaded
from benchyard.cli.common import Selection, selection
from benchyard.cli.option_types import since_option
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.clock import iso_utc
from benchyard.core.model import Case
from benchyard.core.quantity import plural
from benchyard.core.table import text_table
from benchyard.core.wording import printable
from benchyard.lab import server
from benchyard.results.attempts import RunAttempt

#: So many executions are listed, unless all are asked for.
_MOST = 50
_MOST_LINKS = 10


@click.command("failures")
@selection
@since_option
@click.option("--all", "every", is_flag=True, help=f"List all executions, not only {_MOST}.")
def command(selection: Selection, since: datetime | None, *, every: bool, as_json: bool) -> None:
    """List what failed and was retried, the most fragile steps first.

    Every attempt of a run counts, also an attempt that a later one replaced. The order is by the
    least failure rate that is likely, so that 9 of 10 come before 1 of 1.

    Example:
        benchyard failures --since 30d
    """
    _, loaded = selection.load()
    folders = [folder for item in loaded for folder in _results(item, selection)]
    collected = collect(dict.fromkeys(folders)).since(since)
    if as_json:
        print_json(document(collected, iso_utc(since) if since else None, server.ui_address()))
        return
    _print(collected, every=every)


def _results(item: Loaded, selection: Selection) -> Sequence[Path]:
    """Return the results folders of a case; of an invalid case, all that exist."""
    if not item.problems:
        return [selection.results_of(case) for case in item.cases]
    case = Case(item.file.parent, id="", name=item.name, description="", steps=())
    return results_below(selection.results_of(case))


# -- for people


def _print(collected: Collected, *, every: bool) -> None:
    found = list(executions(collected.tries))
    steps = by_fragility(found)
    say(summary(steps), bold=True)
    if troubled(steps):
        _print_tables(found, collected.tries, every=every)
    for problem in collected.problems:
        say(f"left out: {printable(problem)}", fg="yellow", err=True)
    going = sum(1 for one in collected.tries if one.under_way)
    if going:
        say(f"{plural(going, 'run')} under way, not counted")


def _print_tables(found: Sequence[StepTry], tries: Sequence[RunAttempt], *, every: bool) -> None:
    steps = by_fragility(found)
    listed = troubled(steps)
    most = len(listed) if every else _MOST
    retries = retries_table(tries)
    tables = (
        steps_table(steps),
        executions_table(listed).first(most, "; --all lists them"),
        rates_table(found),
        text_table(("FLOW RUN", "LINK"), _links(listed)[:_MOST_LINKS]),
        replace(retries, rows=retries.rows[:_MOST_LINKS]),
    )
    for table in tables:
        if table.rows:
            say()
            print_table(table)


def _links(listed: Sequence[StepTry]) -> list[tuple[str, str]]:
    ui = server.ui_address()
    links = {str(one.flow_run.get("name")): link_of(one.flow_run, ui) for one in listed}
    return [(name, address) for name, address in links.items() if address]
