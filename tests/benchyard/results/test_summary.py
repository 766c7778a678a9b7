"""The document of summary.json."""

import json
from dataclasses import replace
from typing import Any

import pytest

from benchyard.core.model import Json, Outcome
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.summary import median_run, summarize
from benchyard.results.summary_metrics import unit_and_direction
from benchyard.results.trust import Suspect

FAILED = Outcome.FAILED


def summed(*records: RunRecord, **options: Any) -> Any:
    return summarize("c", records, **options)


def first(*records: RunRecord, **options: Any) -> Any:
    """Return what a summary says of step 1."""
    return summed(*records, **options)["steps"][0]


def durations(*records: RunRecord) -> Any:
    return first(*records)["metrics"]["duration_s"]


def told(make: Any, **facts: Any) -> StepRecord:
    """Return a step that took a second, and what was told of its only execution."""
    return make.step(make.attempt([make.repetition(1.0, **facts)]))


def test_defect_24_one_run_is_summed_up(make: Any) -> None:
    metric = durations(make.run(1, make.took(1.5)))
    assert metric["statistics"]["median"] == 1.5
    assert metric["statistics"]["stdev"] is None
    assert metric["values"] == [1.5]
    assert (metric["n_runs"], metric["n_repetitions"]) == (1, 1)


def test_values_stand_in_the_order_of_runs(make: Any) -> None:
    about = first(*(make.run(n, make.took(s)) for n, s in ((10, 1.0), (9, 3.0), (2, 2.0))))
    assert about["metrics"]["duration_s"]["values"] == [2.0, 3.0, 1.0]
    assert about["runs"] == [2, 9, 10]


def test_defect_11_a_run_that_did_less_is_no_median(make: Any) -> None:
    broken = make.step(make.attempt([], FAILED), index=2, outcome=Outcome.TOLERATED)
    whole = [make.run(n, make.took(5.0), make.took(float(n), index=2)) for n in (1, 2, 3)]
    less = [make.run(n, make.took(5.0), broken) for n in (4, 5)]
    assert median_run([*whole, *less]) == 2


def test_unmeasured_steps_do_not_choose_the_median_run(make: Any) -> None:
    records = [
        make.run(n, make.took(unmeasured, measure=False), make.took(float(n), index=2))
        for n, unmeasured in ((1, 9.0), (2, 1.0), (3, 5.0))
    ]
    assert median_run(records) == 2
    assert median_run([make.run(1, make.took(9.0, measure=False))]) is None


def test_outcomes_and_attempts_are_counted_and_failures_left_out(make: Any) -> None:
    tolerated = make.step(*[make.attempt([], FAILED)] * 2, outcome=Outcome.TOLERATED)
    failed = make.attempt([make.repetition(99.0)], FAILED)
    retried = make.step(failed, make.attempt([make.repetition(2.0)]))
    about = first(make.run(1, tolerated), make.run(2, retried), make.run(3, make.took(4.0)))
    assert about["outcomes"] == {"completed": 2, "tolerated": 1}
    assert about["attempts"] == {"completed": 2, "failed": 3}
    assert about["runs"] == [2, 3]
    assert about["metrics"]["duration_s"]["values"] == [2.0, 4.0]


def test_defect_20_warm_up_does_not_count(make: Any) -> None:
    made = [make.repetition(50.0, "warmup"), make.repetition(1.0), make.repetition(3.0)]
    assert durations(make.run(1, make.step(make.attempt(made))))["repetitions"] == [[1.0, 3.0]]


def test_a_runs_value_is_the_median_of_its_repetitions(make: Any) -> None:
    about = first(make.run(1, make.took(1.0, 2.0, 9.0)), make.run(2, make.took(4.0, 4.0, 4.0)))
    metric = about["metrics"]["duration_s"]
    assert metric["values"] == [2.0, 4.0]
    assert metric["repetitions"] == [[1.0, 2.0, 9.0], [4.0, 4.0, 4.0]]
    assert (metric["n_runs"], metric["n_repetitions"], about["repetitions"]) == (2, 6, 6)
    assert metric["statistics"]["mean"] == 3.0


