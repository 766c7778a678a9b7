"""Collecting: notes first, records where there are none, damage named."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from benchyard.analysis.failures import collect
from benchyard.analysis.failures.collecting import results_below
from benchyard.core.model import Outcome
from benchyard.results.attempts import TRIES_FILE, note_began, note_ended
from benchyard.results.record import RunRecord, write_record

BEGAN = "2026-11-20T08:00:00.000000+00:00"


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


def test_damaged_note_is_named(tmp_path: Path) -> None:
    (tmp_path / TRIES_FILE).write_text("{\n")
    assert len(collect([tmp_path]).problems) == 1


def test_runs_of_krown_tell_of_no_attempts_and_are_no_problem(tmp_path: Path) -> None:
    folder = tmp_path / "run_1"
    folder.mkdir()
    (folder / ".done").write_text("2023-10-10 10:10:10.101010\n")
    assert collect([tmp_path]).tries == ()


def test_since_leaves_out_what_began_before(tmp_path: Path) -> None:
    done(tmp_path, record())
    found = collect([tmp_path])
    moment = datetime.fromisoformat(BEGAN)
    assert len(found.since(moment).tries) == 1
    assert found.since(moment + timedelta(seconds=1)).tries == ()
    assert found.since(None) is found


def test_results_of_points_are_found_below(tmp_path: Path) -> None:
    done(tmp_path / "scale=1", record())
    (tmp_path / "scale=2").mkdir()
    note_began(tmp_path / "scale=2", "words", 1, BEGAN, {})
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in results_below(tmp_path)] == ["scale=1", "scale=2"]
    assert results_below(tmp_path / "nowhere") == []
