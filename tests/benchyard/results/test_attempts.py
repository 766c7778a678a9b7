"""What was tried is written down, survives, and is read whatever else stands in the file."""

import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchyard.core.model import JsonObject, Outcome
from benchyard.process.labels import this_owner
from benchyard.results.attempts import (
    FailedAttempt,
    TriedStep,
    earlier,
    note_began,
    note_ended,
    read_tries,
    try_of,
)
from benchyard.results.folders import TRIES_FILE
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord
from tests.conftest import MakeCase, RunBenchyard, eventually, process

BEGAN = "2026-11-20T08:00:00.000000+03:00"
ENDED = "2026-11-20T08:00:09.000000+03:00"
FLOW_RUN: JsonObject = {"id": "5", "name": "bold-bat", "attempt": 2}
BOOM = ErrorRecord("CommandFailedError", "boom")


def attempt(number: int, outcome: Outcome, error: ErrorRecord | None = None) -> Attempt:
    return Attempt(number, BEGAN, number * 1.0, number + 0.5, outcome, (), error)


def step(*attempts: Attempt, outcome: Outcome = Outcome.COMPLETED) -> StepRecord:
    reason = None if attempts else "a step that it needs did not succeed"
    return StepRecord(3, "load", "Load it", "R", "c", {}, True, outcome, attempts, reason)


def record(*steps: StepRecord, outcome: Outcome = Outcome.COMPLETED, run: int = 1) -> RunRecord:
    return RunRecord(
        case={"title": "words", "tags": ["quick"]},
        run=run,
        outcome=outcome,
        started_at=BEGAN,
        ended_at=ENDED,
        duration_s=9.0,
        steps=steps,
        environment={"host": "quiet"},
        flow_run=FLOW_RUN,
    )


FLAKY = step(attempt(1, Outcome.FAILED, BOOM), attempt(2, Outcome.COMPLETED))


def test_try_tells_of_each_attempt_that_failed() -> None:
    tried = try_of(record(FLAKY))
    failed = FailedAttempt(1, BEGAN, 0.5, Outcome.FAILED, BOOM)
    load = TriedStep(3, "load", "Load it", Outcome.COMPLETED, 2, 1.5, (failed,))
    assert (tried.case, tried.run, tried.tags, tried.steps) == ("words", 1, ("quick",), (load,))
    assert tried.steps[0].label == "03-Load-it", "as its task run is named"


def test_long_texts_are_shortened() -> None:
    long = step(attempt(1, Outcome.FAILED, ErrorRecord("E", "x" * 5000)), outcome=Outcome.FAILED)
    message = try_of(record(long)).steps[0].failed[0].error.message
    assert len(message) == 1000
    assert message.endswith("x…")


def test_end_replaces_beginning(tmp_path: Path) -> None:
    note_began(tmp_path, "words", 1, BEGAN, {})
    (begun,) = read_tries(tmp_path)[0]
    assert (begun.outcome, begun.owner, begun.under_way) == (None, this_owner(), True)
    note_ended(tmp_path, record(FLAKY))
    assert read_tries(tmp_path) == ([try_of(record(FLAKY))], [])
    assert len((tmp_path / TRIES_FILE).read_text().splitlines()) == 2


def test_line_torn_off_by_a_power_cut_costs_only_itself(tmp_path: Path) -> None:
    note_ended(tmp_path, record(FLAKY))
    with (tmp_path / TRIES_FILE).open("a") as stream:
        stream.write('{"version":1,"case":"wor')
    note_ended(tmp_path, replace(record(FLAKY, run=2), started_at="2026-11-21T08:00:00+00:00"))
    tries, problems = read_tries(tmp_path)
    assert [one.run for one in tries] == [1, 2]
    assert len(problems) == 1
    assert "line 2" in problems[0]


def test_tries_are_in_the_order_of_their_beginnings(tmp_path: Path) -> None:
    later = replace(record(), started_at="2026-11-20T06:00:00+00:00", run=1)
    note_ended(tmp_path, later)
    note_ended(tmp_path, replace(record(), run=2))  # 08:00 in Moscow is 05:00 in London
    assert [one.run for one in read_tries(tmp_path)[0]] == [2, 1]


@pytest.mark.parametrize(
    "line",
    [
        *("[]", "{}", '{"version": 2}', "\x00\x01", "{" * 100_000, '{"version":1,"case":1}'),
        *({"run": -1}, {"started_at": "2026-11-20T08:00:00"}, {"started_at": "yesterday"}),
        *({"outcome": "great"}, {"steps": [None]}),
    ],
)
def test_hostile_lines_are_named_and_left_out(tmp_path: Path, line: str | JsonObject) -> None:
    file = tmp_path / TRIES_FILE
    note_ended(tmp_path, record(FLAKY))
    text = line if isinstance(line, str) else json.dumps(json.loads(file.read_text()) | line)
    file.write_text(f"{text}\n")
    note_ended(tmp_path, record(FLAKY))

    tries, [problem] = read_tries(tmp_path)

    assert len(tries) == 1
    assert "line 1" in problem


