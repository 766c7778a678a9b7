"""The tidy form: which rows there are, and which of them count."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import Json, Outcome
from benchyard.results.record import StepRecord
from benchyard.results.trust import Suspect
from benchyard.show.export.columns import Cell
from benchyard.show.export.tidy import Choice, Tally, tidy
from tests.benchyard.show.export.conftest import (
    FAILED,
    WriteRun,
    attempt,
    repetition,
    sources,
    step,
    took,
)

Row = dict[str, Cell]


def read(results: Path, *metrics: str, tally: Tally | None = None, **choice: Any) -> list[Row]:
    rows = tidy(sources(results), Choice(metrics, **choice), tally or Tally())
    names = [column.name for column in rows.columns]
    return [dict(zip(names, cells, strict=True)) for cells in rows.read()]


def told(rows: Sequence[Row], *names: str) -> list[tuple[Cell, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_a_row_has_all_that_is_known_of_a_number(write_run: WriteRun) -> None:
    made = repetition(1.5, used={"resource_cpu_s": 0.5, "host_unknown_s": None})
    results = write_run(3, step(attempt(made)), point={"threads": 2})

    first, second = read(results)

    assert len(str(first["subject"])) == 12
    what = {"case": "case", "threads": 2, "campaign": None, "run": 3}
    where = {"step": 1, "step_id": "s1", "step_name": "sort", "attempt": 1, "repetition": 1}
    number = {"metric": "duration_s", "value": 1.5, "unit": "s", "direction": "smaller is better"}
    trust = {"left_out": None, "suspect": False, "suspect_reasons": None, "host_quality": "quiet"}
    when = {"began": "2026-01-01T00:00:00.000000Z", "source": "clock", "outcome": "completed"}
    of_what = {"versions": "Process 1.2", "commit": None, "dirty": None}
    by = {"subject": first["subject"], "host": "bench-1", "benchyard": "0.1.0"}
    assert first == {**what, **where, **number, **trust, **when, **of_what, **by}
    assert (second["metric"], second["value"]) == ("resource_cpu_s", 0.5)


def _retried() -> StepRecord:
    return step(
        attempt(repetition(9.0, outcome=FAILED), outcome=FAILED),
        attempt(repetition(2.0, "warmup"), repetition(1.0), number=2),
    )


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (_retried(), [(1, 1, 9.0, "failed"), (2, 1, 2.0, "warmup"), (2, 2, 1.0, None)]),
        (took(1.0, suspect=["steal", "swap"]), [(1, 1, 1.0, "suspect")]),
        (step(attempt(repetition(1.0)), measure=False), [(1, 1, 1.0, "set_up")]),
        (step(outcome=Outcome.SKIPPED), [(None, None, None, "skipped")]),
        (
            step(attempt(repetition(1.0), outcome=FAILED), outcome=Outcome.TOLERATED),
            [(1, 1, 1.0, "tolerated")],
        ),
    ],
)
def test_what_does_not_count_is_there_and_says_why(
    write_run: WriteRun, made: StepRecord, expected: list[tuple[Cell, ...]]
) -> None:
    rows = read(write_run(1, made), suspect=Suspect.LEAVE_OUT)
    assert told(rows, "attempt", "repetition", "value", "left_out") == expected


def test_runs_that_were_not_finished_and_those_of_another_subject_do_not_count(
    write_run: WriteRun,
) -> None:
    write_run(1, took(1.0), content="old")
    write_run(2, took(2.0), done=False)
    results = write_run(3, took(3.0))
    record = results / "run_3" / "run.json"
    record.write_text(record.read_text().replace("2026-01-01", "2026-01-02"))
    assert told(read(results), "run", "left_out") == [
        (1, "other_subject"),
        (2, "unfinished_run"),
        (3, None),
    ]


def test_only_what_counts_is_taken_on_demand_and_the_rest_is_told(write_run: WriteRun) -> None:
    write_run(1, took(1.0, suspect=["steal"]))
    results = write_run(2, _retried())
    tally = Tally()
    trusted = read(results, counted=True, suspect=Suspect.LEAVE_OUT, tally=tally)
    assert told(trusted, "run", "value") == [(2, 1.0)]
    assert (tally.executions, tally.left_out) == (4, {"suspect": 1, "failed": 1, "warmup": 1})
    every = read(results, counted=True)
    assert told(every, "run", "suspect", "suspect_reasons", "host_quality") == [
        (1, True, "steal", "suspect"),
        (2, False, None, "quiet"),
    ]


def test_suspect_executions_are_left_out_where_six_others_count(write_run: WriteRun) -> None:
    results = write_run(1, took(9.0, suspect=["steal"]))
    for number in range(2, 8):
        write_run(number, took(1.0))
    assert told(read(results, counted=True), "run", "left_out") == [(n, None) for n in range(2, 8)]
    assert told(read(results), "run", "left_out")[0] == (1, "suspect")


def test_what_a_command_reports_does_not_hide_what_the_lab_measures(write_run: WriteRun) -> None:
    made = repetition(1.0, values={"duration_s": 0.9, "rows": 5, "text": "x", "ok": True})
    found = told(read(write_run(1, step(attempt(made)))), "metric", "value", "source")
    assert found == [
        ("duration_s", 1.0, "clock"),
        ("reported_duration_s", 0.9, "command"),
        ("rows", 5, "command"),
    ]


def test_samples_belong_to_the_step_and_are_no_execution(write_run: WriteRun) -> None:
    levels: dict[str, Json] = {"samples": 2, "levels": {"memory_ram": {"min": 10, "max": 20}}}
    results = write_run(1, step(attempt(repetition(1.0)), sampled=levels))
    tally = Tally()
    rows = read(results, "*sampled*", tally=tally)
    assert told(rows, "metric", "value", "repetition") == [
        ("host_memory_sampled_min_bytes", 10, None),
        ("host_memory_sampled_max_bytes", 20, None),
    ]
    assert tally.executions == 1


def test_parameters_have_types_and_never_hide_a_column(write_run: WriteRun) -> None:
    write_run(1, took(1.0), name="a", point={"run": True, "Scale": 0.1, "size": 1})
    results = write_run(1, took(1.0), name="b", point={"scale": "big", "size": "all"})
    rows = tidy(sources(results.parents[1]), Choice(), Tally())
    parameters = [(column.name, column.kind.name) for column in rows.columns[1:5]]
    assert parameters == [
        ("matrix_run", "FLAG"),
        ("Scale", "NUMBER"),
        ("size", "TEXT"),
        ("matrix_scale", "TEXT"),
    ]
    assert [cells[1:5] for cells in rows.read()] == [
        (True, 0.1, "1", None),
        (None, None, "all", "big"),
    ]


def test_a_run_that_cannot_be_read_is_named(write_run: WriteRun, tmp_path: Path) -> None:
    results = write_run(1, took(1.0))
    (results / "run_1" / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"no run to export.*\n.*run_1/run.json: not a readable"):
        read(results)
    assert sources(tmp_path / "case" / "nothing") == []
