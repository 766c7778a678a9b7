"""What ``benchyard run`` is going to do: which runs of which cases, in which order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.files import shown
from benchyard.core.model import Case, Json
from benchyard.core.table import Table
from benchyard.core.wording import printable
from benchyard.results.campaigns import read_campaign
from benchyard.results.subject import Subject
from benchyard.run.beginning import Campaigning, decide, missing, nothing_to_do
from benchyard.run.ordering import Order, Turn, turns


@dataclass(frozen=True, slots=True)
class Planned:
    """The runs to execute.

    Args:
        cases: The selected cases.
        folders: Where the results of each go.
        turns: The runs, in order.
        seed: Of the random order; None where the order is another.
        begins: Positions of the cases of which a campaign begins.
        said: Position of a case and what the user must know of the campaign that is there.
    """

    cases: Sequence[Case]
    folders: Sequence[Path]
    turns: Sequence[Turn]
    seed: int | None
    begins: frozenset[int] = frozenset()
    said: Sequence[tuple[int, str]] = ()

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Position of the case and number of the run, for each run in order."""
        return [(turn.case, run) for turn in self.turns for run in turn.runs]


def make_plan(
    cases: Sequence[Case],
    folders: Sequence[Path],
    wanted: range,
    order: Order,
    seed: int | None,
    *,
    force: bool,
    wished: Campaigning,
    registry: Registry,
) -> Planned:
    """Order the wanted runs of all cases.

    Args:
        wanted: Numbers of the runs that there shall be.
        seed: Of the random order; None takes one by chance.
        force: Finished runs too.
        wished: Which campaign the runs belong to.
        registry: The resource classes, for what would be measured now.
    """
    seed = random.randrange(2**31) if seed is None else seed  # noqa: S311 - an order, no secret
    todo: list[Sequence[int]] = []
    begins: set[int] = set()
    said: list[tuple[int, str]] = []
    for place, (case, folder) in enumerate(zip(cases, folders, strict=True)):
        there = read_campaign(folder)
        subject: Subject = current_subject(case, registry, folder) if there.records else {}
        decision = decide(case, there, wished, subject)
        anew = force or decision.begins
        begins |= {place} if decision.begins else set()
        todo.append(tuple(wanted) if anew else missing(wanted, tuple(there.records)))
        said += [(place, text) for text in decision.said]
        if not todo[-1]:
            said.append((place, nothing_to_do(case.title, there, len(wanted))))
    drawn = seed if order is Order.RANDOM else None
    return Planned(cases, folders, turns(todo, order, seed), drawn, frozenset(begins), said)


def print_plan(plan: Planned, *, as_json: bool) -> None:
    """Print what would be executed."""
    if as_json:
        notes: list[Json] = [text for _, text in plan.said]
        runs: list[Json] = [_run(plan, *place) for place in plan.runs]
        print_json({"seed": plan.seed, "runs": runs, "notes": notes})
        return
    for _, text in plan.said:
        say(printable(text), err=True)
    rows = list[tuple[str, ...]]()
    for number, (place, run) in enumerate(plan.runs, 1):
        case, folder = plan.cases[place], shown(plan.folders[place])
        rows.append((str(number), case.title, str(run), str(len(case.steps)), folder))
    print_table(Table(("", "CASE", "RUN", "STEPS", "RESULTS"), rows, ("", "RUN", "STEPS")))
    for case in plan.cases:
        _print_steps(case)
    if plan.seed is not None:
        say(f"\nrandom order with seed {plan.seed}")


def _run(plan: Planned, place: int, run: int) -> Json:
    case = plan.cases[place]
    return {
        "case": case.title,
        "run": run,
        "steps": [f"{step.resource}.{step.command}: {step.name}" for step in case.steps],
        "results": str(plan.folders[place]),
    }


def _print_steps(case: Case) -> None:
    say(f"\n{printable(case.title)}")
    rows = list[tuple[str, ...]]()
    places = {step.id: step.index for step in case.steps}
    for step in case.steps:
        needs = ", ".join(map(str, sorted(places[needed] for needed in step.needs)))
        rows.append((str(step.index), step.name, f"{step.resource}.{step.command}", needs))
    print_table(Table(("", "STEP", "COMMAND", "NEEDS"), rows))
