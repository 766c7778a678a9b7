"""``benchyard run``: execute cases under measurement, through Prefect or directly."""

import sys
from pathlib import Path

import click

from benchyard.case.loading import raise_problems
from benchyard.case.problems import printable
from benchyard.errors import InputError
from benchyard.execution.adaptive import stored_rule
from benchyard.execution.ordering import Order
from benchyard.execution.plain import summarize_if_older
from benchyard.execution.request import Request
from flows.cli import executing
from flows.cli.amounts import parse_runs
from flows.cli.common import (
    cases_of,
    load_selected,
    results_of,
    results_option,
    selection,
)
from flows.cli.display import make_display
from flows.cli.outcome import print_outcome, read_summary
from flows.cli.planning import Planned, make_plan, print_plan
from flows.cli.seconds import Seconds


@click.command("run")
@selection
@results_option
@click.option(
    "--runs",
    "runs_wanted",
    default="3",
    show_default=True,
    metavar="N or N..M",
    help="How many runs there shall be in the end; finished ones count. A range needs --until.",
)
@click.option(
    "--until",
    metavar="PERCENT",
    help="Stop as soon as the median of each step is known to ± PERCENT, such as 1%.",
)
@click.option(
    "--interval",
    default=0.1,
    show_default=True,
    type=Seconds(0.001, 3600),
    help="Seconds between two samples of the host.",
)
@click.option(
    "--cooldown",
    default=15.0,
    show_default=True,
    type=Seconds(0, 86_400),
    help="Seconds of rest between two runs.",
)
@click.option(
    "--order",
    default=Order.CASE.value,
    show_default=True,
    type=click.Choice([order.value for order in Order]),
    help="How the runs of several cases follow each other.",
)
@click.option("--seed", type=click.IntRange(0), help="Of the random order; chosen if left out.")
@click.option("--force", is_flag=True, help="Execute finished runs again.")
@click.option("--dry-run", is_flag=True, help="Print what would be executed, and stop.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failed run.")
@click.option(
    "--no-wait", is_flag=True, help="Fail if another lab measures on this host, do not wait."
)
@click.option("--wait-for-user", is_flag=True, help="Ask for Enter before each step.")
@click.option("--direct", is_flag=True, help="Execute without Prefect, for a quick look.")
@click.option("-v", "--verbose", is_flag=True, help="Tell more.")
def command(
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    resource_folders: tuple[Path, ...],
    root: Path,
    results: Path | None,
    runs_wanted: str,
    until: str | None,
    interval: float,
    cooldown: float,
    order: str,
    seed: int | None,
    *,
    as_json: bool,
    force: bool,
    dry_run: bool,
    fail_fast: bool,
    no_wait: bool,
    wait_for_user: bool,
    direct: bool,
    verbose: bool,
) -> None:
    """Execute cases under measurement.

    CASE is a folder with cases below it, a name, or a glob over names, with [name=value] for one
    point of a matrix; all below --root if left out. Finished runs are not done again, so the same
    command goes on where an interrupted one ended.
    """
    most, rule = parse_runs(runs_wanted, until)
    _, loaded = load_selected(root, cases, tags, resource_folders)
    raise_problems(loaded)
    chosen = cases_of(loaded)
    if not chosen:
        raise InputError(f"no cases below {root.resolve()}")
    if wait_for_user and not sys.stdin.isatty():
        raise InputError("--wait-for-user needs a terminal: nobody is there to press Enter")
    folders = [results_of(case, root, results) for case in chosen]
    wanted = range(1, most + 1)
    plan = make_plan(chosen, folders, wanted, Order(order), seed, force=force)
    if dry_run:
        print_plan(plan, as_json=as_json)
        return
    request = Request(
        case="",
        runs=rule.minimum if rule else most,
        most_runs=most if rule else None,
        until=rule.until if rule else None,
        interval=interval,
        cooldown=cooldown,
        force=force,
        fail_fast=fail_fast,
        wait=not no_wait,
        wait_for_user=wait_for_user,
        root=str(root.resolve()),
        results=str(results.resolve()) if results else None,
        resources=tuple(str(folder.resolve()) for folder in resource_folders),
    )
    ended = _execute(plan, request, direct=direct, verbose=verbose)
    print_outcome(plan.cases, plan.folders, as_json=as_json)
    ended.raise_if_not_done()


def _execute(plan: Planned, request: Request, *, direct: bool, verbose: bool) -> executing.Ended:
    if plan.seed is not None:
        click.echo(f"random order with seed {plan.seed}", err=True)
    display = make_display(
        runs=len(plan.runs),
        cooldown=request.cooldown,
        verbose=verbose,
        terminal=sys.stderr.isatty() and not request.wait_for_user,
    )
    ended = executing.execute(plan.cases, plan.turns, request, display, direct=direct)
    for case, folder in zip(plan.cases, plan.folders, strict=True):
        summarize_if_older(case.title, folder)
    _tell_changed_rules(plan, request)
    return ended


def _tell_changed_rules(plan: Planned, request: Request) -> None:
    """Say of cases with nothing left to do that their rule was another one."""
    busy = {turn.case for turn in plan.turns}
    for place, (case, folder) in enumerate(zip(plan.cases, plan.folders, strict=True)):
        told = None if place in busy else stored_rule(request.rule(), read_summary(folder))
        if told:
            click.secho(f"{printable(case.title)}: {told}", fg="yellow", err=True)