@given(st.binary(max_size=200))
def test_any_bytes_are_readable(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("tries")
    (folder / TRIES_FILE).write_bytes(content)
    tries, problems = read_tries(folder)
    assert tries == []
    assert len(problems) <= content.count(b"\n") + 1


@given(st.text(max_size=50), st.text(max_size=50))
@example("E", os.fsdecode(b"caf\xe9"))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, kind: str, message: str
) -> None:
    folder = tmp_path_factory.mktemp("tries")
    failed = step(attempt(1, Outcome.FAILED, ErrorRecord(kind, message)), outcome=Outcome.FAILED)
    note_ended(folder, record(failed, outcome=Outcome.FAILED))
    tries, problems = read_tries(folder)
    assert problems == []
    assert tries[0].steps[0].failed[0].error == ErrorRecord(kind, message)


def test_no_file_is_nothing_tried(tmp_path: Path) -> None:
    assert read_tries(tmp_path) == ([], [])
    assert read_tries(tmp_path / "nowhere") == ([], [])


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_what_is_no_file_is_named_and_ends_nothing(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / TRIES_FILE
    if kind == "link":
        place.symlink_to("/etc/hostname")
    else:
        place.mkdir() if kind == "folder" else os.mkfifo(place)

    with caplog.at_level(logging.WARNING):
        note_began(tmp_path, "words", 1, BEGAN, {})

    assert "could not be noted" in caplog.text
    tries, problems = read_tries(tmp_path)
    assert (tries, len(problems)) == ([], 1)


def test_full_disk_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_descriptor: int, line: bytes) -> int:
        return len(line) - 1

    monkeypatch.setattr("os.write", write)
    with caplog.at_level(logging.WARNING):
        note_ended(tmp_path, record(FLAKY))
    assert "No space left" in caplog.text


def test_tries_of_one_run_are_read_alone(tmp_path: Path) -> None:
    for run in (1, 11, 2):
        note_ended(tmp_path, record(FLAKY, run=run))
    assert [one.run for one in read_tries(tmp_path, run=1)[0]] == [1]


@pytest.mark.slow
def test_run_that_was_killed_has_a_beginning_and_no_end(case_folder: MakeCase) -> None:
    case = case_folder("words", process("long", "sleep 60"))
    program = Path(sys.executable).with_name("benchyard")
    options = ("--direct", "--runs", "1", "--cooldown", "0", "--root", str(case))
    silent = subprocess.DEVNULL
    words = [program, "run", str(case), *options]
    lab = subprocess.Popen(words, stdin=silent, stdout=silent, stderr=silent)
    try:
        assert eventually(lambda: read_tries(case / "results")[0], 60)
        assert read_tries(case / "results")[0][0].under_way
    finally:
        lab.kill()
        lab.wait()
    (killed,) = read_tries(case / "results")[0]
    assert (killed.outcome, killed.under_way) == (None, False)


def test_record_tells_of_earlier_tries_of_its_run() -> None:
    first = try_of(record(FLAKY))
    other = replace(first, run=2)
    now = replace(first, started_at="2026-11-21T08:00:00+00:00")
    told = {"started_at": BEGAN, "ended_at": ENDED, "host": "quiet", "outcome": "completed"}
    assert earlier([first, other, now], 1, now.started_at) == ({**told, "flow_run": FLOW_RUN},)


@pytest.mark.slow
def test_what_failed_before_outlives_the_run_that_was_done_again(
    case_folder: MakeCase, run_benchyard: RunBenchyard, tmp_path: Path
) -> None:
    """A step fails in the first try of the run; the second try completes."""
    flag = tmp_path / "fixed"
    case = case_folder("words", process("load", f"[ -e {flag} ] || {{ echo broken >&2; exit 3; }}"))
    arguments = ("run", case, "--direct", "--runs", "1", "--cooldown", "0")
    assert run_benchyard(*arguments).returncode == 1
    flag.touch()
    assert run_benchyard(*arguments).returncode == 0
    tries, problems = read_tries(case / "results")
    assert problems == []
    assert [one.outcome for one in tries] == [Outcome.FAILED, Outcome.COMPLETED]
    assert "broken" in tries[0].steps[0].failed[0].error.message
    document = json.loads((case / "results" / "run_1" / "run.json").read_text())
    assert [one["started_at"] for one in document["tries"]] == [tries[0].started_at]
