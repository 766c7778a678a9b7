"""The course of a suite: every run once, never beyond the budget, never on an unfit testbed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.case.testbeds import Testbed
from benchyard.core.model import Case, Requires
from benchyard.run.ordering import Order, rest_after, turns
from benchyard.suite.course import End, SuiteCourse, SuiteLimits, Taken
from benchyard.suite.plan import ChosenCase
from benchyard.suite.turn_records import MOST_OUTSTANDING, Place, with_room


def entry(name: str, runs: int = 1, requires: Requires | None = None, **more: Any) -> ChosenCase:
    case = Case(Path("/cases") / name, f"urn:{name}", name, "", (), requires=requires or Requires())
    return ChosenCase(name, "no finished run", case, None, tuple(range(1, runs + 1)), **more)


def place(name: str, host: str = "", **more: Any) -> Place:
    return Place(name, Testbed(host or name, name, **more), name)


@dataclass
class Simulation:
    """Executes a course in no time; a testbed executes one turn after another."""

    entries: Sequence[ChosenCase]
    places: Sequence[Place]
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    order: Order = Order.CASE
    limits: SuiteLimits = field(default_factory=SuiteLimits)
    failing: frozenset[str] = frozenset()
    seed: int = 1
    now: float = 0.0
    log: list[tuple[float, float, Taken]] = field(default_factory=list[tuple[float, float, Taken]])

    def run(self) -> SuiteCourse:
        planned = turns([one.runs for one in self.entries], self.order, self.seed)
        course = SuiteCourse(self.entries, planned, self.limits, lambda: self.now)
        free_at: dict[str, float] = {}
        ends: dict[int, tuple[float, float, Taken]] = {}
        while course.left or course.under_way:
            while taken := course.take(course.known_places(self.places)):
                host = taken.place.host
                assert (
                    len([t for t in course.under_way if t.place.host == host]) <= MOST_OUTSTANDING
                )
                start = max(self.now, free_at.get(host, 0.0))
                end = start + self.length(course, taken)
                free_at[host] = end
                ends[taken.number] = (start, end, taken)
            if not ends:
                course.give_up(self.places)
                continue
            number = min(ends, key=lambda n: ends[n][1])
            start, self.now, taken = ends.pop(number)
            for began, _, other in ends.values():
                if began <= self.now:
                    course.note_start(other)
            self.log.append((start, self.now, taken))
            name = course.entries[taken.turn.case].title
            course.end(taken, End.FAILED if name in self.failing else End.DONE)
        return course

    def length(self, course: SuiteCourse, taken: Taken) -> float:
        each = self.seconds.get(course.entries[taken.turn.case].title, 1.0)
        return len(taken.turn.runs) * (each + rest_after(each, self.limits.cooldown_s))


def executed(course: SuiteCourse) -> Counter[tuple[int, int]]:
    return Counter(
        (taken.turn.case, run)
        for taken in course.ended
        if taken.end is not End.LEFT_OUT
        for run in taken.turn.runs
    )


RUNS = st.lists(st.integers(0, 5), min_size=1, max_size=8)


@given(RUNS, st.sampled_from(Order), st.integers(1, 4), st.integers(0, 3))
def test_every_wanted_run_is_executed_once(
    wanted: list[int], order: Order, beds: int, seed: int
) -> None:
    entries = [entry(f"c{n}", runs) for n, runs in enumerate(wanted)]
    places = [place(f"bed{n}") for n in range(beds)]
    course = Simulation(entries, places, order=order, seed=seed).run()
    expected = {(n, run): 1 for n, runs in enumerate(wanted) for run in range(1, runs + 1)}
    assert executed(course) == expected


@given(RUNS, st.sampled_from(Order), st.integers(1, 4))
def test_all_runs_of_a_case_go_to_one_testbed(wanted: list[int], order: Order, beds: int) -> None:
    entries = [entry(f"c{n}", runs) for n, runs in enumerate(wanted)]
    course = Simulation(entries, [place(f"bed{n}") for n in range(beds)], order=order).run()
    where: dict[int, set[str]] = {}
    for taken in course.ended:
        where.setdefault(taken.turn.case, set()).add(taken.place.name)
    assert all(len(names) == 1 for names in where.values())


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(0.1, 100)), min_size=1, max_size=8),
    st.floats(0.1, 300),
    st.sampled_from(Order),
    st.integers(1, 3),
    st.sampled_from([0.0, 5.0]),
)
def test_nothing_is_begun_that_would_overrun_the_budget(
    wanted: list[tuple[int, float]], budget: float, order: Order, beds: int, cooldown: float
) -> None:
    entries = [entry(f"c{n}", runs, seconds=took) for n, (runs, took) in enumerate(wanted)]
    seconds = {f"c{n}": took for n, (_, took) in enumerate(wanted)}
    limits = SuiteLimits(budget, cooldown)
    simulation = Simulation(
        entries, [place(f"bed{n}") for n in range(beds)], seconds, order, limits
    )
    course = simulation.run()
    assert all(end <= budget + 1e-6 for _, end, _ in simulation.log)
    total = Counter(taken.turn.case for taken in course.ended for _ in taken.turn.runs)
    assert total == {n: runs for n, (runs, _) in enumerate(wanted)}
    left = [taken for taken in course.ended if taken.end is End.LEFT_OUT]
    assert all("of the budget of" in taken.why for taken in left)


def test_a_case_goes_where_its_requirements_are_met() -> None:
    demanding = Requires(tags=("nvme",), cores=8)
    entries = [entry("any"), *(entry(f"demanding{n}", 1, demanding) for n in range(4))]
    places = [place("small", cores=2), place("large", cores=16, tags=("nvme",))]
    course = Simulation(entries, places).run()
    where = {course.entries[t.turn.case].title: t.place.name for t in course.ended}
    assert {where[f"demanding{n}"] for n in range(4)} == {"large"}


def test_two_testbeds_of_one_host_never_have_more_to_do_than_one() -> None:
    entries = [entry(f"c{n}") for n in range(12)]
    places = [place("a1", "a"), place("a2", "a"), place("b", "b")]
    simulation = Simulation(entries, places, dict.fromkeys((e.title for e in entries), 10.0))
    simulation.run()
    on_a = [(start, end) for start, end, taken in simulation.log if taken.place.host == "a"]
    assert len(on_a) == 6
    assert all(end <= later for (_, end), (later, _) in pairwise(on_a))
    assert simulation.now == 60.0


def test_at_the_end_no_turn_waits_behind_another_while_a_testbed_is_idle() -> None:
    entries = [entry(f"c{n}") for n in range(3)]
    seconds = {"c0": 100.0, "c1": 1.0, "c2": 1.0}
    simulation = Simulation(entries, [place("a"), place("b")], seconds)
    simulation.run()
    assert simulation.now == 100.0


def test_a_case_of_unknown_length_may_begin_until_the_budget_is_spent() -> None:
    entries = [entry(f"c{n}") for n in range(3)]
    seconds: dict[str, float] = dict.fromkeys(("c0", "c1", "c2"), 6.0)
    course = Simulation(entries, [place("a")], seconds, limits=SuiteLimits(10.0)).run()
    assert [taken.end for taken in course.ended].count(End.DONE) == 2


def test_lengths_are_learnt_on_the_way() -> None:
    simulation = Simulation(
        [entry("c", 3)], [place("a")], {"c": 6.0}, Order.RANDOM, SuiteLimits(14.0)
    )
    course = simulation.run()
    assert [taken.end for taken in course.ended].count(End.DONE) == 2
    assert simulation.now == 12.0


def test_what_is_put_back_is_begun_again_elsewhere() -> None:
    course = SuiteCourse([entry("c", 2)], turns([(1, 2)], Order.CASE, 0), SuiteLimits())
    taken = course.take([place("a")])
    assert taken is not None
    course.put_back(taken)
    assert course.left == 1
    again = course.take([place("b")])
    assert again is not None
    assert (again.place.name, again.turn.runs) == ("b", (1, 2))


def test_a_testbed_that_has_gone_binds_nobody() -> None:
    course = SuiteCourse([entry("c", 2)], turns([(1, 2)], Order.RANDOM, 0), SuiteLimits())
    first = course.take([place("a")])
    assert first is not None
    course.end(first, End.DONE)
    assert course.take([replace(place("a"), outstanding=MOST_OUTSTANDING), place("b")]) is None
    second = course.take([place("b")])
    assert second is not None
    assert second.place.name == "b"


@pytest.mark.parametrize(("left", "names"), [(1, ["idle"]), (2, ["idle"]), (3, ["idle", "busy"])])
def test_room_for_a_second_turn_depends_on_how_many_are_left(left: int, names: list[str]) -> None:
    places = [replace(place("busy"), outstanding=1), place("idle")]
    assert [one.name for one in with_room(places, left)] == names
