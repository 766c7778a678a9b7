"""The order of things: runs, the graph of steps, resuming, and the wish to stop."""

import threading
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchyard.core.errors import CommandFailedError, RunInterruptedError, TestbedBusyError
from benchyard.core.model import Outcome
from benchyard.host.testbed import hold_testbed
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from benchyard.run.progress import RunStarted, StepEnded, Waiting
from tests.benchyard.run.conftest import Act, Call, Lab, results, step
from tests.conftest import ctrl_c, eventually, tree

DONE, FAILED, SKIPPED = Outcome.COMPLETED, Outcome.FAILED, Outcome.SKIPPED
NO = CommandFailedError("no")


def outcomes(record: RunRecord) -> dict[str, Outcome]:
    return {s.name: s.outcome for s in record.steps}


# -- runs


def test_defect_32_finished_runs_stay_as_they_are_to_the_byte(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, 2.0, NO, 3.0, 4.0)
    case = lab.case(step("a", parameters={"makes": "out", "text": "x"}))
    first = lab.execute(case, (1, 2, 3, 4), fail_fast=True)
    before = {run: tree(results(case) / f"run_{run}") for run in (1, 2)}

    second = lab.execute(case, (1, 2, 3, 4), fail_fast=True)

    assert [record.run for record in first.records] == [1, 2, 3]
    assert [record.run for record in second.records] == [3, 4]
    assert second.done == (1, 2, 3, 4)
    assert {run: tree(results(case) / f"run_{run}") for run in (1, 2)} == before


def test_a_failed_run_does_not_keep_the_others_from_being_done(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, NO, 1.0, 1.0)

    executed = lab.execute(lab.case(step("a")), (1, 2, 3, 4))

    assert [r.outcome for r in executed.records] == [DONE, FAILED, DONE, DONE]
    assert executed.done == (1, 3, 4)
    assert [r.run for r in executed.failed] == [2]
    kept = [bool(record.steps and record.environment) for record in executed.records]
    assert kept == [False, True, False, True], "a lab does not grow with its runs"


def test_force_does_finished_runs_again_and_keeps_them_until_then(lab: Lab) -> None:
    case = lab.case(step("a"))
    lab.execute(case, (1, 2))
    before = tree(results(case) / "run_1")
    lab.script.on("Alpha.work", NO, 5.0)

    executed = lab.execute(case, (1, 2), force=True)

    assert [r.outcome for r in executed.records] == [FAILED, DONE]
    lab.execute(case, (2,))
    assert tree(results(case) / "run_1") == before, "a failed replacement replaces nothing"
    assert read_record(results(case) / "run_2").steps[0].durations_s == [5.0]


@pytest.mark.parametrize(
    ("of_case", "options", "course"),
    [
        # In proportion to the run before; before the first run only after another case.
        ({}, {"cooldown": None}, ["run", 0.1, "run", 0.02, "run"]),
        ({}, {"cooldown": None, "rest_first": 0.02}, [0.01, "run", 0.1, "run", 0.02, "run"]),
        ({"cooldown": 0.003}, {"cooldown": None}, ["run", 0.003, "run", 0.003, "run"]),
        ({"cooldown": 0.003}, {"cooldown": 0.001}, ["run", 0.001, "run", 0.001, "run"]),
    ],
)
def test_how_long_the_lab_rests_between_runs(
    lab: Lab, of_case: dict[str, Any], options: dict[str, Any], course: list[object]
) -> None:
    lab.script.on("Alpha.work", 0.2, 0.04, 9.0)

    lab.execute(lab.case(step("a"), **of_case), (1, 2, 3), **options)

    events = [event for event in lab.events if isinstance(event, Waiting | RunStarted)]
    seen = [event.seconds if isinstance(event, Waiting) else "run" for event in events]
    assert seen == pytest.approx(course)


@pytest.mark.parametrize(
    ("options", "acts", "failed"),
    [
        ({}, [NO] * 5, 2),
        ({"keep_going": True}, [NO] * 5, 5),
        ({}, [NO, CommandFailedError("another"), NO, 1.0, NO], 4),
    ],
    ids=["alike", "keep going", "different or apart"],
)
def test_two_runs_in_a_row_that_fail_alike_end_the_case(
    lab: Lab, options: dict[str, bool], acts: list[Act], failed: int
) -> None:
    lab.script.on("Alpha.work", *acts)

    made = lab.execute(lab.case(step("a")), range(1, 6), **options)

    assert (len(made.failed), made.interrupted) == (failed, False)
    said = [notice for notice in lab.notices if "(--keep-going begins them)" in notice]
    assert len(said) == (failed == 2)


def test_the_testbed_is_held_while_a_case_is_executed(lab: Lab) -> None:
    def look(_call: Call) -> None:
        with (
            pytest.raises(TestbedBusyError, match=r"measuring already: pid .* fake"),
            hold_testbed("another", wait=False),
        ):
            pytest.fail("two at once")

    lab.script.on("Alpha.work", look)
    case = lab.case(step("a"))

    assert lab.execute(case).records[0].outcome is DONE
    with hold_testbed("another", wait=False):
        with pytest.raises(TestbedBusyError):
            lab.execute(case, (2,), wait=False)
        assert [*Results(results(case)).done()] == [1]


# -- the graph


