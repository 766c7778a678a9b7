"""A plan through the engine: with Prefect's stages, or by plain calls."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from threading import Event

import click

from benchyard.cli.display import PlainDisplay
from benchyard.cli.terminal import say
from benchyard.core.errors import CaseFailedError, InputError, RunInterruptedError
from benchyard.core.model import Case
from benchyard.core.wording import named_runs, printable, some
from benchyard.lab import server
from benchyard.run.engine import execute_case
from benchyard.run.interrupts import at_first_ctrl_c
from benchyard.run.progress import listening
from benchyard.run.request import Campaigning, Request
from benchyard.run.secrets import refers_to_secrets
from benchyard.run.stages import DirectStages
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.plan import SuitePlan
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


def _directly(request: Request) -> TurnEnd:
    executed = execute_case(open_case(request), request, DirectStages())
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
