"""The one loop of ``run`` and ``suite``: what each turn is asked, and what ends them all."""

from dataclasses import replace
from threading import Event

import pytest

from benchyard.run.ordering import Turn
from benchyard.run.request import Request
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.plan import ChosenCase
from benchyard.suite.turn_records import NOWHERE, Place

BASE = Request("", runs=2)
TURNS = [Turn(0, (1,)), Turn(1, (1,)), Turn(0, (2,))]


def drive(
    *ends: End, base: Request = BASE, campaign: str = "auto", fail_fast: bool = False
) -> tuple[list[Request], bool, SuiteCourse]:
    """Execute turns that end so; return what was asked, whether it was stopped, and the course."""
    entries = [ChosenCase(title, "", campaign=campaign) for title in ("a", "b")]
    course = SuiteCourse(entries, TURNS, SuiteLimits(fail_fast=fail_fast))
    asked: list[Request] = []
    left = iter(ends)

    def execute(request: Request) -> TurnEnd:
        asked.append(request)
        return TurnEnd(next(left, End.DONE))

    return asked, execute_turns(course, Place("", NOWHERE), base, execute, Event()), course


def ends_of(course: SuiteCourse) -> list[End | None]:
    return [taken.end for taken in course.ended]


@pytest.mark.parametrize(
    ("campaign", "suite", "expected"),
    [
        ("new", None, ["new", "new", "auto"]),
        ("new", "the id of a flow run", ["new", "new", "new"]),
        ("keep", None, ["keep"] * 3),
    ],
)
def test_a_new_campaign_begins_once_a_case(
    campaign: str, suite: str | None, expected: list[str]
) -> None:
    asked, _, _ = drive(base=replace(BASE, suite=suite), campaign=campaign)
    assert [request.campaign for request in asked] == expected


def test_a_failure_ends_nothing_unless_it_is_to() -> None:
    assert ends_of(drive(End.FAILED)[2]) == [End.FAILED, End.DONE, End.DONE]

    _, stopped, course = drive(End.FAILED, fail_fast=True)

    assert ends_of(course) == [End.FAILED, End.LEFT_OUT, End.LEFT_OUT]
    assert not stopped


def test_a_turn_that_was_cancelled_ends_them_all() -> None:
    asked, stopped, course = drive(End.DONE, End.CANCELLED)

    assert stopped
    assert len(asked) == 2
    assert course.left == 1


@pytest.mark.parametrize(("after", "stopped"), [(1, True), (3, False)])
def test_a_stop_counts_only_while_there_is_more_to_do(after: int, *, stopped: bool) -> None:
    course, stop = (
        SuiteCourse([ChosenCase("a", ""), ChosenCase("b", "")], TURNS, SuiteLimits()),
        Event(),
    )

    def execute(_: Request) -> TurnEnd:
        if len(course.ended) + 1 == after:
            stop.set()
        return TurnEnd(End.DONE)

    assert execute_turns(course, Place("", NOWHERE), BASE, execute, stop) is stopped
