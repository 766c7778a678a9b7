"""The course of a suite: which turn is begun next, where, and what came of each.

It neither executes nor waits. Whoever does asks for the next turn while there is room somewhere,
and says how each ended.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from benchyard.core.clock import now
from benchyard.core.model import Requires
from benchyard.core.quantity import amount, duration
from benchyard.run.ordering import LONGEST, SHARE, Turn, cooldown_of, rest_after
from benchyard.suite.plan import ChosenCase
from benchyard.suite.request import SuiteRequest
from benchyard.suite.turn_records import (
    NO_FAILURE,
    NOWHERE,
    CaseReport,
    Place,
    TurnFailure,
    why_nowhere,
    with_room,
)


class End(StrEnum):
    """How a turn ended."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class SuiteLimits:
    """When a suite begins nothing more.

    Args:
        budget_s: Seconds after which nothing is to be under way any more; None for no limit.
        cooldown_s: Seconds of rest before each run; None leaves it to the case.
        fail_fast: Whether the first failure is the end.
        keep_going: Whether a case goes on although two of its turns in a row failed alike.
    """

    budget_s: float | None = None
    cooldown_s: float | None = 0.0
    fail_fast: bool = False
    keep_going: bool = False


def limits_of(request: SuiteRequest) -> SuiteLimits:
    """Return when a suite that is asked for begins nothing more."""
    budget = None if request.budget is None else request.budget * 3600
    return SuiteLimits(budget, request.cooldown, request.fail_fast, request.keep_going)


@dataclass(slots=True)
class Taken:
    """A turn on its way.

    Args:
        number: Of the turn in the course, from 0.
        seconds: How long it is expected to take; None if nobody knows.
        started_s: When it left its testbed's queue; None while it waits there.
        end: How it ended; None while it is under way.
        seen: Runs of it that are known to be done.
        took: Seconds from its begin to its end.
        impossible: Whether it was left out because no testbed is what its case requires.
        before: Runs of it that were done before, and not again.
        not_begun: Runs of it that a failure before them kept from being begun.
        report: What its flow run says of it; None if it says nothing.
    """

    number: int
    turn: Turn
    place: Place
    seconds: float | None
    began_s: float
    started_s: float | None = None
    began_at: str = field(default_factory=now)
    end: End | None = None
    why: str = ""
    seen: tuple[int, ...] = ()
    took: float | None = None
    flow_run: str = ""
    impossible: bool = False
    before: tuple[int, ...] = ()
    not_begun: tuple[int, ...] = ()
    report: CaseReport | None = None


