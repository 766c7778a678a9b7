"""``benchyard rerun``: what Retry in the UI does, from the shell."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from benchyard.case.loading import raise_problems
from benchyard.cli import executing
from benchyard.cli.common import (
    cases_of,
    json_option,
    load_selected,
    resources_option,
    results_of,
    results_option,
    root_option,
)
from benchyard.cli.display import make_display
from benchyard.cli.option_types import Whole
from benchyard.cli.options import asked_for
from benchyard.cli.outcome import print_outcome
from benchyard.cli.planning import make_plan
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import ExitCode, InputError
from benchyard.core.model import Case, Json
from benchyard.core.wording import named_runs, printable
from benchyard.lab import server
from benchyard.publish import check_sinks
from benchyard.results.folders import Results
from benchyard.run.beginning import Campaigning
from benchyard.run.ordering import Turn
from benchyard.run.request import Request
from benchyard.suite.plan import SuitePlan

_SAID = {
    "retried": "retried: the flow run {name} was {state}, it goes on at the first run not done",
    "started": "started: a new flow run {name}; finished runs are not done again",
    "under way": "nothing done: the flow run {name} is {state} already",
}


@click.command("rerun")
@click.argument("case")
@click.option(
    "--run",
    "only",
    multiple=True,
    type=Whole(1),
    help="Only this run; may be given several times.",
)
@click.option("--force", is_flag=True, help="Finished runs too.")
@click.option(
    "--here", is_flag=True, help="Execute it in this terminal, even if there is a lab for it."
)
@results_option
@resources_option
@root_option
@json_option
def command(
    case: str,
    only: tuple[int, ...],
    results: Path | None,
    resource_folders: tuple[Path, ...],
    root: Path,
    *,
    force: bool,
    here: bool,
    as_json: bool,
) -> int:
    """Go on with a case where its last flow run ended.

    With a lab, a failed flow run is retried, as Retry in the UI does; a finished one is started
    again with the same parameters. Without one, the case is executed here, as benchyard run does.
    Finished runs are not touched, unless --force is given.
    """
    registry, loaded = load_selected(root, (case,), (), resource_folders)
    raise_problems(loaded)
    found = _single(case, cases_of(loaded))
    folder = results_of(found, root, results)
    if not force:
        _refuse_done(found, folder, only)
    told = None if here or results else _at_the_lab(found, only, force=force)
    if told is not None:
        _say(told, as_json=as_json)
        return ExitCode.DONE
    failed = Results(folder).failed()
    there = [*Results(folder).done(), *failed]
    # After two failures alike the others were not begun, and nobody knows how many there were.
    least = Request("").runs_of(found) if failed or not there else 1
    request = Request(
        case="",
        runs=max([*there, *only, least]),
        **asked_for(root=root, results=results, resource_folders=resource_folders, force=force),
    )
    plan = make_plan(
        *([found], [folder], request),
        asked=Campaigning.AUTO,
        registry=registry,
    )
    _execute(plan, only, request, as_json=as_json)
    return ExitCode.DONE


def _single(text: str, cases: list[Case]) -> Case:
    if len(cases) != 1:
        titles = ", ".join(case.title for case in cases[:5])
        more = ", …" if len(cases) > 5 else ""
        raise InputError(printable(f"'{text}' means {len(cases)} cases ({titles}{more}); name one"))
    return cases[0]


def _refuse_done(case: Case, folder: Path, only: tuple[int, ...]) -> None:
    done = Results(folder).done().keys() & set(only)
    if done:
        runs = named_runs(sorted(done))
        raise InputError(f"{printable(case.title)}: {runs} done already; --force does them again")


def _at_the_lab(case: Case, only: tuple[int, ...], *, force: bool) -> dict[str, Json] | None:
    """Ask the lab to go on; None if there is no lab, or it cannot execute cases."""
    if server.address() is None:
        return None
    server.connect().wait_until_ready()
    from benchyard.lab.rerunning import Wanted, rerun  # noqa: PLC0415 - imports Prefect

    done = rerun(Wanted(case, only, force))
    return None if done is None else {"case": case.title, **done.to_json()}


def _say(told: dict[str, Json], *, as_json: bool) -> None:
    if as_json:
        print_json(told)
        return
    flow_run = told["flow_run"]
    if isinstance(flow_run, dict):
        state = str(told["state_before"]).lower()
        text = _SAID[str(told["action"])].format(name=flow_run["name"], state=state)
        say(printable(text))
        say(f"see {flow_run['page']}")


def _execute(plan: SuitePlan, only: tuple[int, ...], request: Request, *, as_json: bool) -> None:
    """Execute here the wanted runs; by default as many as there are, or six if one failed."""
    (entry,), (chosen,) = plan.entries, plan.cases
    # Where a campaign begins, all of its runs are made.
    begins = entry.campaign == Campaigning.NEW
    todo = tuple(run for run in entry.runs if begins or not only or run in only)
    check_sinks(request.publish)
    if not as_json:
        say(f"executed here, no lab was asked: {printable(entry.title)}", err=True)
    for text in () if todo else entry.said:
        say(printable(text), err=True)
    display = make_display(
        runs=len(todo),
        verbose=False,
        terminal=sys.stderr.isatty(),
    )
    wanted = replace(plan, turns=[Turn(0, todo)] if todo else [])
    prefect = executing.goes_through_prefect([chosen[0]], direct=False, prefect=False)
    error = executing.execute(wanted, request, display, direct=not prefect)
    print_outcome([chosen], as_json=as_json)
    if error is not None:
        raise error
