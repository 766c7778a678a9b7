"""The alarms of a night: what seems slower is confirmed, within a month's budget of false alarms.

What the history of a case makes suspected is confirmed by pairs of both versions, if the case says
how a version is executed. All others raise an alarm by their history alone, at a threshold that
keeps the budget: half of it each, where there are both.
"""

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated

import resources
from benchyard.analysis.comparison.request import before_on_host
from benchyard.analysis.comparison.rows import Comparison, Rule
from benchyard.analysis.comparison.sides import Places
from benchyard.analysis.comparison.states import (
    ChangeItem,
    against_level,
    cases_of,
    suspected_items,
)
from benchyard.bisect.course import ConfirmationCourse, ConfirmationPlan
from benchyard.bisect.versions import VersionRange, listed, two_commits
from benchyard.case.loading import find_cases
from benchyard.core.errors import CommandFailedError, InputError
from benchyard.core.model import Case, Json, JsonObject
from benchyard.core.quantity import number, percent, plural
from benchyard.core.wording import printable
from benchyard.results.account import keep_account, read_account
from benchyard.results.annotations import Annotation, AnnotationKind, annotate
from benchyard.results.subject import differences
from benchyard.statistics import median
from benchyard.statistics.changes import threshold_of
from benchyard.statistics.confirmation import BUDGET, AlarmAccount, Standing
from benchyard.suite.request import FALSE_PER_MONTH
from benchyard.timing.execution import CommandStreams, executor

#: |z| that is suspected; source: benchmarks/alarms.py.
SUSPECTED = 2.8
#: So many sessions measure, by two builds of one version, what a session does to it.
_SESSIONS = 5
_NIGHTS_A_MONTH = 30.4


@dataclass(frozen=True, slots=True)
class AlarmRequest:
    """What is looked at, and how many false alarms may be.

    Args:
        cases: Cases, as for benchyard check; empty means all below root with results.
        root: Folder that cases are looked for in.
        results: Folder with the results, if they are not in the cases.
        resources: Folders with further resource classes.
        false_per_month: False alarms that this host may raise in a month, on average.
        wait: Wait until nothing is measured on this host; otherwise fail.
    """

    cases: tuple[str, ...] = ()
    root: str = "."
    results: str | None = None
    resources: tuple[str, ...] = ()
    false_per_month: Annotated[float, FALSE_PER_MONTH] = BUDGET
    wait: bool = True


@dataclass
class Suspicion:
    """A case that seems slower, and what became of it.

    Args:
        item: What changed.
        case: How its versions are executed; None if the results are all that is known.
        outcome: What became of it, as a clause; empty if the item's annotation says it.
    """

    item: ChangeItem
    case: Case | None
    outcome: str = ""

    @property
    def strength(self) -> float:
        """How sure its history is."""
        return max(abs(one.move.change.z) for one in self.item.moves)

    @property
    def is_alarm(self) -> bool:
        """Whether it raised an alarm."""
        return not self.outcome and bool(self.item.annotation and self.item.annotation.alarms)

    @property
    def plan(self) -> ConfirmationPlan | None:
        """How a version is executed; None if the case does not say it."""
        told = dict(self.case.confirm) if self.case else {}
        told.pop("versions", None)
        return ConfirmationPlan(line=told.pop("command"), **told) if told else None

    @cached_property
    def versions(self) -> VersionRange:
        """The version before the change, and the newest one.

        Raises:
            InputError: If they are not known, or are one.
        """
        case = self.case
        name = case.confirm.get("versions") if case else None
        for one in differences(*self.item.moves[0].move.versions):
            old, new = str(one.before), str(one.after)
            if name and one.what == name:
                return listed(old, new, f"{old},{new}")
            if case and not name and one.what.startswith("commit of "):
                return two_commits(case.folder.joinpath(*case.repositories[:1]), old, new)
        raise InputError(f"the {name or 'commit'} is the same as before; look at the host")

    @property
    def bisection(self) -> str:
        """The command that finds the guilty commit; empty where there are no commits."""
        plan, top = self.plan, self.versions.repository if self.plan else None
        if not plan or not top:
            return ""
        options = [*(["--build", plan.build] if plan.build else []), *["--shell"] * plan.shell]
        ends = [self.versions.good.short, self.versions.versions[-1].short]
        told = shlex.join(["benchyard", "bisect", *ends, *options])
        return f"cd {shlex.quote(str(top))} && {told} -- {plan.line}"

    def __str__(self) -> str:
        """Say it as a sentence."""
        return printable(f"{self.item}; {self.outcome}") if self.outcome else str(self.item)

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        told: JsonObject = {"outcome": self.outcome, "alarm": self.is_alarm, "text": str(self)}
        return {**self.item.to_json(), **told, "bisect": self.bisection if self.is_alarm else None}


