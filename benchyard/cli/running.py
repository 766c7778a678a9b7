"""``benchyard run``: execute cases under measurement, through Prefect or directly."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from benchyard.analysis.regressions import Baseline, as_gate, check_baseline
from benchyard.case.loading import raise_problems
from benchyard.case.registry import Registry
from benchyard.case.testbeds import refuse_unfit
from benchyard.cli import executing
from benchyard.cli.ci import ReportingCommand, Reports, exit_code_after_runs
from benchyard.cli.common import Selection, cases_of, gathered
from benchyard.cli.display import make_display
from benchyard.cli.executing import execute_plainly, make_plan, print_plan
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import Percent
from benchyard.cli.options import HEADINGS, execution_options, parse_runs, request_fields
from benchyard.cli.outcome import print_outcome, read_summary
from benchyard.cli.terminal import print_json, say
from benchyard.core.errors import BenchyardError, ExitCode, InputError
from benchyard.core.files import shown
from benchyard.core.model import Case, Json
from benchyard.core.quantity import plural
from benchyard.core.wording import printable
from benchyard.publish.outcome import advice, problems
from benchyard.publish.service import archive_uploaded, check_sinks, upload_runs
from benchyard.results.campaigns import publishable_runs
from benchyard.results.layout import refuse_foreign
from benchyard.results.trust import Suspect
from benchyard.run.accepting import Accepted, AnswerChange, accept
from benchyard.run.adaptive import stored_rule
from benchyard.run.ordering import Order, new_session
from benchyard.run.progress import listening
from benchyard.run.request import Campaigning, Request
from benchyard.run.summarize import summarize_if_older
from benchyard.suite.foreseeing import foresee
from benchyard.suite.plan import SuitePlan
from benchyard.suite.request import SuiteRequest


@click.command("run", cls=ReportingCommand, headings=HEADINGS)
@execution_options(
    Request,
    *("runs", "until", "wait_for_user", "ignore_requirements"),
    runs={"type": str, "metavar": "N|N..M"},
    until={
        "type": Percent(inside=True),
        "metavar": "PERCENT",
        "help": "Stop as soon as the median of each step is known to ± PERCENT, such as 1%; needs "
        "a range of --runs.",
    },
)
@click.option(
    "--new", "begins", is_flag=True, help="Begin a new campaign; the runs that are done are kept."
)
@click.option(
    "--keep",
    "keeps",
    is_flag=True,
    help="Go on with the runs that are done, even if something else is measured now.",
)
@field_options(SuiteRequest, "order", "seed", order={"default": Order.ROUND_ROBIN.value})
@click.option("--dry-run", is_flag=True, help="Print what would be executed, and stop.")
@click.option(
    "--accept",
    "accepts",
    is_flag=True,
    help="Execute once, unmeasured, and write the answers into the files that checks expect.",
)
@click.option("--direct", is_flag=True, help="Execute without Prefect, even if it has a server.")
@click.option(
    "--prefect",
    is_flag=True,
    help="Execute through Prefect, on a temporary server if there is no other.",
)
@gathered("places", Selection)
@gathered("report", Reports)
def command(
    places: Selection,
    report: Reports,
    runs: str | None,
    until: float | None,
    order: str,
    seed: int | None,
    *,
    accepts: bool,
    as_json: bool,
    dry_run: bool,
    begins: bool,
    keeps: bool,
    direct: bool,
    prefect: bool,
    verbose: bool,
    **given: Any,
) -> int:
    """Execute cases under measurement.

    CASE is a folder with cases below it, a name, or a glob over names, with [name=value] for one
    point of a matrix; without CASE, all below --root. Finished runs count: the same command goes
    on. If the case, its classes, versions, commit or host changed, a new campaign begins.

    Example:
        benchyard run 'mine[threads=2]' --runs 8
    """
    report.check(given["baseline"])
    number: dict[str, Any] = parse_runs(runs, until)
    registry, chosen = _load(places, accepting=accepts)
    if accepts:
        accept_answers(chosen, registry, given, write=not dry_run, verbose=verbose, as_json=as_json)
        return ExitCode.DONE
    request = Request(
        case="",
        campaign=_campaign(begins=begins, keeps=keeps).value,
        session=new_session(Order(order)),
        **number,
        **request_fields(places, **given),
    )
    plan = plan_of(places, registry, chosen, request, Order(order), seed)
    said = foresee(plan, request)
    if dry_run:
        print_plan(plan, request.cooldown, said, as_json=as_json)
        return ExitCode.DONE
    for text in said:
        say(text, fg="yellow", err=True)
    direct = not executing.goes_through_prefect(chosen, direct=direct, prefect=prefect)
    return execute_and_compare(
        plan, request, report, direct=direct, verbose=verbose, as_json=as_json
    )


def _load(places: Selection, *, accepting: bool) -> tuple[Registry, list[Case]]:
    registry, loaded = places.load(accepting=accepting)
    raise_problems(loaded)
    chosen = cases_of(loaded)
    if not chosen:
        raise InputError(f"no cases below {places.root.resolve()}")
    return registry, chosen


def _campaign(*, begins: bool, keeps: bool) -> Campaigning:
    if begins and keeps:
        raise click.UsageError("--new and --keep exclude each other")
    return Campaigning.NEW if begins else Campaigning.KEEP if keeps else Campaigning.AUTO


def plan_of(
    places: Selection,
    registry: Registry,
    chosen: Sequence[Case],
    request: Request,
    order: Order = Order.ROUND_ROBIN,
    seed: int | None = None,
) -> SuitePlan:
    """Plan the runs of cases, and refuse what could not be executed.

    Raises:
        InputError: If that is so.
    """
    folders = [places.results_of(case) for case in chosen]
    _refuse_hopeless(request, chosen, folders)
    asked = Campaigning(request.campaign)
    return make_plan(chosen, folders, request, order, seed, asked=asked, registry=registry)


def execute_and_compare(
    plan: SuitePlan,
    request: Request,
    report: Reports,
    *,
    direct: bool,
    verbose: bool = False,
    as_json: bool = False,
) -> int:
    """Execute a plan, show what came of it, and compare it with the request's baseline."""
    # The engine says of the others what there is to do.
    for text in (text for entry in plan.idle for text in entry.said):
        say(printable(text), err=True)
    # The flow run of one of several cases would judge it alone.
    flow_compares = not direct and len(plan.cases) == len(plan.turns) == 1
    turns = request if flow_compares else replace(request, baseline=None)
    error = _execute(plan, turns, direct=direct, verbose=verbose)
    baseline = None if error else request.baseline
    if baseline is None:
        if not report.prints:
            print_outcome(plan.cases, as_json=as_json, verbose=verbose)
        report.of_cases(plan.cases)
        if error is not None:
            raise error
        return ExitCode.DONE
    titles = [case.title for case, _ in plan.cases]
    folders = [folder for _, folder in plan.cases]
    compared = Baseline(baseline, request.comparison_rule).look_at(
        list(zip(titles, folders, strict=True))
    )
    if not report.prints:
        told = compared.to_json(titles, baseline)
        print_outcome(plan.cases, told, as_json=as_json, verbose=verbose)
    cases = as_gate(compared.cases)
    report.of_cases(plan.cases, cases)
    for title, looked in () if flow_compares else zip(titles, compared.cases, strict=True):
        say(f"{printable(title)} against {baseline}: {looked.summary}", err=True)
    worse = [found.text for looked in cases for found in looked.regressions]
    unjudged = [text for looked in cases for text in looked.unjudged]
    return exit_code_after_runs(worse, unjudged, strict=report.strict)


