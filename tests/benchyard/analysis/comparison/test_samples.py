"""One value a run, and the count of what is left out."""

from benchyard.analysis.comparison.samples import DURATION, sample
from benchyard.core.model import Outcome
from tests.benchyard.analysis.comparison.conftest import failed, run, run_set, runs, step


def test_each_run_gives_one_value_the_median_of_its_repetitions() -> None:
    records = [run(1, step(1.0, 2.0, 9.0, warmups=2)), run(2, step(4.0, 6.0))]
    one = sample(run_set(records))["load"]
    assert one.values == {DURATION: (2.0, 5.0)}
    assert (one.executed, one.failed, one.left_out) == (2, 0, {})


def test_counters_and_reported_numbers_are_there_and_hide_nothing() -> None:
    about = step(
        1.0,
        used={"host_cpu_user_s": 2, "host_swap_used_bytes": None},
        values={"rows": 7, "duration_s": 8.0, "ok": True, "text": "x", "bad": float("nan")},
    )
    values = sample(run_set([run(1, about)]))["load"].values
    assert values == {
        DURATION: (1.0,),
        "host_cpu_user_s": (2.0,),
        "rows": (7.0,),
        "reported_duration_s": (8.0,),
    }
    assert all(isinstance(value, float) for known in values.values() for value in known)


def test_failures_are_counted_and_left_out() -> None:
    records = [
        *runs(1.0),
        run(2, failed(outcome=Outcome.TOLERATED)),
        run(3, failed()),
        run(4, failed(outcome=Outcome.TIMED_OUT)),
        run(5, failed(outcome=Outcome.SKIPPED)),
    ]
    one = sample(run_set(records))["load"]
    assert one.left_out == {"tolerated": 1, "failed": 1, "timed_out": 1, "skipped": 1}
    assert (one.executed, one.failed, one.values[DURATION]) == (4, 3, (1.0,))


def test_a_step_that_succeeded_in_a_run_that_failed_does_not_count() -> None:
    records = run_set([*runs(1.0), run(2, step(5.0), failed("later"))])
    one = sample(records)
    assert one["load"].values[DURATION] == (1.0,)
    assert one["load"].left_out == {"unfinished_run": 1}
    assert (one["later"].executed, one["later"].failed) == (1, 1)


def test_set_up_has_no_values() -> None:
    one = sample(run_set([run(1, step(1.0, measure=False))]))["load"]
    assert (one.measured, one.values, one.executed) == (False, {}, 1)
