"""``benchyard run``: execute cases under measurement, through Prefect or directly."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import click

from benchyard.analysis.regressions import Baseline, check_baseline
from benchyard.case.loading import raise_problems
from benchyard.case.testbeds import refuse_unfit
from benchyard.cli import executing
from benchyard.cli.common import cases_of, load_selected, results_of, results_option, selection
from benchyard.cli.display import make_display
from benchyard.cli.options import (
    baseline_option,
    keep_option,
    new_option,
    no_wait_option,
    parse_runs,
    publish_option,
    schedule,
    verbose_option,
    wished_campaign,
)
from benchyard.cli.outcome import print_outcome, read_summary
from benchyard.cli.planning import Planned, make_plan, print_plan
from benchyard.cli.sinks import parse_sinks
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError, RegressionError
from benchyard.core.model import Case
from benchyard.core.wording import printable
from benchyard.publish import archive_uploaded, check_sinks, upload_runs
from benchyard.publish.outcome import advice, problems
from benchyard.results.campaigns import publishable_runs
from benchyard.results.layout import refuse_foreign
from benchyard.run.adaptive import Adaptive, stored_rule
from benchyard.run.ordering import Order
from benchyard.run.request import Request
from benchyard.run.summarize import summarize_if_older


def raise_if_worse(
    baseline: str | None, cases: Sequence[Case], folders: Sequence[Path], *, direct: bool
) -> None:
    """Compare each case with the baseline; nothing happens without one.

    Args:
        folders: The cases' results.
        direct: Whether nobody has told what came of it yet: a flow run has.

    Raises:
        RegressionError: If a case is worse.
    """
    if baseline is None:
        return
    before, worse = Baseline(baseline), list[str]()
    for case, folder in zip(cases, folders, strict=True):
        looked = before.look(case.title, folder)
        if direct:
            say(f"{printable(case.title)} against {baseline}: {looked.summary}", err=True)
        worse += [found.text for found in looked.regressions]
    if worse:
        raise RegressionError("\n".join(worse))


class _Given(TypedDict):
    """The options that say how runs are executed, as they were given."""

    interval: float
    cooldown: float
    force: bool
    fail_fast: bool
    no_wait: bool
    wait_for_user: bool
    ignore_requirements: bool
    publish: str
    baseline: str | None


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
@schedule
@click.option("--dry-run", is_flag=True, help="Print what would be executed, and stop.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failed run.")
@no_wait_option
@publish_option
@click.option(
    "--ignore-requirements",
    is_flag=True,
    help="Execute even if this host is not what a case requires.",
)
@baseline_option
@click.option("--wait-for-user", is_flag=True, help="Ask for Enter before each step.")
@new_option
@keep_option
@click.option("--direct", is_flag=True, help="Execute without Prefect, for a quick look.")
@verbose_option
def command(
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    resource_folders: tuple[Path, ...],
    root: Path,
    results: Path | None,
    runs_wanted: str,
    until: str | None,
    order: str,
    seed: int | None,
    *,
    as_json: bool,
    dry_run: bool,
    begins: bool,
    keeps: bool,
    direct: bool,
    verbose: bool,
    **given: Unpack[_Given],
) -> None:
    """Execute cases under measurement.

    CASE is a folder with cases below it, a name, or a glob over names, with [name=value] for one
    point of a matrix; all below --root if left out. Finished runs are not done again, so the same
    command goes on where an interrupted one ended. Where the case, its classes, versions, commit or
    host differ from those of the finished runs, a new campaign begins; the earlier one is kept.
    """
    most, rule = parse_runs(runs_wanted, until)
    registry, loaded = load_selected(root, cases, tags, resource_folders)
    raise_problems(loaded)
    chosen = cases_of(loaded)
    if not chosen:
        raise InputError(f"no cases below {root.resolve()}")
    if given["wait_for_user"] and not sys.stdin.isatty():
        raise InputError("--wait-for-user needs a terminal: nobody is there to press Enter")
    folders = [results_of(case, root, results) for case in chosen]
    sinks = parse_sinks(given["publish"])
    check_sinks(sinks)
    check_baseline(given["baseline"])
    if not given["ignore_requirements"]:
        refuse_unfit(chosen)
    wanted = range(1, most + 1)
    for folder in folders:
        refuse_foreign(folder, wanted)
    wished = wished_campaign(begins=begins, keeps=keeps)
    plan = make_plan(
        chosen,
        folders,
        wanted,
        Order(order),
        seed,
        force=given["force"],
        wished=wished,
        registry=registry,
    )
    if dry_run:
        print_plan(plan, as_json=as_json)
        return
    places = (root, results, resource_folders)
    request = replace(_request(most, rule, places, sinks, given), campaign=wished.value)
    _say_of_idle(plan)
    ended = _execute(plan, request, direct=direct, verbose=verbose)
    print_outcome(plan.cases, plan.folders, as_json=as_json)
    ended.raise_if_not_done()
    raise_if_worse(given["baseline"], plan.cases, plan.folders, direct=direct)


def _say_of_idle(plan: Planned) -> None:
    """Say of cases with nothing left to do whose numbers are shown; of others the engine does."""
    busy = {turn.case for turn in plan.turns}
    for place, text in plan.said:
        if place not in busy:
            say(printable(text), err=True)


def _request(
    most: int,
    rule: Adaptive | None,
    places: tuple[Path, Path | None, tuple[Path, ...]],
    sinks: tuple[str, ...],
    given: _Given,
) -> Request:
    """Return what each case's flow is asked for; ``places`` are root, results and resources."""
    root, results, resource_folders = places
    return Request(
        case="",
        runs=rule.minimum if rule else most,
        most_runs=most if rule else None,
        until=rule.until if rule else None,
        interval=given["interval"],
        cooldown=given["cooldown"],
        force=given["force"],
        fail_fast=given["fail_fast"],
        wait=not given["no_wait"],
        wait_for_user=given["wait_for_user"],
        ignore_requirements=given["ignore_requirements"],
        publish=sinks,
        baseline=given["baseline"],
        root=str(root.resolve()),
        results=str(results.resolve()) if results else None,
        resources=tuple(str(folder.resolve()) for folder in resource_folders),
    )