def _refuse_hopeless(request: Request, chosen: Sequence[Case], folders: Sequence[Path]) -> None:
    """Refuse, before anything is executed, what could not be executed or published.

    Raises:
        InputError: If that is so.
    """
    if request.wait_for_user and not sys.stdin.isatty():
        raise InputError("--wait-for-user needs a terminal: nobody is there to press Enter")
    check_sinks(request.publish)
    check_baseline(request.baseline)
    if not request.ignore_requirements:
        refuse_unfit(chosen)
    for case, folder in zip(chosen, folders, strict=True):
        refuse_foreign(folder, range(1, (request.most_runs or request.runs_of(case, chosen)) + 1))


def _execute(
    plan: SuitePlan, request: Request, *, direct: bool, verbose: bool
) -> BenchyardError | None:
    if plan.seed is not None:
        say(f"random order with seed {plan.seed}", err=True)
    in_turns = len(plan.turns) > len({turn.case for turn in plan.turns}) > 1
    if in_turns:
        cases = len({turn.case for turn in plan.turns})
        say(f"{len(plan.runs):,} runs of {cases:,} cases to do, in turns", err=True)
    live = sys.stderr.isatty() and not request.wait_for_user
    display = make_display(turns=in_turns, runs=len(plan.runs), verbose=verbose, terminal=live)
    display.folders = len({case.title for case, _ in plan.cases}) < len(plan.cases)
    error = executing.execute(plan, request, display, direct=direct)
    for case, folder in plan.cases:
        summarize_if_older(case.title, folder, suspect=Suspect(request.suspect))
    idle = [(entry.title, entry.results) for entry in plan.idle if entry.results]
    _publish_finished([folder for _, folder in idle], request)
    for title, folder in idle:
        told = stored_rule(request.rule, read_summary(folder))
        if told:
            say(f"{printable(title)}: {told}", fg="yellow", err=True)
    return error


def _publish_finished(idle: Sequence[Path], request: Request) -> None:
    """Publish the runs of cases with nothing left to do: they may be of a time without sinks."""
    runs = [run for folder in idle for run in publishable_runs(folder)]
    if runs and request.publish:
        for outcome in archive_uploaded(upload_runs(runs, request.publish)):
            for text in (*problems(outcome), *advice(outcome)):
                say(text, fg="yellow", err=True)


def accept_answers(
    cases: Sequence[Case],
    registry: Registry,
    given: Mapping[str, Any],
    *,
    write: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Execute cases once, write the answers that they expect, and tell of each file.

    Args:
        cases: Their files with expected answers may lack.
        registry: The resource classes.
        given: Further options of the command: ``no_wait`` and ``ignore_requirements`` count.
        write: False: only tell what would be written.
        verbose: Whether to show every step.
        as_json: Whether to print a document.
    """
    if not given["ignore_requirements"]:
        refuse_unfit(cases)
    terminal = sys.stderr.isatty()
    display = make_display(runs=len(cases), verbose=verbose, terminal=terminal)
    with display, listening(display.hear):
        accepted = accept(cases, registry, execute_plainly, write=write, wait=not given["no_wait"])
    if as_json:
        print_json({"written": write, "answers": [_document(one) for one in accepted]})
        return
    for one in accepted:
        say(f"{shown(one.file)}: {one.change} ({_in_short(one.steps)})")
        if one.difference:
            say(one.difference)
    count = sum(one.change is not AnswerChange.SAME for one in accepted)
    done = "written" if write else "to be written, none was (--dry-run)"
    say(f"{plural(count, 'file')} {done}, {len(accepted) - count:,} as before", err=True)


def _in_short(steps: Sequence[str]) -> str:
    more = len(steps) - 1
    return steps[0] + (f", and {more:,} more with the same answer" if more else "")


def _document(one: Accepted) -> Json:
    return {**asdict(one), "file": str(one.file), "difference": one.difference or None}
