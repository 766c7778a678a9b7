"""What a turn left in its results folder, as far as the suite needs to know it."""

from pathlib import Path
from threading import Event

import pytest

from benchyard.core.clock import now
from benchyard.run.ordering import Turn
from benchyard.run.request import Request
from benchyard.suite.course import End, SuiteCourse, SuiteLimits
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.plan import ChosenCase
from benchyard.suite.summary import summed
from benchyard.suite.turn_records import NOWHERE, Place, TurnFailure, TurnRecords, records_of_turn
from tests.benchyard.analysis.comparison.conftest import failed, place, run, step

BEFORE, LATER = "2025-12-31T00:00:00+00:00", "2026-01-01T00:02:30+00:00"


def test_the_last_run_that_was_begun_says_how_the_turn_ended(tmp_path: Path) -> None:
    results = place(tmp_path / "results", [run(1, step(1.0)), run(2, failed())])

    found = records_of_turn(results, (1, 2, 3, 4), BEFORE)

    assert found.failure == TurnFailure("step Load: failed", (3, 4))
    assert found.last_s == 9.0
    assert found.done == (1,)


def test_what_was_there_before_is_not_the_turns(tmp_path: Path) -> None:
    results = place(tmp_path / "results", [run(1, step(1.0)), run(2, failed())])

    assert records_of_turn(results, (1, 2), LATER).failure == TurnFailure()
    assert records_of_turn(None, (1, 2), BEFORE) == TurnRecords()
    assert records_of_turn(tmp_path / "none", (1, 2), BEFORE) == TurnRecords()


@pytest.mark.parametrize(("keep_going", "not_begun"), [(False, 2), (True, 0)])
def test_a_case_that_fails_alike_twice_is_left_out_and_others_go_on(
    tmp_path: Path, *, keep_going: bool, not_begun: int
) -> None:
    """Run by run, as round-robin and random orders are; the other case rests from this one."""
    turns = [Turn(case, (number,)) for number in (1, 2, 3, 4) for case in (0, 1)]
    entries = [ChosenCase(n, "", results=tmp_path / n, runs=(1, 2, 3, 4)) for n in ("bad", "good")]
    course = SuiteCourse(entries, turns, SuiteLimits(keep_going=keep_going))
    asked: list[Request] = []

    def execute(request: Request) -> TurnEnd:
        asked.append(request)
        (number,), bad = request.only, course.under_way[0].turn.case == 0
        took = 7.0 if bad else 2.0
        made = run(number, failed() if bad else step(1.0), duration_s=took, started_at=now())
        place(tmp_path / ("bad" if bad else "good"), [made])
        return TurnEnd(End.FAILED if bad else End.DONE)

    execute_turns(course, Place("", NOWHERE), Request("", runs=4), execute, Event())

    bad, good = summed(course, seed=None, interrupted=False).lines
    assert (bad.failed, bad.left_out) == (4 - not_begun, not_begun)
    assert (good.done, good.left_out) == (4, 0)
    assert [request.rest_first for request in asked[:4]] == [0.0, 7.0, 2.0, 7.0]
