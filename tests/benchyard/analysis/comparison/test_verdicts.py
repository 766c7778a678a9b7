"""Differences, and what is said about all of them together."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.analysis.comparison.document import document
from benchyard.analysis.comparison.gate import regressions_of
from benchyard.analysis.comparison.samples import cannot_tell
from benchyard.analysis.comparison.tables import RowOrder, in_order, table
from benchyard.analysis.comparison.wording import reason, summary, verdict_words
from benchyard.core.errors import InputError
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    failed,
    queries,
    run,
    runs,
    scaled,
    step,
)


def words(one: Sequence[RunRecord], other: Sequence[RunRecord], **rule: Any) -> list[str]:
    return [verdict_words(row) for row in compared(one, other, **rule).rows]


# -- verdicts
def test_a_slowdown_is_a_regression_and_its_undoing_an_improvement() -> None:
    slower = compared(scaled(1), scaled(1.05))
    assert slower.regressions == 1
    assert words(scaled(1), scaled(1.05)) == ["slower"]
    assert words(scaled(1.05), scaled(1)) == ["faster"]
    assert compared(scaled(1.05), scaled(1)).regressions == 0
    [row] = slower.rows
    assert row.difference.ratio == pytest.approx(1.05, rel=0.005)
    assert row.difference.shift == pytest.approx(0.05, rel=0.1)
    assert (row.unit, row.direction) == ("s", "smaller is better")


def test_a_change_below_the_threshold_is_not_called() -> None:
    quiet = runs(*[1 + n / 1e6 for n in range(8)])
    other = runs(*[1.005 + n / 1e6 for n in range(8)])
    assert words(quiet, other) == ["differs by less than 1 %"]
    assert words(quiet, other, threshold=0.002) == ["slower"]


def test_the_level_holds_for_all_comparisons_together() -> None:
    ten = {f"q{n}": BASE[:5] for n in range(10)}
    worse = ten | {"q3": [9.0, 9.1, 9.2, 9.3, 9.4]}
    many = compared(queries(ten), queries(worse))
    assert many.regressions == 0
    assert reason(many.rows[0], 10) == (
        "5 and 5 runs cannot tell at the 1 % level over 10 comparisons; "
        "7 and 7 can, or 9 against the baseline's 5"
    )
    assert compared(queries(ten), queries(worse), level=0.1).regressions == 1


def test_the_worst_comes_first() -> None:
    one = queries(dict.fromkeys("abcd", BASE))
    factors = {"a": 0.5, "b": 1, "c": 1.1, "d": 3}
    other = queries({name: [v * factor for v in BASE] for name, factor in factors.items()})
    both = compared(one, other)
    assert [one.name for one in regressions_of(both)] == ["D", "C"]
    for order, names in ((RowOrder.CASE, "ABCD"), (RowOrder.CHANGE, "DACB")):
        assert [row.candidate.name for row in in_order(both, order).rows] == [*names]


def test_larger_may_be_better_or_nothing_at_all() -> None:
    one = [run(n, step(1.0, values={"rows_per_s": v, "rows": v})) for n, v in enumerate(BASE, 1)]
    other = [
        run(n, step(1.0, values={"rows_per_s": v / 2, "rows": v / 2}))
        for n, v in enumerate(BASE, 1)
    ]
    chosen = {"metrics": ("rows*",)}
    rows = {row.metric: row for row in compared(one, other, **chosen).rows}
    assert rows["rows_per_s"].verdict is Verdict.REGRESSION
    assert rows["rows"].verdict is Verdict.CHANGE
    assert {verdict_words(row) for row in rows.values()} == {"less"}
    back = {row.metric: row.verdict for row in compared(other, one, **chosen).rows}
    assert back == {"rows_per_s": Verdict.IMPROVEMENT, "rows": Verdict.CHANGE}


# -- what is compared


def test_other_work_is_no_regression_and_the_same_work_beside_it_is() -> None:
    one = [run(n, step(v), step(v, name="q")) for n, v in enumerate(BASE, 1)]
    other = [
        run(n, step(9 * v, resource="DuckDB"), step(9 * v, name="q")) for n, v in enumerate(BASE, 1)
    ]
    both = compared(one, other, other_work=True)
    assert [row.verdict for row in both.rows] == [Verdict.CHANGE, Verdict.REGRESSION]
    broken = [run(n, failed(resource="DuckDB")) for n in range(1, 4)]
    assert compared(scaled(1), broken, other_work=True).regressions == 0


def test_a_step_that_is_not_asked_for_changes_nothing() -> None:
    one = [run(n, step(v), step(v, name="q")) for n, v in enumerate(BASE, 1)]
    other = [run(n, step(v), failed("q")) for n, v in enumerate(BASE, 1)]
    assert compared(one, other).regressions == 1
    assert compared(one, other, steps=("load",)).regressions == 0
    assert compared(one, other, steps=("q",)).regressions == 1
    elsewhere = [run(n, step(v), step(v, name="q", resource="X")) for n, v in enumerate(BASE, 1)]
    with pytest.raises(InputError, match="not comparable"):
        compared(one, elsewhere)
    assert [row.candidate.id for row in compared(one, elsewhere, steps=("load",)).rows] == ["load"]


def test_steps_of_set_up_are_not_compared_but_their_failures_are() -> None:
    one = [run(1, step(1.0, measure=False), step(1.0, name="q"))]
    assert [row.candidate.id for row in compared(one, one).rows] == ["q"]
    other = [run(1, failed(outcome=Outcome.TOLERATED, measure=False), step(1.0, name="q"))]
    assert compared(one, other).regressions == 1


def test_a_comparison_without_values_does_not_make_others_harder() -> None:
    one = queries({"a": BASE[:5], "b": BASE[:5]})
    other = [
        run(n, failed("a", outcome=Outcome.TOLERATED), step(9.0 + n, name="b")) for n in range(1, 6)
    ]
    both = compared(one, other)
    verdicts = {row.candidate.id: row.verdict for row in both.rows}
    assert verdicts == {"a": Verdict.CANNOT_TELL, "b": Verdict.REGRESSION}
    assert (both.tested, len(both.rows)) == (1, 2)
    assert "; 1 comparison at the 1 % level together" in summary(both)
    assert document(both, ["a", "b"])["tested"] == 1


def test_the_runs_that_can_are_counted_with_the_comparisons_that_are_said() -> None:
    """One of five is called, so Holm asks 1 / 4 % of the others, for which 6 and 6 would do."""
    few = queries({f"q{n}": BASE[:5] for n in range(4)})
    one, other = (
        [*few, *(run(n, step(f * v, name="p")) for n, v in enumerate(BASE, 6))] for f in (1, 9)
    )
    both = compared(one, other)
    row, *_ = (row for row in both.rows if row.verdict is Verdict.CANNOT_TELL)
    assert both.regressions == 1
    assert row.judgement.needed_p == pytest.approx(0.01 / 4)
    assert reason(row, both.tested) == cannot_tell(5, 5, 0.01, 5)


SAMPLES = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=8)


@given(SAMPLES, SAMPLES)
def test_a_regression_seen_from_the_other_side_is_an_improvement(
    one: list[float], other: list[float]
) -> None:
    there, back = compared(runs(*one), runs(*other)), compared(runs(*other), runs(*one))
    opposite = {
        Verdict.REGRESSION: Verdict.IMPROVEMENT,
        Verdict.IMPROVEMENT: Verdict.REGRESSION,
    }
    verdict = there.rows[0].verdict
    assert back.rows[0].verdict is opposite.get(verdict, verdict)
    assert there.rows[0].judgement.p_value == pytest.approx(back.rows[0].judgement.p_value)
    json.dumps(document(there, ["a", "b"]), allow_nan=False)
    assert table(there).lines()
