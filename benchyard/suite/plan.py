"""From a request to a plan: which runs of which cases are executed, in which order, and why."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from benchyard.case.loading import Loaded, find_cases
from benchyard.case.registry import Registry
from benchyard.case.subject.current import current_subject
from benchyard.core.errors import InputError
from benchyard.core.model import Case
from benchyard.core.quantity import moment, number
from benchyard.core.wording import printable, runs_and
from benchyard.results.campaigns import Campaign, read_campaign
from benchyard.results.layout import results_folder
from benchyard.results.subject import Subject, in_words
from benchyard.run.ordering import Order, Turn, cooldown_of, rest_after, turns
from benchyard.run.request import Campaigning
from benchyard.statistics import median
from benchyard.suite.request import SuiteRequest

#: So many of the newest runs tell how long the next will take.
_TELLING = 3


def seconds_of_run(campaign: Campaign) -> float | None:
    """Return how long a run takes, by the newest ones (s); None without any."""
    newest_first = sorted(campaign.records.values(), key=lambda one: one.ended, reverse=True)
    took = [record.duration_s for record in newest_first[:_TELLING]]
    return median(took) if took else None


def done_since(results: Path, runs: Collection[int], moment: str) -> tuple[int, ...]:
    """Return those of some runs that were done after a moment, written as ISO 8601."""
    records, since = read_campaign(results).records, datetime.fromisoformat(moment)
    return tuple(run for run in sorted(runs) if run in records and records[run].ended >= since)


@dataclass(frozen=True, slots=True)
class ChosenCase:
    """One case of the selection.

    Args:
        title: Of the case, or the name of a file that is no valid case.
        why: Why these runs are executed; if there are none, why not.
        case: None if it is not valid.
        results: Folder with its runs.
        runs: Numbers of the runs to execute.
        again: Whether finished ones among them are done again in their place.
        campaign: Which campaign they belong to.
        seconds: How long one run takes, by earlier ones; None if nobody knows.
        problems: What is wrong with it.
        said: What the user must know of the campaign that is there.
        wanted: How many runs there shall be in the end.
    """

    title: str
    why: str
    case: Case | None = None
    results: Path | None = None
    runs: tuple[int, ...] = ()
    again: bool = False
    campaign: str = Campaigning.AUTO.value
    seconds: float | None = None
    problems: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    wanted: int = 0

    def expected_seconds(self, runs: int, cooldown: float | None) -> float | None:
        """Return how long runs of it take with the rests between them (s); None if nobody knows.

        Args:
            cooldown: That is asked for; None leaves it to the case.
        """
        if self.seconds is None:
            return None
        own = cooldown_of(cooldown, self.case and self.case.cooldown)
        return runs * (self.seconds + rest_after(self.seconds, own))


@dataclass(frozen=True, slots=True)
class Chooser:
    """Decides case by case.

    Args:
        began: When the suite began at first: a run that was done later is its own, and is not
            done again when the suite is retried.
        subject_now: Returns what a run of a case would measure now.
        know: Returns the finished runs in a folder.
    """

    request: SuiteRequest
    began: datetime
    subject_now: Callable[[Case], Subject]
    know: Callable[[Path], Campaign] = field(default=read_campaign)

    def choose(
        self, loaded: Iterable[Loaded], folder_of: Callable[[Case], Path]
    ) -> list[ChosenCase]:
        """Return an entry for each case, and one for each file that is no valid case.

        Args:
            folder_of: Where the results of a case lie.
        """
        items = list(loaded)
        chosen = [case for item in items for case in item.cases]
        return [
            entry
            for item in items
            for entry in (
                [_invalid(item)]
                if item.problems
                else [self._entry(case, folder_of(case), chosen) for case in item.cases]
            )
        ]

    def _entry(self, case: Case, results: Path, chosen: Sequence[Case]) -> ChosenCase:
        known = self.know(results)
        wanted = range(1, self.request.runs_of(case, chosen) + 1)
        if self.request.pool and self.request.campaign == Campaigning.NEW:
            # Its testbed knows what of it this suite has done; results here may be of another one.
            seconds, campaign = seconds_of_run(known), self.request.campaign
            return ChosenCase(
                *(case.title, "a new campaign", case, results, tuple(wanted), False, campaign),
                seconds=seconds,
                wanted=len(wanted),
            )
        missing = [run for run in wanted if run not in known.records]
        changes = self._changes(case, known)
        decided = self._again(known, wanted, missing, changes)
        reasons = [decided.why] if decided.why else []
        if missing and known.records:
            reasons.append(runs_and(missing, "is missing", "are missing"))
        elif missing:
            reasons.append("no finished run")
        runs = tuple(sorted({*missing, *decided.runs}))
        why = "; ".join(reasons) if runs else self._why_not(known, changes)
        again = bool(decided.runs) and not (decided.begins or decided.asks)
        campaign = Campaigning.NEW.value if decided.begins else self.request.campaign
        seconds = seconds_of_run(known) if runs else None
        given = (case.title, why, case, results, runs, again, campaign, seconds)
        return ChosenCase(*given, wanted=len(wanted))

    def _changes(self, case: Case, known: Campaign) -> str:
        """Say in what the newest run differs from what would be measured now.

        Of testbeds elsewhere they alone know.
        """
        request = self.request
        if not known.records or request.pool or request.campaign == Campaigning.KEEP:
            return ""
        return in_words(known.changes(self.subject_now(case)))

    def _again(
        self, known: Campaign, wanted: Sequence[int], missing: Sequence[int], changes: str
    ) -> "_Again":
        """Return the finished runs that are to be done again, and why."""
        ended = {run: record.ended for run, record in known.records.items()}
        before = {run: at for run, at in ended.items() if at < self.began}
        candidates = [run for run in wanted if run in before]
        if not candidates:
            return _Again()
        begun = len(before) < len(ended)
        if self.request.campaign == Campaigning.NEW and not begun:
            return _Again(wanted, "a new campaign", begins=True)
        if self.request.force:
            return _Again(candidates, "all are done again")
        if begun:
            return _Again()
        newest = max(before.values())
        if self.request.pool and self.request.changed:
            return _Again(wanted, "its testbed tells whether it has changed", asks=True)
        stale = self.request.stale
        if stale is not None and newest < self.began - timedelta(days=stale):
            days = (self.began - newest).total_seconds() / 86_400
            return _Again(wanted, f"the last run is {number(days)} days old", begins=True)
        if changes and (self.request.changed or missing):
            return _Again(wanted, f"changed since the runs were done: {changes}", begins=True)
        return _Again()

    def _why_not(self, known: Campaign, changes: str) -> str:
        newest = max(record.ended for record in known.records.values())
        filters = ["not changed"] * self.request.changed
        filters += ["not stale"] * (self.request.stale is not None)
        what = " and ".join(filters) or "all runs are done"
        but = f", but of something else ({changes}): --changed measures anew" if changes else ""
        return f"{what}; the last run is of {moment(newest)}{but}"


@dataclass(frozen=True, slots=True)
class _Again:
    """Finished runs that are to be done again, and why.

    Args:
        begins: In a new campaign, not in their place.
        asks: Only if their testbed finds that something else would be measured now.
    """

    runs: Sequence[int] = ()
    why: str = ""
    begins: bool = False
    asks: bool = False


def _invalid(item: Loaded) -> ChosenCase:
    problems = tuple(str(problem) for problem in item.problems)
    more = len(problems) - 1
    others = f" (and {more} more)" if more else ""
    why = f"it is not valid: {item.problems[0]}{others}"
    return ChosenCase(printable(item.name), why, problems=problems)


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What is going to be executed of many cases.

    Args:
        entries: All selected cases.
        turns: Their runs, in order; they count the entries.
        seed: Of the random order; None where the order is another.
    """

    entries: Sequence[ChosenCase]
    turns: Sequence[Turn]
    seed: int | None

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Position of the case and number of the run, for each run in order."""
        return [(turn.case, run) for turn in self.turns for run in turn.runs]

    @property
    def cases(self) -> list[tuple[Case, Path]]:
        """The valid cases, each with the folder of its results."""
        return [(e.case, e.results) for e in self.entries if e.case and e.results]

    @property
    def idle(self) -> list[ChosenCase]:
        """The cases of which nothing is executed."""
        busy = {turn.case for turn in self.turns}
        return [entry for place, entry in enumerate(self.entries) if place not in busy]


def make_suite_plan(request: SuiteRequest, registry: Registry, began: datetime) -> SuitePlan:
    """Select the cases, look up what is done of them, and order what is not.

    Args:
        registry: The resource classes that there are.
        began: When the suite began at first.

    Raises:
        InputError: If the request selects nothing, or cannot be meant.
    """
    request.check()
    root = Path(request.root)
    elsewhere = Path(request.results).resolve() if request.results else None

    def folder_of(case: Case) -> Path:
        return results_folder(case, root, elsewhere)

    loaded = find_cases(root, request.cases, request.tags, registry)
    chooser = Chooser(request, began, lambda case: current_subject(case, registry, folder_of(case)))
    entries = chooser.choose(loaded, folder_of)
    if not entries:
        raise InputError(f"no cases below {root.resolve()}")
    return in_order(entries, Order(request.order), request.seed)


def in_order(entries: Sequence[ChosenCase], order: Order, seed: int | None) -> SuitePlan:
    """Order the runs of the chosen cases.

    Args:
        seed: Of the random order; None takes one by chance.
    """
    wanted = [entry.runs for entry in entries]
    if order is not Order.RANDOM:
        return SuitePlan(entries, turns(wanted, order, 0), None)
    if seed is None:
        seed = random.randrange(2**31)  # noqa: S311 - an order, no secret
    return SuitePlan(entries, turns(wanted, order, seed), seed)
