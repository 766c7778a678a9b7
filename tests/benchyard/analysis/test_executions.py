"""From tries to executions: what counts as one, and what as trouble."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from benchyard.analysis.executions import (
    NO_END,
    WHOLE_RUN,
    collect,
    collect_recent,
    executions,
    results_below,
)
from benchyard.core.model import Outcome
from benchyard.results.attempts import TriedStep, note_began, note_ended
from benchyard.results.record import ErrorRecord, RunRecord, write_record
from tests.benchyard.analysis.conftest import MakeTry, step

BEGAN = "2026-11-20T08:00:00.000000+00:00"


def test_step_that_fails_twice_and_then_works_recovered(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load", "first", "second"))])
    assert (one.step, one.attempts, one.recovered, one.in_trouble) == ("01-load", 3, True, True)
    assert one.first_error == ErrorRecord("E", "first")
    assert one.last_error == ErrorRecord("E", "second")
    assert not one.same_errors


def test_steps_that_never_began_because_of_others_are_no_executions(make_try: MakeTry) -> None:
    skipped = TriedStep(2, "ask", "ask", Outcome.SKIPPED, reason="a step that it needs failed")
    cancelled = TriedStep(3, "end", "end", Outcome.CANCELLED)
    failed = step("load", "no", outcome=Outcome.FAILED)
    found = list(executions([make_try(failed, skipped, cancelled, outcome=Outcome.FAILED)]))
    assert [one.step for one in found] == ["01-load"]


def test_step_that_was_started_and_never_began_is_trouble(make_try: MakeTry) -> None:
    lost = TriedStep(2, "ask", "ask", Outcome.FAILED, reason="it never began")
    (one,) = executions([make_try(lost, outcome=Outcome.FAILED)])
    assert (one.attempts, one.duration_s, one.in_trouble) == (0, None, True)
    assert one.last_error == ErrorRecord("", "it never began")


def test_run_that_broke_off_before_its_steps_is_told(make_try: MakeTry) -> None:
    error = ErrorRecord("ResourceError", "no such image")
    (one,) = executions([make_try(outcome=Outcome.FAILED, error=error)])
    assert (one.step, one.outcome, one.last_error) == (WHOLE_RUN, Outcome.FAILED, error)


def test_error_of_a_run_that_is_a_steps_is_told_once(make_try: MakeTry) -> None:
    broken = step("load", "no", outcome=Outcome.FAILED)
    tried = make_try(broken, outcome=Outcome.FAILED, error=ErrorRecord("E", "no"))
    assert [one.step for one in executions([tried])] == ["01-load"]


def test_try_without_an_end_was_killed(make_try: MakeTry) -> None:
    (one,) = executions([make_try(outcome=None, ended_at=None, duration_s=None)])
    assert (one.step, one.outcome, one.in_trouble) == (WHOLE_RUN, None, True)
    assert one.last_error == ErrorRecord("", NO_END)


def record(run: int = 1, began: str = BEGAN) -> RunRecord:
    return RunRecord({"title": "words"}, run, Outcome.COMPLETED, began, began, 1.0, ())


def done(results: Path, made: RunRecord) -> Path:
    folder = results / f"run_{made.run}"
    folder.mkdir(parents=True)
    write_record(folder, made)
    (folder / ".done").write_text("2026-11-20T08:00:01+00:00\n")
    return folder


def test_run_that_is_noted_and_recorded_is_one_try(tmp_path: Path) -> None:
    done(tmp_path, record())
    note_ended(tmp_path, record())
    assert len(collect([tmp_path]).tries) == 1


def test_run_from_before_notes_were_made_counts(tmp_path: Path) -> None:
    done(tmp_path, record())
    note_ended(tmp_path, record(2, "2026-11-21T08:00:00+00:00"))
    assert [one.run for one in collect([tmp_path]).tries] == [1, 2]


def test_run_whose_end_could_not_be_noted_is_told_by_its_record(tmp_path: Path) -> None:
    note_began(tmp_path, "words", 1, BEGAN, {})
    done(tmp_path, record())
    (one,) = collect([tmp_path]).tries
    assert one.outcome is Outcome.COMPLETED


def test_failed_run_without_a_checkpoint_counts(tmp_path: Path) -> None:
    (done(tmp_path, replace(record(), outcome=Outcome.FAILED)) / ".done").unlink()
    assert len(collect([tmp_path]).tries) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "x", "version": 1}'])
def test_damaged_record_is_named_and_the_rest_counts(tmp_path: Path, content: str) -> None:
    (done(tmp_path, record()) / "run.json").write_text(content)
    done(tmp_path, record(2))
    found = collect([tmp_path])
    assert [one.run for one in found.tries] == [2]
    assert len(found.problems) == 1
    assert "run_1" in found.problems[0]


def test_runs_of_krown_tell_of_no_attempts_and_are_no_problem(tmp_path: Path) -> None:
    folder = tmp_path / "run_1"
    folder.mkdir()
    (folder / ".done").write_text("2023-10-10 10:10:10.101010\n")
    assert collect([tmp_path]).tries == ()


def test_results_of_points_are_found_below(tmp_path: Path) -> None:
    done(tmp_path / "scale=1", record())
    (tmp_path / "scale=2").mkdir()
    note_began(tmp_path / "scale=2", "words", 1, BEGAN, {})
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in results_below(tmp_path)] == ["scale=1", "scale=2"]
    assert results_below(tmp_path / "nowhere") == []


def test_of_recent_tries_only_what_began_since_is_read(tmp_path: Path) -> None:
    older, newer = record(), record(2, "2026-11-21T09:00:00+01:00")
    for one in (older, newer):
        done(tmp_path, one)
        note_ended(tmp_path, one)
    (tmp_path / "run_1" / "run.json").write_text("{")
    since = datetime.fromisoformat("2026-11-21T08:00:00+00:00")
    asked: list[set[int]] = []

    def others(known: set[int]) -> list[int]:
        asked.append(known)
        return [3]

    found = collect_recent(tmp_path, since, 1, others)
    assert ([one.run for one in found.tries], found.problems, asked) == ([2], (), [])
    done(tmp_path, record(3, "2026-11-22T08:00:00+00:00"))
    found = collect_recent(tmp_path, since, 2, others)
    assert ([one.run for one in found.tries], asked) == ([2, 3], [{2}])


def test_a_title_that_looks_like_a_time_does_not_hide_a_try(tmp_path: Path) -> None:
    title = '","started_at":"2020-01-01T00:00:00+00:00"'
    note_ended(tmp_path, replace(record(), case={"title": title}))
    since = datetime.fromisoformat(BEGAN)
    assert len(collect_recent(tmp_path, since, 1, lambda _: ()).tries) == 1
