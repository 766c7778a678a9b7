"""What is asked for keeps its level, whatever is shown beside it to explain."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.analysis.comparison.tables import overall
from benchyard.analysis.comparison.verdicts import judged_together
from benchyard.analysis.comparison.wording import summary
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import BASE, compared, run, step

EXPLAINING = tuple(f"host_{n}_s" for n in range(20))


def beside(
    times: Sequence[float], counters: float = 1.0, *names: str, **facts: Any
) -> list[RunRecord]:
    """Make runs of steps that each have 20 counters beside the time."""
    return [
        run(
            n,
            *(
                step(time, name=name, used=dict.fromkeys(EXPLAINING, counters * time), **facts)
                for name in names or ("load",)
            ),
        )
        for n, time in enumerate(times, 1)
    ]


def asked(comparison: Comparison) -> list[Row]:
    return [row for row in comparison.rows if not row.explains]


@pytest.mark.parametrize("more", [("all",), ("duration_s", "all")])
def test_a_true_change_beside_twenty_that_explain_is_told_as_if_alone(more: Sequence[str]) -> None:
    # Five runs tell one comparison at the level, and none of 21.
    sides = beside(BASE[:5]), beside([1.05 * value for value in BASE[:5]])
    alone, all_of_them = (compared(*sides, metrics=one) for one in (("duration_s",), more))
    [row], [same] = alone.rows, asked(all_of_them)
    assert (same.difference, same.judgement) == (row.difference, row.judgement)
    assert same.verdict is Verdict.REGRESSION
    assert (all_of_them.tested, all_of_them.explaining) == (1, 20)
    assert all_of_them.regressions == 1
    every = compared(*sides, metrics=("*",))
    assert {one.verdict for one in every.rows} == {Verdict.CANNOT_TELL}


def test_what_explains_is_shown_and_is_neither_better_nor_worse() -> None:
    made = compared(beside(BASE), beside(BASE, 2.0), metrics=("all",))
    assert made.regressions == 0
    explaining = [row for row in made.rows if row.explains]
    assert {row.verdict for row in explaining} == {Verdict.CHANGE}
    assert [row.difference.ratio for row in explaining] == [pytest.approx(2.0, rel=0.02)] * 20
    # Holm over the twenty alone.
    assert explaining[0].judgement.p_value == pytest.approx(20 * explaining[0].difference.p_value)
    assert summary(made) == (
        "0 regressions, 1 without a difference shown; 1 comparison at the 1 % level together, "
        "changes below 1 % are not called; of 20 that explain, a family of their own, 20 differ"
    )


def test_a_metric_that_is_named_or_that_a_step_declares_is_asked_for() -> None:
    def side(**parameters: Any) -> list[RunRecord]:
        return [
            run(n, step(v, used={"host_a_s": v}, values={"b": v, "c": v}, parameters=parameters))
            for n, v in enumerate(BASE, 1)
        ]

    def names(*metrics: str, **parameters: Any) -> set[str]:
        sides = side(**parameters), side(**parameters)
        return {row.metric for row in asked(compared(*sides, metrics=metrics))}

    assert names("all") == {"duration_s"}
    assert names("all", metrics={"c": {"unit": "B"}}) == {"duration_s", "c"}
    assert names("host_*", "all") == {"host_a_s"}
    assert names("*") == {"duration_s", "host_a_s", "b", "c"}


def test_the_line_over_all_steps_is_told_as_if_alone() -> None:
    sides = beside(BASE, 1.0, "a", "b"), beside([1.1 * v for v in BASE], 1.0, "a", "b")
    [alone] = overall(compared(*sides))
    of_time, *explaining = overall(compared(*sides, metrics=("all",)))
    assert of_time == alone
    assert len(explaining) == 20
    assert [one.judgement.p_value for one in explaining] == [
        pytest.approx(20 * one.difference.p_value) for one in explaining
    ]


def test_several_comparisons_keep_the_families_apart() -> None:
    made = compared(beside(BASE), beside([1.1 * v for v in BASE]), metrics=("all",))
    both = judged_together([made, made])
    assert [(one.tested, one.explaining) for one in both] == [(2, 40)] * 2
    for one in both:
        [row] = asked(one)
        assert row.judgement.p_value == pytest.approx(2 * row.difference.p_value)


@pytest.mark.slow
def test_what_is_asked_keeps_its_level_where_nothing_differs() -> None:
    """One program against itself, 8 and 8 runs of 3 steps with 20 counters that follow the time."""
    dice, trials = Random(7), 400  # noqa: S311 - draws samples
    called = 0
    for _ in range(trials):
        one, other = (
            beside([dice.lognormvariate(0, 0.05) for _ in BASE], 1.0, "a", "b", "c")
            for _ in range(2)
        )
        made = compared(one, other, metrics=("all",), threshold=0.0)
        called += any(row.judgement.p_value <= 0.01 for row in asked(made))
    # At 1 %, 400 trials have 10 or more in 0.8 % of cases.
    assert called < 10