def test_a_failure_lets_what_runs_beside_it_end(lab: Lab) -> None:
    def is_known() -> bool:
        return any(isinstance(event, StepEnded) and event.name == "a" for event in lab.events)

    def fail(_call: Call) -> None:
        assert begun.wait(10)
        raise NO

    def wait(_call: Call) -> None:
        begun.set()
        # Until the failure is noted: an earlier end of b would rightly start c.
        assert eventually(is_known)

    begun = threading.Event()
    lab.script.on("Alpha.work", fail)
    lab.script.on("Beta.work", wait)

    record = lab.one(
        step("a", needs=[]), step("b", "Beta", needs=[]), step("c", "Beta", needs=["b"])
    )

    assert outcomes(record) == {"a": FAILED, "b": DONE, "c": SKIPPED}
    assert record.outcome is FAILED


graphs = st.lists(st.sets(st.integers(0, 5), max_size=3), min_size=1, max_size=7).map(
    lambda needs: [{n for n in each if n < i} for i, each in enumerate(needs)]
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs, broken=st.sets(st.integers(0, 6), max_size=1))
def test_every_graph_is_executed_in_an_order_that_it_allows(
    lab: Lab, graph: Sequence[set[int]], broken: set[int]
) -> None:
    """Each step once, after all it needs; behind a failure nothing."""
    began: list[int] = []
    ended: set[int] = set()

    def work(call: Call) -> None:
        number = int(call.parameters["text"])
        began.append(number)
        assert graph[number] <= ended
        if number in broken:
            raise NO
        ended.add(number)

    lab.script.on("Crowd.work", always=work)
    steps = [
        step(str(i), "Crowd", needs=[str(n) for n in sorted(needs)], parameters={"text": str(i)})
        for i, needs in enumerate(graph)
    ]

    record = lab.execute(lab.case(*steps, name=f"graph{len(lab.events)}")).records[0]

    assert len(began) == len(set(began))
    assert len(record.steps) == len(graph)
    whole = broken.isdisjoint(range(len(graph)))
    assert record.outcome is (DONE if whole else FAILED)
    assert not whole or len(began) == len(graph)
    assert all(not (graph[s.index - 1] & broken) or s.outcome is SKIPPED for s in record.steps)


# -- the wish to stop


def test_after_a_ctrl_c_nothing_is_tried_again(lab: Lab) -> None:
    def work(_call: Call) -> None:
        ctrl_c()
        raise NO

    lab.script.on("Alpha.work", work)

    executed = lab.execute(lab.case(step("a", retries=5, retry_delay=3600)), (1, 2))

    assert (executed.done, executed.interrupted) == ((), True)
    assert len(executed.records) == lab.script.count("Alpha.work") == 1


def press_until(aborted: threading.Event) -> None:
    """Press Ctrl-C until the second was heard: two may be delivered as one."""
    while not aborted.is_set():
        ctrl_c()
    raise CommandFailedError("killed")


def test_two_ctrl_c_while_steps_run_side_by_side(lab: Lab) -> None:
    aborted, both = threading.Event(), threading.Barrier(2)

    def work(call: Call) -> None:
        both.wait(10)
        if call.parameters["text"]:
            press_until(aborted)
        assert aborted.wait(10)
        raise CommandFailedError("killed")

    lab.script.on("Crowd.work", always=work)
    lab.script.on("Crowd.abort", lambda _: aborted.set())
    case = lab.case(
        step("a", "Crowd", needs=[], parameters={"text": "x"}), step("b", "Crowd", needs=[])
    )

    with pytest.raises(KeyboardInterrupt):
        lab.execute(case)

    assert lab.script.count("Crowd.stop") == 1
    record = read_record(results(case) / "run_1")
    assert record.outcome is Outcome.CANCELLED
    assert [len(s.attempts) for s in record.steps] == [1, 1], "what was under way is recorded"
    assert set(outcomes(record).values()) == {Outcome.CANCELLED}


def test_ctrl_c_ends_the_wait_for_the_testbed(lab: Lab) -> None:
    lab.listeners.append(lambda event: ctrl_c() if isinstance(event, Waiting) else None)
    case = lab.case(step("a"))

    with (
        hold_testbed("somebody else", wait=False),
        pytest.raises(RunInterruptedError, match="somebody else"),
    ):
        lab.execute(case)

    assert not results(case).exists()


# -- asking the user


@pytest.mark.parametrize(
    ("answer", "asked", "outcome"),
    [(None, 2, DONE), (ctrl_c, 1, Outcome.CANCELLED), (Mock(side_effect=EOFError), 1, FAILED)],
    ids=["Enter", "Ctrl-C", "nobody"],
)
def test_wait_for_user_asks_before_each_step(
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[], None] | None,
    asked: int,
    outcome: Outcome,
) -> None:
    before: list[int] = []

    def respond() -> str:
        before.append(lab.script.count("Alpha.work"))
        if answer:
            answer()
        return ""

    monkeypatch.setattr("builtins.input", respond)

    executed = lab.execute(lab.case(step("a"), step("b")), wait_for_user=True)

    assert before == [*range(asked)]
    assert lab.script.count("Alpha.work") == (2 if outcome is DONE else 0)
    [record] = executed.records
    assert (record.outcome, executed.interrupted) == (outcome, answer is ctrl_c)
    assert outcome is not FAILED or "nobody is there to press Enter" in str(record.error)
