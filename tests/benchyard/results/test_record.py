"""The record reads back what it wrote, and is what its schema says."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from benchyard import schemas
from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.results.excerpt import read_excerpt
from benchyard.results.record import (
    FORMAT,
    Attempt,
    ErrorRecord,
    PhaseRecord,
    Repetition,
    RunRecord,
    StepRecord,
    read_record,
    write_record,
)

ERROR = ErrorRecord("CommandFailedError", "exit code 3")
DIGEST = "0" * 64


def record() -> RunRecord:
    fine = Repetition(
        "measured",
        0.1,
        0.25,
        Outcome.COMPLETED,
        {"x_s": 1.5, "y": None},
        {"rows": 2},
        started_at="2026-01-01T00:00:01+00:00",
        ended_at="2026-01-01T00:00:02+00:00",
        harness={"flow_cpu_s": 0.01, "server_cpu_s": None},
        suspect=("CPU was stolen",),
    )
    wrong = Repetition("measured", 0.1, 0.25, Outcome.FAILED, error=ERROR)
    attempts = (
        Attempt(1, "2026-01-01T00:00:00+00:00", 0.0, 0.3, Outcome.FAILED, (wrong,), ERROR),
        Attempt(2, "2026-01-01T00:00:01+00:00", 0.4, 0.8, Outcome.COMPLETED, (fine,)),
    )
    step = StepRecord(
        1, "s1", "Load", "SQLite", "load", {"table": "t"}, True, Outcome.COMPLETED, attempts
    )
    skipped = StepRecord(2, "s2", "Ask", "SQLite", "ask", {}, True, Outcome.SKIPPED, reason="no")
    phase = PhaseRecord("start", "SQLite", 1, 0.0, 0.02, Outcome.COMPLETED)
    return RunRecord(
        case={"name": "c", "title": "c", "id": "i", "point": {}, "hash": "h", "folder": "f"},
        run=1,
        outcome=Outcome.FAILED,
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:01+00:00",
        duration_s=1.0,
        steps=(step, skipped),
        phases=(phase,),
        resources={"SQLite": {"version": "3", "settings": {}}},
        outputs=({"path": "sqlite/a.csv", "bytes": 3, "sha256": DIGEST},),
        changed_inputs=("data.csv",),
        warnings=("careful",),
        error=ERROR,
        benchyard_version="0",
        preflight=({"check": "swap", "status": "ok"},),
        adaptive={"until": 0.01},
    )


def test_reads_back_what_it_wrote(tmp_path: Path) -> None:
    write_record(tmp_path, record())
    assert read_record(tmp_path) == record()


def test_document_is_valid() -> None:
    errors = cast("Any", Draft202012Validator(schemas.load("run"))).iter_errors(record().to_json())
    assert [error.message for error in errors] == []


def test_only_the_measured_repetitions_of_the_last_attempt_count() -> None:
    assert record().steps[0].durations_s == [0.25]
    assert record().steps[1].durations_s == []


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", *(f'{{"format": "{name}", "version": 3}}' for name in ("other", FORMAT))],
)
def test_damage_is_one_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RecordError, match=r"run\.json"):
        read_record(tmp_path)


def test_a_record_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "run.json").open("wb") as file:
        file.truncate(150_000_000)
    for read in (read_record, read_excerpt):
        with pytest.raises(RecordError, match="not a readable record: has more than 67,108,864"):
            read(tmp_path)


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        write_record(
            tmp_path, RunRecord({"v": float("nan")}, 1, Outcome.COMPLETED, "", "", 0.0, ())
        )
    assert not (tmp_path / "run.json").exists()


def test_reads_a_record_of_version_1(tmp_path: Path) -> None:
    document = cast("Any", record().to_json())
    document["version"] = 1
    for name in ("preflight", "adaptive"):
        del document[name]
    for step in document["steps"]:
        del step["sampled"]
        for made in (r for attempt in step["attempts"] for r in attempt["repetitions"]):
            for name in ("started_at", "ended_at", "harness", "suspect"):
                del made[name]
    for phase in document["phases"]:
        for name in ("started_at", "ended_at", "harness"):
            del phase[name]
    (tmp_path / "run.json").write_text(json.dumps(document))
    read = read_record(tmp_path)
    assert read.steps[0].durations_s == [0.25]
    assert read.steps[0].suspect == ()
    assert read.steps[0].sampled == {}
    assert read.preflight == ()


def test_step_is_suspect_for_each_reason_once() -> None:
    assert record().steps[0].suspect == ("CPU was stolen",)
    assert record().steps[1].suspect == ()


MOMENT = '"started_at": "2026-01-01T00:00:00+00:00", "ended_at"'


@pytest.mark.parametrize(
    ("change", "made", "why"),
    [
        ('"index": 1', '"index": "1"', "got 'str' - at '$.steps[0].index'"),
        ('"x_s": 1.5', '"x_s": "much"', "at '$.steps[0].attempts[1].repetitions[0].used[...]'"),
        ('"case": {', '"cause": {', "missing required field 'case'"),
        ('"measure": true, ', "", "missing required field 'measure' - at '$.steps[0]'"),
        ('"duration_s": 0.25', '"duration_s": -5.0', ""),
        ('"duration_s": 0.25', '"duration_s": NaN', ""),
        ('"duration_s": 0.25', '"duration_s": "5"', ""),
        ('"duration_s": 0.25', '"duration_s": 1e308', ""),
        ('"duration_s": 0.25', f'"duration_s": 1{"0" * 400}', ""),
        ('"x_s": 1.5', '"x_s": Infinity', ""),
        ('"x_s": 1.5', '"x_s": true', ""),
        ('"used": {}', '"used": null', ""),
        ('"run": 1', '"run": 99', ""),
        ('"warnings": [', '"warnings": "careful", "versions": [', ""),
        ('"error": null', '"error": "bad"', ""),
        (MOMENT, '"started_at": "soon", "ended_at"', ""),
        (f'{MOMENT}: "', f'{MOMENT}: "on ', "Invalid isoformat string: 'on "),
        (MOMENT, MOMENT.replace("+00:00", ""), ""),
        ('"collector": {}', '"collector": []', ""),
        ('"environment": {}', '"environment": 7', ""),
        ('"values": {}', '"values": "x"', ""),
        ('"sampled": {}', '"sampled": null', ""),
        ('"adaptive": {', '"deep": ' + "[" * 100_000 + ', "adaptive": {', ""),
    ],
)
def test_absurd_members_are_no_readable_record_and_named(
    tmp_path: Path, change: str, made: str, why: str
) -> None:
    folder = tmp_path / "run_1"
    folder.mkdir()
    text = json.dumps(record().to_json())
    assert change in text
    (folder / "run.json").write_text(text.replace(change, made))
    with pytest.raises(RecordError, match=r"run_1/run\.json: not a readable record: .+") as told:
        read_record(folder)
    assert why in str(told.value)
