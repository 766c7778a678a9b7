"""The critical path: the chain of steps that a run waited for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Outcome
from benchyard.results.record import Attempt, RunRecord, StepRecord
from benchyard.traces.critical_path import critical_path

BEGAN = "2026-11-20T08:00:00+00:00"
DONE = Outcome.COMPLETED
SPAN = st.tuples(st.integers(0, 30), st.integers(0, 20))


def record(*spans: tuple[float, float], length: float = 100.0) -> RunRecord:
    """Return a run of steps; each has a name, ``a`` and so on, a start and an end."""
    steps = tuple(
        StepRecord(
            index,
            chr(96 + index),
            chr(96 + index),
            "R",
            "c",
            {},
            True,
            DONE,
            (Attempt(1, BEGAN, start, end, DONE),),
        )
        for index, (start, end) in enumerate(spans, 1)
    )
    return RunRecord({"title": "t"}, 1, DONE, BEGAN, BEGAN, length, steps)


def names(run: RunRecord) -> str:
    return "".join(step.name for step in critical_path(run).steps)


def test_steps_after_each_other_are_all_on_it() -> None:
    path = critical_path(record((1, 11), (12, 22), (30, 50)))
    assert [step.name for step in path.steps] == ["a", "b", "c"]
    assert [step.waited_s for step in path.steps] == [1, 1, 8]
    assert [step.share for step in path.steps] == pytest.approx([0.1, 0.1, 0.2])
    assert (path.waited_s, path.after_s) == (10, 50)


def test_it_goes_back_from_the_last_one_and_not_from_the_longest() -> None:
    assert names(record((0, 30), (0, 10), (11, 35))) == "bc"


def test_attempts_are_one_step_with_the_delays_between_them() -> None:
    attempts = (Attempt(1, BEGAN, 1, 2, Outcome.FAILED), Attempt(2, BEGAN, 5, 6, DONE))
    step = StepRecord(1, "a", "a", "R", "c", {}, True, DONE, attempts)
    run = RunRecord({"title": "t"}, 1, DONE, BEGAN, BEGAN, 10.0, (step,))
    [only] = critical_path(run).steps
    assert (only.start_s, only.end_s, only.duration_s, only.share) == (1, 6, 5, 0.5)


def test_a_run_without_steps_has_none() -> None:
    path = critical_path(record())
    assert (path.steps, path.waited_s, path.after_s, path.duration_s) == ((), 0.0, 100.0, 100.0)
    never = StepRecord(1, "a", "a", "R", "c", {}, True, Outcome.SKIPPED)
    run = RunRecord({"title": "t"}, 1, Outcome.FAILED, "", "", 0.0, (never,))
    assert critical_path(run).steps == ()


@given(st.lists(SPAN, min_size=1, max_size=12))
def test_the_chain_is_one_in_time_and_comes_to_the_whole(spans: list[tuple[int, int]]) -> None:
    run = record(*((float(start), float(start + length)) for start, length in spans))
    path = critical_path(run)
    assert path.steps[-1].end_s == max(start + length for start, length in spans)
    at = 0.0
    for step in path.steps:
        assert step.start_s - step.waited_s == at
        assert step.waited_s >= 0
        at = step.end_s
        others = [one.attempts[0] for one in run.steps if one.index != step.index]
        between = [one for one in others if at - step.duration_s - step.waited_s < one.end_s]
        assert not [one for one in between if one.end_s < step.start_s]
    total = sum(step.duration_s for step in path.steps) + path.waited_s + path.after_s
    assert total == pytest.approx(path.duration_s)
