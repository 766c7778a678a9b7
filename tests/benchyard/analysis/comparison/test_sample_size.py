"""How many runs a wanted sensitivity takes."""

from random import Random
from typing import Any

import pytest

from benchyard.analysis.comparison.sample_size import (
    SamplePlan,
    make_plan,
    plan_summary,
    plan_table,
)
from benchyard.analysis.comparison.verdicts import Rule
from benchyard.core.errors import InputError
from benchyard.results.record import RunRecord
from tests.benchyard.analysis.comparison.conftest import failed, run, run_set, runs, step


def noisy(spread: float, count: int = 30, **facts: Any) -> list[RunRecord]:
    chance = Random(1)  # noqa: S311 - numbers, no secret
    return runs(*[chance.gauss(1, spread) for _ in range(count)], **facts)


def planned(records: list[RunRecord], change: float, **rule: Any) -> SamplePlan:
    return make_plan({"tpch": run_set(records)}, Rule(**rule), change)


def test_more_noise_and_smaller_changes_take_more_runs() -> None:
    needed = [planned(noisy(spread), 0.02).needed or 0 for spread in (0.001, 0.01, 0.02)]
    assert needed == sorted(needed)
    assert needed[0] == 5  # the fewest that reach 1 % at all
    assert 5 < needed[1] < needed[2] < 100
    assert (planned(noisy(0.01), 0.01).needed or 0) > 2 * needed[1]


def test_what_the_present_runs_could_show_is_told() -> None:
    few, many = (planned(noisy(0.01, count), 0.02).demands[0] for count in (8, 30))
    assert few.runs == 8
    assert few.smallest_change is not None
    assert many.smallest_change is not None
    assert many.smallest_change < few.smallest_change
    assert planned(noisy(0.01, 4), 0.02).demands[0].smallest_change is None


def test_more_comparisons_take_more_runs_and_the_most_demanding_comes_first() -> None:
    chance = Random(2)  # noqa: S311 - numbers, no secret
    records = [
        run(n, step(chance.gauss(1, 0.01), name="a"), step(chance.gauss(1, 0.05), name="b"))
        for n in range(1, 31)
    ]
    plan = planned(records, 0.02)
    assert [demand.step for demand in plan.demands] == ["b", "a"]
    assert plan.needed == plan.demands[0].needed_runs
    assert plan.level_of_each == 0.005


def test_one_run_has_no_spread_and_it_is_said() -> None:
    plan = planned(runs(1.0), 0.01)
    assert plan.needed is None
    assert plan_table(plan).texts()[0] == ["Load", "1", "1.00 s", "-", "-", "-"]
    assert "one run has no spread; start with 5 runs" in plan_summary(plan)


def test_what_nobody_can_run_is_said() -> None:
    plan = planned(noisy(0.3), 0.0001)
    assert plan_table(plan).rows[0][-1] == "> 10,000"
    assert plan_summary(plan).startswith("more than 10,000 runs would be needed to show a change")


def test_equal_values_take_the_fewest_runs_there_are() -> None:
    assert planned(runs(*[1.0] * 5), 0.01).needed == 5


def test_without_a_value_there_is_nothing_to_plan_with() -> None:
    with pytest.raises(InputError, match="nothing to plan with"):
        planned([run(1, failed())], 0.01)
    with pytest.raises(InputError, match="has a metric 'x'"):
        planned(runs(1.0), 0.01, metrics=("x",))
