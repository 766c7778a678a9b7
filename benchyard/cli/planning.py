"""What ``benchyard run`` is going to do: which runs of which cases, in which order."""

from collections.abc import Sequence
from pathlib import Path

from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.files import shown
from benchyard.core.model import Case, Json, JsonObject
from benchyard.core.quantity import duration
from benchyard.core.table import text_table
from benchyard.core.wording import printable
from benchyard.results.campaigns import Campaign, earlier_campaigns, read_campaign
from benchyard.results.subject import Subject
from benchyard.run.beginning import decide, missing, nothing_to_do
from benchyard.run.ordering import Order
from benchyard.run.request import Campaigning, Request
from benchyard.suite.foreseeing import expected_seconds
from benchyard.suite.plan import ChosenCase, SuitePlan, in_order, seconds_of_run


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
    for campaign in (there, *map(read_campaign, earlier)):
        newest_first = sorted(campaign.records.values(), key=lambda one: one.began, reverse=True)
        if newest_first:
            return seconds_of_run(newest_first)
    return None


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