def test_counters_and_reported_numbers_are_described(make: Any) -> None:
    values = {"rows": 7, "ok": True, "text": "x", "bad": float("inf"), "big": 10**400}
    step = told(make, used={"host_cpu_user_s": 0.5}, values=values)
    metrics = first(make.run(1, step))["metrics"]
    assert list(metrics)[:3] == ["duration_s", "host_cpu_user_s", "rows"]
    sources = [metric["source"] for metric in metrics.values()]
    assert sources[:3] == ["clock", "counters", "command"]
    assert set(sources[3:]) == {"samples"}
    assert metrics["rows"]["unit"] is None
    assert metrics["rows"]["statistics"]["median"] == 7
    json.dumps(metrics, allow_nan=False)


def test_what_a_command_reports_hides_nothing_of_ours(make: Any) -> None:
    metrics = first(make.run(1, told(make, values={"duration_s": 8.0})))["metrics"]
    assert metrics["duration_s"]["values"] == [1.0]
    assert metrics["reported_duration_s"]["values"] == [8.0]


def test_defect_25_an_unknown_counter_is_null_and_not_zero(make: Any) -> None:
    name = "host_disk_read_bytes"
    unknown, known = (told(make, used={name: value}) for value in (None, 4.0))
    metric = first(make.run(1, unknown), make.run(2, known))["metrics"][name]
    assert (metric["values"], metric["n_runs"]) == ([None, 4.0], 1)
    never = first(make.run(1, unknown))["metrics"][name]["statistics"]
    assert (never["n"], never["median"]) == (0, None)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("duration_s", ("s", "smaller is better")),
        ("host_cpu_idle_s", ("s", None)),
        ("host_memory_used_bytes", ("B", "smaller is better")),
        ("host_disk_read_count", ("1", None)),
        ("host_network_sent_drop_count", ("1", "smaller is better")),
        ("read_bytes_per_s", ("B/s", "larger is better")),
        ("queries_per_s", ("1/s", "larger is better")),
        ("rows", (None, None)),
    ],
)
def test_a_name_tells_unit_and_direction(metric: str, expected: tuple[str, str]) -> None:
    assert unit_and_direction(metric) == expected


def test_advice_names_in_what_the_testbed_differed(make: Any) -> None:
    def runs(*governors: str) -> list[RunRecord]:
        return [
            replace(
                make.run(number, make.took(10.0 + number % 2 + number / 100)),
                environment={"cpu": {"governor": governors[number % len(governors)]}},
            )
            for number in range(1, 13)
        ]

    [advice, *_] = first(*runs("powersave", "performance"))["advice"]
    assert advice.startswith("two groups of values, ")
    assert advice.endswith("they differ in frequency governor performance and powersave")
    [advice, *_] = first(*runs("powersave"))["advice"]
    assert advice.endswith("look for what alternates, such as placement, caches or frequency")


def test_what_is_left_out_is_counted_by_its_reason(make: Any) -> None:
    ends = (Outcome.TOLERATED, Outcome.SKIPPED, Outcome.CANCELLED, Outcome.TIMED_OUT)
    records = [make.run(n, make.ended(outcome)) for n, outcome in enumerate(ends, 1)]
    records += [make.run(n, make.took(1.0, suspect=["steal"])) for n in (5, 6)]
    records += [make.run(7, make.took(3.0)), make.run(8, make.step(make.attempt([])))]

    without, included = (
        summed(*records, suspect=rule) for rule in (Suspect.LEAVE_OUT, Suspect.INCLUDE)
    )

    assert (without["include_suspect"], included["include_suspect"]) == (False, True)
    about, of_all = without["steps"][0], included["steps"][0]
    others = {"tolerated": 1, "skipped": 1, "cancelled": 1, "timed_out": 1, "no_duration": 1}
    assert (about["left_out"], of_all["left_out"]) == ({**others, "suspect": 2}, others)
    assert (about["runs"], of_all["runs"]) == ([7], [5, 6, 7])
    reasons = [{"run": n, "reasons": ["steal"]} for n in (5, 6)]
    assert about["suspect"] == of_all["suspect"] == reasons
    assert of_all["metrics"]["duration_s"]["values"] == [1.0, 1.0, 3.0]


def test_steps_of_unfinished_runs_are_counted(make: Any) -> None:
    failed = make.run(2, make.took(1.0), make.ended(FAILED, index=2))
    document = summed(make.run(1, make.took(1.0), make.took(2.0, index=2)), unfinished=[failed])
    left_out = [step["left_out"] for step in document["steps"]]
    assert left_out == [{"unfinished_run": 1}, {"failed": 1}]
    assert [step["runs"] for step in document["steps"]] == [[1], [1]]
    assert document["n_runs"] == 1


