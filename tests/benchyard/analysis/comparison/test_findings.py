"""What a comparison finds beside numbers."""

from collections.abc import Sequence

import pytest

from benchyard.analysis.comparison.facts import Difficulty
from benchyard.analysis.comparison.gate import findings
from benchyard.analysis.comparison.samples import sample
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import failed, run, run_set, runs, step

GOOD = runs(1.0, 1.0, 1.0)
BAD = [run(n, failed()) for n in (1, 2, 3)]
FLAKY = [*runs(1.0, 1.0), run(3, failed(outcome=Outcome.TOLERATED))]


def found(one: Sequence[RunRecord], other: Sequence[RunRecord]) -> list[Difficulty]:
    before, after = run_set(one), run_set(other)
    return list(findings(before, after, sample(before), sample(after)))


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        (GOOD, BAD, Verdict.REGRESSION),
        (GOOD, FLAKY, Verdict.REGRESSION),
        (FLAKY, BAD, Verdict.REGRESSION),
        (BAD, GOOD, Verdict.IMPROVEMENT),
        (FLAKY, GOOD, Verdict.IMPROVEMENT),
        (BAD, FLAKY, Verdict.IMPROVEMENT),
        (FLAKY, FLAKY, Verdict.CHANGE),
        (BAD, BAD, Verdict.CHANGE),
    ],
)
def test_failing_begins_ends_or_goes_on(
    one: list[RunRecord], other: list[RunRecord], verdict: Verdict
) -> None:
    [finding] = found(one, other)
    assert finding.verdict is verdict
    assert finding.step == "load"


def test_how_often_is_said() -> None:
    [finding] = found(GOOD[:1], FLAKY)
    assert finding.text == (
        "step Load fails in 1 of 3 runs of the candidate, in 0 of 1 run of the baseline"
    )


def test_set_up_that_fails_is_a_regression_too() -> None:
    one = [run(1, step(1.0, measure=False), step(1.0, name="query"))]
    other = [run(1, failed(measure=False), failed("query", outcome=Outcome.SKIPPED))]
    first, second = found(one, other)
    assert (first.step, first.verdict) == ("load", Verdict.REGRESSION)
    assert second.verdict is Verdict.CHANGE
    assert second.text == "step Query was never executed in the candidate: skipped each time"


def test_a_run_that_breaks_off_without_a_failed_step_is_a_regression() -> None:
    other = [*runs(1.0), run(2, failed(outcome=Outcome.SKIPPED))]
    [finding] = found(GOOD, other)
    assert (finding.step, finding.verdict) == (None, Verdict.REGRESSION)
    assert finding.text.startswith("the lab or a resource could not go on (run 2) in 1 of 2 runs")


def test_steps_without_a_partner_are_named() -> None:
    one, other = [run(1, step(1.0), step(1.0, name="a"))], [run(1, step(1.0), step(1.0, name="b"))]
    assert [finding.text for finding in found(one, other)] == [
        "step A is in the baseline only; the candidate has no step with the id a",
        "step B is in the candidate only; the baseline has no step with the id b",
    ]
    assert {finding.verdict for finding in found(one, other)} == {Verdict.CHANGE}
