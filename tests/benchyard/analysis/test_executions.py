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


NO = step("load", "no", outcome=Outcome.FAILED)
SKIPPED = TriedStep(2, "ask", "ask", Outcome.SKIPPED, reason="a step that it needs failed")
CANCELLED = TriedStep(3, "end", "end", Outcome.CANCELLED)
LOST = TriedStep(2, "ask", "ask", Outcome.FAILED, reason="it never began")
ERROR = ErrorRecord("ResourceError", "no such image")


@pytest.mark.parametrize(
    ("steps", "outcome", "error", "expected"),
    [
        ([NO, SKIPPED, CANCELLED], Outcome.FAILED, None, ("01-load", 1, ErrorRecord("E", "no"))),
        ([NO], Outcome.FAILED, ErrorRecord("E", "no"), ("01-load", 1, ErrorRecord("E", "no"))),
        ([LOST], Outcome.FAILED, None, ("02-ask", 0, ErrorRecord("", "it never began"))),
        ([], Outcome.FAILED, ERROR, (WHOLE_RUN, 0, ERROR)),
        ([], None, None, (WHOLE_RUN, 0, ErrorRecord("", NO_END))),
    ],
    ids=["of others", "told once", "never began", "broke off", "killed"],
)
def test_what_went_wrong_is_one_execution(
    make_try: MakeTry,
    steps: list[TriedStep],
    outcome: Outcome | None,
    error: ErrorRecord | None,
    expected: tuple[str, int, ErrorRecord],
) -> None:
    (one,) = executions([make_try(*steps, outcome=outcome, error=error)])
    assert (one.step, one.attempts, one.last_error) == expected
    assert (one.outcome, one.in_trouble) == (outcome, True)


def record(run: int = 1, began: str = BEGAN) -> RunRecord:
    return RunRecord({"title": "words"}, run, Outcome.COMPLETED, began, began, 1.0, ())


def done(results: Path, made: RunRecord) -> Path:
    folder = results / f"run_{made.run}"
    folder.mkdir(parents=True)
    write_record(folder, made)
    (folder / ".done").write_text("2026-11-20T08:00:01+00:00\n")
    return folder


def test_a_run_that_log_or_record_tell_of_is_one_try(tmp_path: Path) -> None:
    done(tmp_path, record())
    note_ended(tmp_path, record())
    note_ended(tmp_path, record(2, "2026-11-21T08:00:00+00:00"))
    note_began(tmp_path, "words", 3, BEGAN, {})
    done(tmp_path, record(3))
    (done(tmp_path, replace(record(4), outcome=Outcome.FAILED)) / ".done").unlink()
    found = {one.run: one.outcome for one in collect([tmp_path]).tries}
    completed = dict.fromkeys((1, 2, 3), Outcome.COMPLETED)
    assert found == {**completed, 4: Outcome.FAILED}
    assert len(collect([tmp_path]).tries) == 4


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
