"""What ``benchyard run`` plans, and a plan through the engine: by Prefect, or by plain calls."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from threading import Event

import click

from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.cli.display import PlainDisplay
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import CaseFailedError, InputError, RunInterruptedError
from benchyard.core.files import shown
from benchyard.core.model import Case, Json, JsonObject
from benchyard.core.quantity import duration
from benchyard.core.table import text_table
from benchyard.core.wording import named_runs, printable, some
from benchyard.lab import server
from benchyard.results.campaigns import Campaign, earlier_campaigns, read_campaign
from benchyard.results.subject import Subject
from benchyard.run.beginning import decide, missing, nothing_to_do
from benchyard.run.engine import Executed
from benchyard.run.interrupts import at_first_ctrl_c
from benchyard.run.ordering import Order
from benchyard.run.progress import listening
from benchyard.run.request import Campaigning, Request
from benchyard.run.run_context import RunContext
from benchyard.run.secrets import refers_to_secrets
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.foreseeing import expected_seconds
from benchyard.suite.plan import ChosenCase, SuitePlan, in_order, seconds_of_run
from benchyard.suite.turn_records import NOWHERE, Place
from tasks.parameters import open_case

#: What Python makes of a byte that is not UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")


def goes_through_prefect(cases: Iterable[Case], *, direct: bool, prefect: bool) -> bool:
    """Tell whether runs are task runs of Prefect: where a server stays up, or it is needed.

    A temporary server takes seconds to start, and nobody can look at it once the command has ended.
    Prefect's local database alone knows the secrets that a case refers to.

    Args:
        cases: What is executed.
        direct: Whether plain calls are asked for.
        prefect: Whether Prefect is asked for.

    Raises:
        UsageError: If both are.
    """
    if direct and prefect:
        raise click.UsageError("--direct and --prefect exclude each other")
    if direct or prefect:
        return prefect
    return any(map(_needs_prefect, cases)) or server.address() is not None


def _needs_prefect(case: Case) -> bool:
    settings = [dict(one) for one in case.settings.values()]
    parameters = [dict(step.parameters) for step in case.steps]
    return any(map(refers_to_secrets, [*settings, *parameters]))


def execute(
    plan: SuitePlan, base: Request, display: PlainDisplay, *, direct: bool
) -> CaseFailedError | RunInterruptedError | None:
    """Execute all turns of a plan, one after another.

    Args:
        base: What all turns have in common.
        direct: Without Prefect.

    Returns:
        What is to be raised after all was told: that the user stopped it, or that a run failed.
    """
    if not plan.turns:
        return None
    limits = SuiteLimits(fail_fast=base.fail_fast, keep_going=base.keep_going)
    # Whether this host will do was asked when the cases were chosen.
    course = SuiteCourse(plan.entries, plan.turns, limits, ignore_requirements=True)
    stop = Event()
    with display, listening(display.hear), at_first_ctrl_c(stop.set):
        act = _directly if direct else _through_prefect(plan, base)
        stopped = execute_turns(course, Place("", NOWHERE), base, act, stop)
    _tell_of_left_out(course)
    if stopped:
        new = " (without --new)" if base.campaign == Campaigning.NEW else ""
        return RunInterruptedError(f"stopped; the same command goes on where this one ended{new}")
    titles = (course.entries[one.turn.case].title for one in course.ended if one.end is End.FAILED)
    failed = list(dict.fromkeys(titles))
    if not failed:
        return None
    cases = "case" if len(failed) == 1 else "cases"
    return CaseFailedError(f"{len(failed)} {cases} failed: {', '.join(failed)}")


def _tell_of_left_out(course: SuiteCourse) -> None:
    reasons: dict[str, dict[str, list[int]]] = {}
    for taken in course.ended:
        if taken.end is End.LEFT_OUT:
            title = course.entries[taken.turn.case].title
            reasons.setdefault(taken.why, {}).setdefault(title, []).extend(taken.turn.runs)
    for why, cases in reasons.items():
        named = some([f"{title}: {named_runs(runs)}" for title, runs in cases.items()], 20)
        say(printable(f"not begun ({why}): {named}"), fg="yellow", err=True)


def execute_plainly(setting: RunContext, request: Request) -> Executed:
    """Execute a case by plain calls."""
    # Imported before Prefect, the flow beside it would be no flow of Prefect's.
    from flows.execute_case import execute  # noqa: PLC0415

    return execute(setting, request)


def _directly(request: Request) -> TurnEnd:
    executed = execute_plainly(open_case(request), request)
    if executed.interrupted:
        return TurnEnd(End.CANCELLED)
    return TurnEnd(End.FAILED if executed.failed else End.DONE)


def _through_prefect(plan: SuitePlan, base: Request) -> Callable[[Request], TurnEnd]:
    """Connect to Prefect; the import of Prefect goes on while a temporary server starts."""
    _refuse_undecodable_names(plan, base)
    answering = server.connect()
    from benchyard.lab import through_prefect  # noqa: PLC0415 - after the server began to start

    answering.wait_until_ready()
    caller = through_prefect.caller_of(answering)
    return partial(through_prefect.execute_one, server=answering, caller=caller)


def _refuse_undecodable_names(plan: SuitePlan, base: Request) -> None:
    """Refuse names of folders that Prefect, which keeps parameters as JSON, cannot take."""
    names = dict.fromkeys(turn.case for turn in plan.turns)
    cases = (plan.entries[name].case for name in names)
    folders = [str(case.folder) for case in cases if case is not None]
    for path in (*folders, base.root, base.results or "", *base.resources):
        if _SURROGATE.search(path):
            raise InputError(
                f"{printable(path)}: Prefect takes no name that is not UTF-8; rename the folder, "
                "or use --direct"
            )


def make_plan(
    cases: Sequence[Case],
    folders: Sequence[Path],
    request: Request,
    order: Order = Order.CASE,
    seed: int | None = None,
    *,
    asked: Campaigning,
    registry: Registry,
) -> SuitePlan:
    """Order the wanted runs of all cases.

    Args:
        folders: Where the results of each go.
        request: What all cases have in common.
        seed: Of the random order; None takes one by chance.
        asked: Which campaign the runs belong to.
        registry: The resource classes, for what would be measured now.
    """

    def choose(case: Case, folder: Path) -> ChosenCase:
        wanted = range(1, (request.most_runs or request.runs_of(case, cases)) + 1)
        there = read_campaign(folder)
        subject: Subject = current_subject(case, registry, folder) if there.records else {}
        decision = decide(case, there, asked, subject)
        anew = request.force or decision.begins
        runs = tuple(wanted) if anew else missing(wanted, tuple(there.records))
        said = (*decision.said, *([] if runs else [nothing_to_do(case.title, there, len(wanted))]))
        campaign = Campaigning.NEW if decision.begins else Campaigning.AUTO
        return ChosenCase(
            *(case.title, "", case, folder, runs),
            again=request.force,
            campaign=(asked if asked is Campaigning.KEEP else campaign).value,
            seconds=_seconds_of_run(there),
            said=said,
            wanted=len(wanted),
        )

    entries = [choose(*one) for one in zip(cases, folders, strict=True)]
    alone = order is Order.ROUND_ROBIN and sum(bool(entry.runs) for entry in entries) == 1
    return in_order(entries, Order.CASE if alone else order, seed)


def _seconds_of_run(there: Campaign) -> float | None:
    """Return how long a run takes, by those that are there, or else by the campaign before."""
    earlier = () if there.records else earlier_campaigns(there.folder)
    known = map(seconds_of_run, (there, *map(read_campaign, earlier)))
    return next((one for one in known if one is not None), None)


def print_plan(
    plan: SuitePlan, cooldown: float | None, foreseen: Sequence[str] = (), *, as_json: bool
) -> None:
    """Print what would be executed, and how long it takes.

    Args:
        cooldown: That is asked for, in seconds; None leaves it to the cases.
        foreseen: What the runs can never tell.
    """
    notes = [*(text for entry in plan.entries for text in entry.said), *foreseen]
    cases = plan.cases
    planned = [(*cases[place], run) for place, run in plan.runs]
    if as_json:
        runs: list[Json] = [_run(*one) for one in planned]
        seconds, unknown = expected_seconds(plan, cooldown)
        expected: JsonObject = {
            "expected_seconds": None if unknown else seconds,
            "never_executed": list[Json](unknown),
        }
        print_json({"seed": plan.seed, "runs": runs, "notes": list[Json](notes), **expected})
        return
    for text in notes:
        say(printable(text), err=True)
    rows = [
        (str(number), case.title, str(run), str(len(case.steps)), shown(folder))
        for number, (case, folder, run) in enumerate(planned, 1)
    ]
    print_table(text_table(("", "CASE", "RUN", "STEPS", "RESULTS"), rows, ("", "RUN", "STEPS")))
    for case, _ in cases:
        _print_steps(case)
    say(f"\nexpected time: {_expected(plan, cooldown)}")
    if plan.seed is not None:
        say(f"random order with seed {plan.seed}")


def _expected(plan: SuitePlan, cooldown: float | None) -> str:
    seconds, unknown = expected_seconds(plan, cooldown)
    about = f"about {duration(seconds)}, by earlier runs and with the rests between them"
    if not unknown:
        return about if plan.runs else "none, nothing is left to do"
    first = printable(unknown[0])
    never = f"{first} was" if len(unknown) == 1 else f"{first} and {len(unknown) - 1} more were"
    others = f"; the others take {about}" if seconds else ""
    return f"unknown: {never} never executed{others}"


def _run(case: Case, results: Path, run: int) -> Json:
    return {
        "case": case.title,
        "run": run,
        "steps": [f"{step.resource}.{step.command}: {step.name}" for step in case.steps],
        "results": str(results),
    }


def _print_steps(case: Case) -> None:
    say(f"\n{printable(case.title)}")
    places = {step.id: step.index for step in case.steps}
    rows = list[tuple[str, ...]]()
    for step in case.steps:
        needs = ", ".join(map(str, sorted(places[needed] for needed in step.needs)))
        rows.append((str(step.index), step.name, f"{step.resource}.{step.command}", needs))
    print_table(text_table(("", "STEP", "COMMAND", "NEEDS"), rows))