@pytest.mark.parametrize(("trusted", "counted"), [(5, 3), (6, 0)])
def test_suspect_runs_count_if_fewer_than_six_remain(make: Any, trusted: int, counted: int) -> None:
    records = [make.run(n, make.took(1.0)) for n in range(1, trusted + 1)]
    records += [make.run(n, make.took(9.0, suspect=[f"waited {n} s"])) for n in (11, 12, 13)]
    document = summed(*records)
    assert document["suspect_rule"] == "auto"
    assert document["include_suspect"] is bool(counted)
    (about,) = document["steps"]
    assert about["suspect_counted"] == counted
    assert about["left_out"] == ({} if counted else {"suspect": 3})
    assert len(about["metrics"]["duration_s"]["values"]) == trusted + counted
    assert [run["host_quality"] for run in document["runs"]][-4:] == ["quiet", *["suspect"] * 3]


@pytest.mark.parametrize("rule", [Suspect.AUTO, Suspect.LEAVE_OUT])
def test_a_step_whose_runs_are_suspect_says_why_once(make: Any, rule: Suspect) -> None:
    bad = [make.took(1.0, index=2, suspect=[f"it waited for {n} s"]) for n in (1, 2)]
    records = [make.run(n, make.took(1.0), one) for n, one in enumerate(bad, 1)]

    document = summed(*records, suspect=rule)

    [warning] = document["warnings"]
    assert warning.startswith("step 2 Step 2: 2 of 2 runs suspect (it waited for 1 s) and ")
    assert ("left out" in warning) == (rule is Suspect.LEAVE_OUT)
    assert bool(document["steps"][1]["metrics"]) == (rule is Suspect.AUTO)


def test_a_run_with_a_suspect_step_is_no_median_run(make: Any) -> None:
    records = [make.run(n, make.took(float(n))) for n in (1, 3)]
    records.append(make.run(2, make.took(2.0, suspect=["steal"])))
    assert median_run(records) == 1
    assert median_run(records, {1: True}) == 2


def test_levels_of_the_samples_are_metrics_of_their_own(make: Any) -> None:
    metrics = first(*(make.run(n, make.took(1.0)) for n in (1, 2)))["metrics"]
    most = metrics["host_memory_sampled_max_bytes"]
    assert (most["source"], most["unit"], most["values"]) == ("samples", "B", [8192, 8192])
    assert "host_swap_sampled_max_bytes" not in metrics


def test_where_suspect_runs_leave_too_few_the_advice_is_a_quiet_host(make: Any) -> None:
    bad = [make.run(n, make.took(9.0, suspect=["waited"])) for n in range(2, 7)]
    (step,) = summed(make.run(1, make.took(1.0)), *bad, suspect=Suspect.LEAVE_OUT)["steps"]
    assert step["advice"] == [
        "1 run counts, 5 left out as suspect: quieten the host (benchyard doctor says how), and "
        "add runs"
    ]


def test_use_that_nobody_knows_is_a_warning(make: Any) -> None:
    def warnings(*values: float | None) -> list[str]:
        steps = [told(make, used={"resource_cpu_s": value}) for value in values]
        return summed(*(make.run(n, step) for n, step in enumerate(steps, 1)))["warnings"]

    assert warnings(1.0, 2.0) == []
    [warning] = warnings(1.0, None, None)
    assert "not known in 2 of 3 executions" in warning


def test_a_step_declares_unit_and_direction_of_its_metrics(make: Any) -> None:
    declared: dict[str, Json] = {
        "rate": {"json": "r", "unit": "req/s", "direction": "larger is better"},
        "wait_s": "w",
        "odd": {"unit": 5, "direction": "sideways"},
    }
    values: dict[str, Json] = {"rate": 5.0, "wait_s": 1.0, "odd": 2, "rows": 3}
    step = replace(told(make, values=values), parameters={"metrics": declared})
    metrics = first(make.run(1, step))["metrics"]
    assert {name: (metrics[name]["unit"], metrics[name]["direction"]) for name in values} == {
        "rate": ("req/s", "larger is better"),
        "wait_s": ("s", "smaller is better"),
        "odd": (None, None),
        "rows": (None, None),
    }