@dataclass
class AlarmNight:
    """The suspicions of a night, and this host's account.

    Args:
        suspicions: The surest first.
        account: Of this host.
        now: When it is.
        alone: |z| of an alarm by history alone.
    """

    suspicions: list[Suspicion]
    account: AlarmAccount
    now: datetime
    alone: float = math.inf

    @property
    def alarms(self) -> list[Suspicion]:
        """Those that raised an alarm."""
        return [one for one in self.suspicions if one.is_alarm]

    def sentence(self) -> str:
        """Say all of it in a line."""
        account = self.account
        return (
            f"{plural(len(self.alarms), 'alarm')}, {len(self.suspicions)} suspected; "
            f"{account.spent} of {plural(account.confirmations, 'confirmation')} spent this month"
        )

    def to_json(self) -> JsonObject:
        """Return it for a document."""
        suspected: list[Json] = [one.to_json() for one in self.suspicions]
        account: JsonObject = {**asdict(self.account), "bound": self.account.bound}
        return {"sentence": self.sentence(), "suspicions": suspected, "account": account}

    def choose(self) -> list[Suspicion]:
        """Raise the alarms of history alone, and return what is confirmed tonight.

        That is the surest of each case, as far as the month's confirmations reach; they count as
        spent.
        """
        able: dict[str, Suspicion] = {}
        for one in self.suspicions:
            if one.plan is None and not one.item.cases and one.strength > self.alone:
                said = f"by history alone, z {number(one.strength, 3)}"
                self._note(one, AnnotationKind.ALARM, f"{said} > {number(self.alone, 3)}")
            elif not one.outcome:
                able.setdefault(one.item.case, one)
        strengths = {title: one.strength for title, one in able.items()}
        chosen = self.account.choose(self.now.date(), strengths)
        keep_account(self.account)
        for title in able.keys() - chosen:
            until = self.account.resting.get(title)
            spent = "the month's confirmations are spent"
            able[title].outcome = f"not confirmed, and rests until {until}" if until else spent
        return [able[title] for title in chosen]

    def confirm(self, one: Suspicion) -> Iterator[str]:
        """Confirm a suspicion, and note it beside the results; yield what each pair says."""
        title, account = one.item.case, self.account
        known = account.twins.setdefault(title, [])
        options = {"level": 1 / account.bound, "twice": len(known) < _SESSIONS}
        try:
            with executor(CommandStreams()) as running:
                plan = replace(one.plan or ConfirmationPlan(), **options)
                course = ConfirmationCourse(one.versions, plan, running, known)
                for _ in course.proceed():
                    yield f"{title}: e-value {course.confirmation.e_value:.3g}"
                course.finish()
        except (CommandFailedError, InputError) as error:
            one.outcome = f"its versions cannot be executed: {error}"
        else:
            known += [course.twins] if course.twins else []
            made, size = course.confirmation, math.expm1(median(course.differences))
            told = f"{percent(size)} slower in {plural(len(course.differences), 'pair')}"
            told += f", e-value {made.e_value:.3g}"
            if made.standing is Standing.CONFIRMED:
                next_ = f"; next: {one.bisection}" if one.bisection else ""
                self._note(one, AnnotationKind.CONFIRMED, told + next_)
            else:
                self._note(one, AnnotationKind.NOT_CONFIRMED, told)
        if not one.is_alarm:
            account.rest(title, self.now.date())
        keep_account(account)

    def _note(self, one: Suspicion, kind: AnnotationKind, reason: str) -> None:
        """Write beside the results what became of a suspicion: of all steps that moved with it."""
        told = one.item.moves[0]
        said = (told.move.since.isoformat(), self.now.isoformat(), "benchyard", reason)
        made = Annotation(kind, *said, metric=told.metric, host=told.host)
        annotate(told.home, made)
        one.item, one.outcome = replace(one.item, annotation=made), ""


def look(request: AlarmRequest, now: datetime | None = None) -> AlarmNight:
    """Look which cases seem slower; nothing is raised, spent or written.

    Args:
        request: Which cases, and the budget.
        now: Another time than the present one.

    Raises:
        InputError: If cases are not there, or the account cannot be read.
    """
    night = AlarmNight([], read_account(), now or datetime.now(UTC))
    there = Places(Path(request.root), Path(request.results) if request.results else None)
    found = cases_of(request.cases, there)
    if before := before_on_host(found):
        compared, loaded = against_level(before, found, Rule()), _loaded(request)
        items = suspected_items(compared, SUSPECTED, night.now)
        night.suspicions = [
            Suspicion(item, loaded.get(item.case))
            for item in items
            if not (item.annotation and item.annotation.closes)
        ]
        night.suspicions.sort(key=lambda one: one.strength, reverse=True)
        night.account.budget, night.alone = _budgets(compared, loaded, request.false_per_month)
        for one in night.suspicions:
            one.outcome = _hindrance(one)
    return night


def _loaded(request: AlarmRequest) -> dict[str, Case]:
    registry = resources.find(map(Path, request.resources))
    found = find_cases(Path(request.root), (), (), registry)
    return {case.title: case for one in found for case in one.cases}


def _budgets(
    compared: Comparison, loaded: Mapping[str, Case], budget: float
) -> tuple[float, float]:
    """Return the budget of confirmations, and the |z| of alarms by history alone."""
    rows = compared.asked
    alone = sum(row.case not in loaded or not loaded[row.case].confirm for row in rows)
    share = budget if alone in (0, len(rows)) else budget / 2
    return share, threshold_of(_NIGHTS_A_MONTH * max(1, alone) / share)


def _hindrance(one: Suspicion) -> str:
    """Say why a suspicion cannot be confirmed; empty if it can."""
    if one.item.cases:
        return "it blames no version; look at the host"
    if one.plan is None:
        return "subject.confirm of the case would let it be confirmed"
    try:
        _ = one.versions
    except InputError as error:
        return f"cannot be confirmed: {error}"
    return ""