def _execute(
    plan: Planned, request: Request, *, direct: bool, verbose: bool
) -> executing.ExecutionResult:
    if plan.seed is not None:
        say(f"random order with seed {plan.seed}", err=True)
    display = make_display(
        runs=len(plan.runs),
        cooldown=request.cooldown,
        verbose=verbose,
        terminal=sys.stderr.isatty() and not request.wait_for_user,
    )
    ended = executing.execute(
        plan.cases, plan.turns, request, display, direct=direct, begins=plan.begins
    )
    for case, folder in zip(plan.cases, plan.folders, strict=True):
        summarize_if_older(case.title, folder)
    _publish_finished(plan, request)
    _tell_changed_rules(plan, request)
    return ended


def _publish_finished(plan: Planned, request: Request) -> None:
    """Publish the runs of cases with nothing left to do: they may be of a time without sinks."""
    busy = {turn.case for turn in plan.turns}
    idle = [folder for place, folder in enumerate(plan.folders) if place not in busy]
    runs = [run for folder in idle for run in publishable_runs(folder)]
    if runs and request.publish:
        for outcome in archive_uploaded(upload_runs(runs, request.publish)):
            for text in (*problems(outcome), *advice(outcome)):
                say(text, fg="yellow", err=True)


def _tell_changed_rules(plan: Planned, request: Request) -> None:
    """Say of cases with nothing left to do that their rule was another one."""
    busy = {turn.case for turn in plan.turns}
    for place, (case, folder) in enumerate(zip(plan.cases, plan.folders, strict=True)):
        told = None if place in busy else stored_rule(request.rule(), read_summary(folder))
        if told:
            say(f"{printable(case.title)}: {told}", fg="yellow", err=True)
