"""``benchyard run``: execute cases under measurement, through Prefect or directly."""

import random
import sys
from pathlib import Path

import click

from benchyard.case.loading import raise_problems
from benchyard.errors import CaseFailedError, InputError, RunInterruptedError
from benchyard.execution.layout import done_runs
from benchyard.execution.ordering import Order, Turn, turns
from benchyard.execution.plain import summarize_if_older
from benchyard.execution.request import Request
from benchyard.model import Case, Json
from flows.cli import executing
from flows.cli.common import (
    cases_of,
    load_selected,
    plural,
    print_columns,
    print_json,
    results_of,
    results_option,
    selection,
)
from flows.cli.display import make_display
from flows.cli.outcome import print_outcome


@click.command("run")
@selection
@results_option
@click.option(
    "--runs",
    default=3,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many runs there shall be in the end; finished ones count.",
)
@click.option(
    "--interval",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0.001, 3600),
    help="Seconds between two samples of the host.",
)
@click.option(
    "--cooldown",
    default=15.0,
    show_default=True,
    type=click.FloatRange(0, 86_400),
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
    runs: int,
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
    _, loaded = load_selected(root, cases, tags, resource_folders)
    raise_problems(loaded)
    chosen = cases_of(loaded)
    if not chosen:
        raise InputError(f"no cases below {root.resolve()}")
    seed = random.randrange(2**31) if seed is None else seed  # noqa: S311
    folders = [results_of(case, root, results) for case in chosen]
    wanted = [_wanted(folder, runs, force=force) for folder in folders]
    planned = turns(wanted, Order(order), seed)
    if dry_run:
        _print_plan(
            chosen, folders, planned, seed if order == Order.RANDOM else None, as_json=as_json
        )
        return
    base = Request(
        case="",
        runs=runs,
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
    if order == Order.RANDOM:
        click.echo(f"random order with seed {seed}", err=True)
    total = sum(len(turn.runs) for turn in planned)
    terminal = sys.stderr.isatty() and not wait_for_user
    display = make_display(runs=total, cooldown=cooldown, verbose=verbose, terminal=terminal)
    ended = executing.execute(chosen, planned, base, display, direct=direct)
    for case, folder in zip(chosen, folders, strict=True):
        summarize_if_older(case.title, folder)
    print_outcome(chosen, folders, as_json=as_json)
    if ended.interrupted:
        raise RunInterruptedError("stopped; the same command goes on where this one ended")
    if ended.failed:
        raise CaseFailedError(_failure_text(ended.failed))


def _failure_text(failed: list[str]) -> str:
    return f"{plural(len(failed), 'case')} failed: {', '.join(failed)}"


def _wanted(folder: Path, runs: int, *, force: bool) -> list[int]:
    done: list[int] = [] if force else done_runs(folder)
    return [run for run in range(1, runs + 1) if run not in done]


def _print_plan(
    chosen: list[Case], folders: list[Path], planned: list[Turn], seed: int | None, *, as_json: bool
) -> None:
    rows: list[Json] = [
        {
            "case": chosen[turn.case].title,
            "run": run,
            "steps": [
                f"{step.resource}.{step.command}: {step.name}" for step in chosen[turn.case].steps
            ],
            "results": str(folders[turn.case]),
        }
        for turn in planned
        for run in turn.runs
    ]
    if as_json:
        print_json({"seed": seed, "runs": rows})
        return
    table = [("", "CASE", "RUN", "STEPS", "RESULTS")]
    places = [(turn.case, run) for turn in planned for run in turn.runs]
    for number, (place, run) in enumerate(places, 1):
        case = chosen[place]
        table.append((str(number), case.title, str(run), str(len(case.steps)), str(folders[place])))
    print_columns(table, right=(0, 2, 3))
    for case in chosen:
        click.echo(f"\n{case.title}")
        print_columns(
            [
                ("", "STEP", "COMMAND", "NEEDS"),
                *(
                    (str(s.index), s.name, f"{s.resource}.{s.command}", _needs(case, s.needs))
                    for s in case.steps
                ),
            ]
        )
    if seed is not None:
        click.echo(f"\nrandom order with seed {seed}")


def _needs(case: Case, needs: tuple[str, ...]) -> str:
    return ", ".join(str(step.index) for step in case.steps if step.id in needs)