class SuiteCourse:
    """What is to be done, is under way and has ended.

    Args:
        entries: The cases, in the order that the turns count them in.
        turns: Every run once.
        monotonic: Seconds of a clock that never steps.
        ignore_requirements: Whether each place will do for each case.
    """

    def __init__(
        self,
        entries: Sequence[ChosenCase],
        turns: Sequence[Turn],
        limits: SuiteLimits,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        ignore_requirements: bool = False,
    ) -> None:
        self.entries = entries
        self._limits = limits
        self._ignore_requirements = ignore_requirements
        self._monotonic = monotonic
        self._origin = monotonic()
        self._open = dict(enumerate(turns))
        self._lengths = {i: e.seconds for i, e in enumerate(entries) if e.seconds is not None}
        self._at: dict[int, str] = {}
        self._failures: dict[int, str] = {}
        self.under_way: list[Taken] = []
        self.ended: list[Taken] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the suite began."""
        return self._monotonic() - self._origin

    @property
    def left(self) -> int:
        """Turns that have not been begun."""
        return len(self._open)

    @property
    def failed(self) -> bool:
        """Whether any turn has failed."""
        return any(taken.end is End.FAILED for taken in self.ended)

    @property
    def queues(self) -> list[str]:
        """The work queues of the testbeds that executed turns."""
        return sorted({taken.place.queue for taken in self.ended if taken.place.queue})

    def requires(self, turn: Turn) -> Requires:
        """Return what the testbed of a turn must be."""
        case = self.entries[turn.case].case
        return Requires() if case is None or self._ignore_requirements else case.requires

    # -- beginning

    def take(self, places: Sequence[Place]) -> Taken | None:
        """Take the next turn that can be begun now; None if there is none.

        All runs of a case go to one testbed, as long as that is there: numbers of two hosts cannot
        be described together. A turn that no free testbed meets is passed over, and those which
        would overrun the budget are left out.

        Args:
            places: All testbeds that are there, with what is outstanding.
        """
        free = with_room(places, self.left)
        names = {place.name for place in places}
        for number, turn in list(self._open.items()) if free else []:
            place = self._place(turn, free, names)
            if place is not None and not self._overruns(number, turn, place):
                return self._begin(number, turn, place)
        return None

    def _place(self, turn: Turn, free: Sequence[Place], names: Collection[str]) -> Place | None:
        bound = self._at.get(turn.case)
        if bound is not None and bound in names:
            return next((place for place in free if place.name == bound), None)
        requires = self.requires(turn)
        return next((place for place in free if not place.why_not(requires)), None)

    def _overruns(self, number: int, turn: Turn, place: Place) -> bool:
        """Leave a turn out that would overrun the budget; one of unknown length may begin."""
        budget = self._limits.budget_s
        if budget is None:
            return False
        expected = self._expected(turn)
        begins = self.elapsed + place.seconds
        if begins < budget and begins + (expected or 0.0) <= budget:
            return False
        took = "" if expected is None else f", and it takes about {duration(expected)}"
        left = duration(max(0.0, budget - begins))
        hours = amount(budget / 3600)
        self._leave_out(number, f"of the budget of {hours} hours {left} were left{took}")
        return True

    def _expected(self, turn: Turn) -> float | None:
        length = self.seconds_of_run(turn)
        if length is None:
            return None
        return len(turn.runs) * (length + rest_after(length, self._cooldown(turn)))

    def seconds_of_run(self, turn: Turn) -> float | None:
        """Return how long a run of a turn's case takes (s); None if nobody knows."""
        return self._lengths.get(turn.case)

    def _cooldown(self, turn: Turn) -> float | None:
        case = self.entries[turn.case].case
        return cooldown_of(self._limits.cooldown_s, case and case.cooldown)

    def _begin(self, number: int, turn: Turn, place: Place) -> Taken:
        del self._open[number]
        self._at[turn.case] = place.name
        taken = Taken(number, turn, place, self._expected(turn), self._monotonic())
        self.under_way.append(taken)
        return taken

    def ends_case(self, taken: Taken) -> bool:
        """Tell whether no other turn of its case is left to be begun."""
        return all(turn.case != taken.turn.case for turn in self._open.values())

    def note_start(self, taken: Taken) -> None:
        """Note that a turn has left its testbed's queue."""
        if taken.started_s is None:
            taken.started_s = self._monotonic()

    def put_back(self, taken: Taken) -> None:
        """Let a turn that never began be begun again, wherever there is room."""
        self.under_way.remove(taken)
        self._at.pop(taken.turn.case, None)
        self._open = dict(sorted([*self._open.items(), (taken.number, taken.turn)]))

    # -- ending

    def end(
        self,
        taken: Taken,
        how: End,
        why: str = "",
        seen: Collection[int] = (),
        took: float | None = None,
        report: CaseReport | None = None,
        failure: TurnFailure = NO_FAILURE,
    ) -> None:
        """Note how a turn ended.

        Args:
            seen: Runs of it that are known to be done.
            took: Seconds that it really took; since it was begun if not given.
            report: What its flow run says of it: more than is known here.
            failure: How it failed, as far as its records are known here.
        """
        self.under_way.remove(taken)
        taken.end, taken.why, taken.report = how, why, report
        taken.seen = taken.turn.runs if how is End.DONE else tuple(sorted(seen))
        if report is not None:
            taken.seen = tuple(run for run in taken.turn.runs if run in report.runs)
            left = tuple(run for run in taken.turn.runs if run not in report.runs)
            taken.before = left if how is End.DONE else ()
            failure = report.failure
        taken.took = self._monotonic() - taken.began_s if took is None else took
        self.ended.append(taken)
        if how is End.DONE:
            each = without_rest(taken.took / len(taken.turn.runs), self._cooldown(taken.turn))
            self._lengths.setdefault(taken.turn.case, each)
        if how is End.FAILED:
            taken.not_begun = failure.not_begun
            if self._limits.fail_fast:
                self.stop(f"{self.entries[taken.turn.case].title} failed, and that is the end")
        self._note_failure(taken.turn.case, failure.why if how is End.FAILED else "")

    def _note_failure(self, case: int, why: str) -> None:
        """Leave out what is left of a case whose last two turns failed of the same thing."""
        before = self._failures.get(case)
        self._failures[case] = why
        if not why or why != before or self._limits.keep_going:
            return
        for number, turn in list(self._open.items()):
            if turn.case == case:
                self._leave_out(number, "two runs in a row failed alike; --keep-going begins them")

    def stop(self, why: str) -> None:
        """Begin nothing more."""
        for number in list(self._open):
            self._leave_out(number, why)

    def give_up(self, places: Sequence[Place]) -> None:
        """Leave out what no testbed will do for."""
        for number, turn in list(self._open.items()):
            why = why_nowhere(self.requires(turn), places)
            self._leave_out(number, why, impossible=True)

    def give_up_on(self, dead: Sequence[Place], there: Sequence[Place]) -> None:
        """Leave out what only dead testbeds would do for."""
        for number, turn in list(self._open.items()) if dead else []:
            requires = self.requires(turn)
            fit = [place.name for place in dead if not place.why_not(requires)]
            if fit and all(place.why_not(requires) for place in there):
                named = f"the testbed{'s' * (len(fit) > 1)} {', '.join(fit)}"
                why = f"{named} {'are' if len(fit) > 1 else 'is'} dead, no worker answers"
                why += ", and no other is what it requires"
                self._leave_out(number, why, impossible=True)

    def _leave_out(self, number: int, why: str, *, impossible: bool = False) -> None:
        turn = self._open.pop(number)
        place = Place("", NOWHERE)
        taken = Taken(number, turn, place, self._expected(turn), self._monotonic())
        taken.end, taken.why, taken.impossible = End.LEFT_OUT, why, impossible
        self.ended.append(taken)

    def remaining(self, taken: Taken) -> float:
        """Return how many seconds a turn on its way will still take; 0 if nobody knows."""
        if taken.seconds is None:
            return 0.0
        spent = 0.0 if taken.started_s is None else self._monotonic() - taken.started_s
        return max(0.0, taken.seconds - spent)

    def known_places(self, places: Sequence[Place]) -> list[Place]:
        """Return places with what is outstanding on their hosts."""
        return [self._busy(place) for place in places]

    def _busy(self, place: Place) -> Place:
        there = [taken for taken in self.under_way if taken.place.host == place.host]
        seconds = sum(map(self.remaining, there))
        return replace(place, outstanding=len(there), seconds=seconds)


def without_rest(whole: float, cooldown: float | None) -> float:
    """Return the length of a run that took so long together with the rest after it (s)."""
    if cooldown is None:
        return max(whole / (1 + SHARE), whole - LONGEST)
    return max(0.0, whole - cooldown)
