"""Summaries over the runs of a case."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.krown_csv import COLUMNS, Row, to_csv
from benchyard.model import Json, Outcome
from benchyard.record import Attempt, Repetition, RunRecord, StepRecord
from benchyard.summary import (
    FORMAT,
    VERSION,
    median_run,
    summarize,
    unit_and_direction,
    write_summary,
)

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED


def repetition(
    duration_s: float,
    kind: str = "measured",
    used: Mapping[str, float | None] | None = None,
    values: Mapping[str, Json] | None = None,
) -> Repetition:
    return Repetition(kind, 0.0, duration_s, DONE, used or {}, values or {})


def attempt(
    repetitions: Sequence[Repetition], outcome: Outcome = DONE, start: float = 0.0
) -> Attempt:
    return Attempt(1, "2026-01-01T00:00:00+00:00", start, start + 1, outcome, tuple(repetitions))


def step(
    *attempts: Attempt, index: int = 1, outcome: Outcome = DONE, measure: bool = True
) -> StepRecord:
    name = f"Step {index}"
    return StepRecord(index, f"s{index}", name, "Fake", "go", {}, measure, outcome, attempts)


def took(*durations: float, index: int = 1, measure: bool = True) -> StepRecord:
    return step(attempt([repetition(d) for d in durations]), index=index, measure=measure)


def run(number: int, *steps: StepRecord, **facts: Any) -> RunRecord:
    when = "2026-01-01T00:00:00+00:00"
    return RunRecord({"hash": "abc"} | facts, number, DONE, when, when, 9.0, steps)


def placed(folder: Path, *records: RunRecord) -> list[tuple[Path, RunRecord]]:
    """Give each run a folder with a metrics.csv of two rows a step."""
    made: list[tuple[Path, RunRecord]] = []
    for record in records:
        place = folder / f"run_{record.run}"
        place.mkdir(parents=True, exist_ok=True)
        rows: list[Row] = [
            {"name": "c", "run": record.run, "index": 1, "step": s.index, "timestamp": at}
            for s in record.steps
            for at in (0.25, 0.5)
        ]
        (place / "metrics.csv").write_text(to_csv(COLUMNS, rows))
        made.append((place, record))
    return made


def summed(*records: RunRecord) -> Any:
    return summarize("c", [(Path("unused"), record) for record in records])


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_no_run_is_said_and_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "stats.csv").write_text("kept")
    write_summary(tmp_path, "c", [])
    document = json.loads((tmp_path / "summary.json").read_text())
    assert document["n_runs"] == 0
    assert document["steps"] == []
    assert document["median_run"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stats.csv", "summary.json"]


def test_the_document_says_what_it_is() -> None:
    document = summed(run(1, took(1.0)))
    assert (document["format"], document["version"]) == (FORMAT, VERSION)
    assert document["format"] == "benchyard-summary"
    assert document["case"] == "c"
    assert document["runs"][0]["run"] == 1


def test_defect_24_one_run_is_summed_up() -> None:
    metric = summed(run(1, took(1.5)))["steps"][0]["metrics"]["duration_s"]
    assert metric["statistics"]["median"] == 1.5
    assert metric["statistics"]["stdev"] is None
    assert metric["values"] == [1.5]
    assert (metric["n_runs"], metric["n_repetitions"]) == (1, 1)


def test_defect_23_an_even_number_of_runs_is_summed_up(tmp_path: Path) -> None:
    records = [run(n, took(float(n))) for n in (4, 2, 1, 3)]
    document = summed(*records)
    assert document["steps"][0]["metrics"]["duration_s"]["statistics"]["median"] == 2.5
    assert document["median_run"] == 2
    write_summary(tmp_path, "c", placed(tmp_path, *records))
    assert [row["run"] for row in read(tmp_path / "summary.csv")] == ["2"]


def test_values_stand_in_the_order_of_runs() -> None:
    document = summed(run(10, took(1.0)), run(9, took(3.0)), run(2, took(2.0)))
    assert document["steps"][0]["metrics"]["duration_s"]["values"] == [2.0, 3.0, 1.0]
    assert document["steps"][0]["runs"] == [2, 9, 10]


def test_defect_11_the_median_run_is_named_by_its_true_number(tmp_path: Path) -> None:
    broken = step(attempt([], FAILED), outcome=Outcome.TOLERATED)
    records = [run(1, broken), run(2, broken), *(run(n + 2, took(float(n))) for n in (1, 2, 3))]
    assert median_run(records) == 4
    write_summary(tmp_path, "c", placed(tmp_path, *records))
    row = read(tmp_path / "summary.csv")[0]
    assert (row["run"], row["duration"]) == ("4", "2.0")
    assert {row["run"] for row in read(tmp_path / "aggregated.csv")} == {"4"}
    assert read(tmp_path / "stats.csv")[0]["duration_values"] == "[1.0, 2.0, 3.0]"


def test_defect_11_a_run_that_did_less_is_no_median() -> None:
    broken = step(attempt([], FAILED), index=2, outcome=Outcome.TOLERATED)
    whole = [run(n, took(5.0), took(float(n), index=2)) for n in (1, 2, 3)]
    assert median_run([*whole, run(4, took(5.0), broken), run(5, took(5.0), broken)]) == 2


def test_unmeasured_steps_do_not_choose_the_median_run() -> None:
    records = [
        run(1, took(9.0, measure=False), took(1.0, index=2)),
        run(2, took(1.0, measure=False), took(2.0, index=2)),
        run(3, took(5.0, measure=False), took(3.0, index=2)),
    ]
    assert median_run(records) == 2
    assert median_run([run(1, took(9.0, measure=False))]) is None


def test_defect_05_step_duration_is_not_taken_from_samples(tmp_path: Path) -> None:
    write_summary(tmp_path, "c", placed(tmp_path, run(1, took(0.125))))
    assert read(tmp_path / "summary.csv")[0]["duration"] == "0.125"
    assert read(tmp_path / "stats.csv")[0]["duration_median"] == "0.125"
    assert read(tmp_path / "summary.csv")[0]["number_of_samples"] == "2"


def test_defect_06_a_step_without_samples_keeps_its_row(tmp_path: Path) -> None:
    records = placed(tmp_path, run(1, took(0.5), took(0.25, index=2)))
    (tmp_path / "run_1" / "metrics.csv").unlink()
    write_summary(tmp_path, "c", records)
    assert [row["duration"] for row in read(tmp_path / "summary.csv")] == ["0.5", "0.25"]
    assert read(tmp_path / "aggregated.csv") == []


def test_samples_of_failed_attempts_and_of_phases_between_steps_do_not_count(
    tmp_path: Path,
) -> None:
    retried = step(attempt([], FAILED), attempt([repetition(0.5)], start=0.4))
    write_summary(tmp_path, "c", placed(tmp_path, run(1, retried)))
    assert read(tmp_path / "summary.csv")[0]["number_of_samples"] == "1"


def test_outcomes_and_attempts_are_counted_and_failures_left_out() -> None:
    tolerated = step(attempt([], FAILED), attempt([], FAILED), outcome=Outcome.TOLERATED)
    retried = step(attempt([repetition(99.0)], FAILED), attempt([repetition(2.0)]))
    document = summed(run(1, tolerated), run(2, retried), run(3, took(4.0)))
    about = document["steps"][0]
    assert about["outcomes"] == {"completed": 2, "tolerated": 1}
    assert about["attempts"] == {"completed": 2, "failed": 3}
    assert about["runs"] == [2, 3]
    assert about["metrics"]["duration_s"]["values"] == [2.0, 4.0]


def test_defect_20_warm_up_does_not_count() -> None:
    warm = step(attempt([repetition(50.0, "warmup"), repetition(1.0), repetition(3.0)]))
    metric = summed(run(1, warm))["steps"][0]["metrics"]["duration_s"]
    assert metric["repetitions"] == [[1.0, 3.0]]


def test_a_runs_value_is_the_median_of_its_repetitions() -> None:
    document = summed(run(1, took(1.0, 2.0, 9.0)), run(2, took(4.0, 4.0, 4.0)))
    about = document["steps"][0]
    metric = about["metrics"]["duration_s"]
    assert metric["values"] == [2.0, 4.0]
    assert metric["repetitions"] == [[1.0, 2.0, 9.0], [4.0, 4.0, 4.0]]
    assert (metric["n_runs"], metric["n_repetitions"], about["repetitions"]) == (2, 6, 6)
    assert metric["statistics"]["mean"] == 3.0


def test_an_unmeasured_step_is_listed_without_statistics(tmp_path: Path) -> None:
    record = run(1, took(1.0, measure=False), took(2.0, index=2))
    about = summed(record)["steps"][0]
    assert about["measured"] is False
    assert about["outcomes"] == {"completed": 1}
    assert "metrics" not in about
    write_summary(tmp_path, "c", placed(tmp_path, record))
    assert [row["step"] for row in read(tmp_path / "stats.csv")] == ["2"]
    assert [row["step"] for row in read(tmp_path / "summary.csv")] == ["2"]


def test_counters_and_reported_numbers_are_described() -> None:
    values: dict[str, Json] = {"rows": 7, "ok": True, "text": "x", "bad": float("inf")}
    record = run(1, step(attempt([repetition(1.0, used={"host_cpu_user_s": 0.5}, values=values)])))
    metrics = summed(record)["steps"][0]["metrics"]
    assert list(metrics) == ["duration_s", "host_cpu_user_s", "rows"]
    assert [metric["source"] for metric in metrics.values()] == ["clock", "counters", "command"]
    assert metrics["rows"]["unit"] is None
    assert metrics["rows"]["statistics"]["median"] == 7
    json.dumps(metrics, allow_nan=False)


def test_what_a_command_reports_hides_nothing_of_ours() -> None:
    record = run(1, step(attempt([repetition(1.0, values={"duration_s": 8.0})])))
    metrics = summed(record)["steps"][0]["metrics"]
    assert metrics["duration_s"]["values"] == [1.0]
    assert metrics["reported_duration_s"]["values"] == [8.0]


def test_defect_25_an_unknown_counter_is_null_and_not_zero() -> None:
    known = step(attempt([repetition(1.0, used={"host_disk_read_bytes": 4.0})]))
    unknown = step(attempt([repetition(1.0, used={"host_disk_read_bytes": None})]))
    metric = summed(run(1, unknown), run(2, known))["steps"][0]["metrics"]["host_disk_read_bytes"]
    assert metric["values"] == [None, 4.0]
    assert metric["n_runs"] == 1
    never = summed(run(1, unknown))["steps"][0]["metrics"]["host_disk_read_bytes"]
    assert never["statistics"]["n"] == 0
    assert never["statistics"]["median"] is None


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


def test_runs_of_different_cases_are_warned_about() -> None:
    document = summed(run(1, took(1.0)), run(2, took(1.0), hash="other"))
    assert "versions of the case" in document["warnings"][0]
    assert summed(run(1, took(1.0)), run(2, took(1.0)))["warnings"] == []


def test_defect_37_more_runs_replace_what_was_written(tmp_path: Path) -> None:
    first = placed(tmp_path, run(1, took(1.0)))
    write_summary(tmp_path, "c", first)
    write_summary(tmp_path, "c", first + placed(tmp_path, *(run(n, took(5.0)) for n in (2, 3))))
    assert read(tmp_path / "stats.csv")[0]["duration_values"] == "[1.0, 5.0, 5.0]"
    assert {row["run"] for row in read(tmp_path / "aggregated.csv")} == {"2"}
    assert json.loads((tmp_path / "summary.json").read_text())["n_runs"] == 3


def test_the_median_runs_curves_are_aggregated_whole(tmp_path: Path) -> None:
    write_summary(tmp_path, "c", placed(tmp_path, run(6, took(1.0), took(1.0, index=2))))
    curves = (tmp_path / "run_6" / "metrics.csv").read_text()
    assert (tmp_path / "aggregated.csv").read_text() == curves
