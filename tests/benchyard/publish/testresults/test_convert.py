"""Every made document is what protobuf's own library and TensorFlow's uploader read."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import RecordError
from benchyard.core.model import JsonObject, Outcome
from benchyard.publish.testresults import document_of, file_name, parse, text_of
from benchyard.publish.testresults.convert import machine_of
from benchyard.results.record import RunRecord, StepRecord, read_record
from tests.benchyard.publish.testresults.conftest import WHEN, Make, Schema
from tests.here import runner

CHECKOUT = Path(__file__).resolve().parents[4]


def made(record: RunRecord) -> Any:
    return document_of(record)


def entry_of(step: StepRecord, make: Make) -> Any:
    (entry,) = made(make.record(step))["entries"]["entry"]
    return entry


def uploaded(text: str) -> list[tuple[str, float]]:
    """Access a document as TensorFlow's upload_test_benchmarks.py does."""
    test_result = json.loads(text)
    assert str(test_result["name"])
    assert float(test_result["startTime"]) > 0
    found = test_result["entries"].get("entry", [])
    return [(str(ent["name"]), ent["wallTime"]) for ent in found]


def assert_is_published_well(record: RunRecord, schema: Schema) -> None:
    """Hold a run's document against all that reads it."""
    text = text_of(record)
    known = schema.parse(text)
    again = parse(schema.print(known).encode())
    found = parse(text.encode())
    assert again.identity == found.identity
    assert [(e.name, e.wall_time) for e in found.entries] == uploaded(text)
    assert all(type(wall_time) is float for _, wall_time in uploaded(text))
    assert text == text_of(record)
    assert found.info == found.text == text
    assert "envVars" not in text
    assert "tfVersion" not in text


def rich(make: Make) -> RunRecord:
    """A run with everything that can happen to a step."""
    used = {"resource_cpu_s": 0.2, "resource_memory_peak_bytes": None, "host_x_count": 2}
    repeated = make.step(
        make.repetition(9.0, kind="warmup"),
        make.repetition(0.3, used),
        make.repetition(0.1, used | {"resource_memory_peak_bytes": 4096}),
        make.repetition(0.2, used | {"resource_cpu_s": 0.4}),
        name="repeated",
    )
    doubtful = make.step(make.repetition(0.0, {}, {}, ["CPU was stolen", "swap"]), name="doubtful")
    broken = [
        make.step(make.repetition(1.0), name=outcome.value, outcome=outcome)
        for outcome in Outcome
        if outcome is not Outcome.COMPLETED
    ]
    prepared = make.step(make.repetition(1.0), name="prepared", measure=False)
    return make.record(prepared, repeated, doubtful, *broken)


def test_a_whole_document(make: Make) -> None:
    used = {"resource_cpu_s": 0.25, "resource_memory_peak_bytes": 4096, "resource_x_count": None}
    step = make.step(make.repetition(0.5, used, {"rows": 7, "digest": "abc", "sorted": True}))
    document = made(make.record(step))
    [entry] = document.pop("entries")["entry"]
    extras = [list(entry["extras"][name].values()) for name in ("unit", "statistic", "step", "run")]
    assert extras == [["s/iteration"], ["median"], ["Do ask"], [3.0]]
    metrics = {each["name"]: each["value"] for each in entry["metrics"]}
    assert metrics == {"resource_cpu_s": 0.25, "resource_memory_peak_bytes": 4096.0, "rows": 7.0}
    times = [entry[name] for name in ("name", "iters", "wallTime", "cpuTime")]
    assert times == ["ask", "1", 0.5, 0.25]
    machine = document.pop("machineConfiguration")
    cpu = machine.pop("cpuInfo")
    assert (cpu["numCores"], cpu["numCoresAllowed"], cpu["mhzPerCpu"]) == ("16", "5", 2450.0)
    assert cpu["cacheSize"] == {"L2": "524288", "L3": "33554432"}
    assert machine == {
        "hostname": "bench-01",
        "platformInfo": {"machine": "x86_64", "release": "6.1.0-18-amd64", "system": "Linux"},
        "memoryInfo": {"total": "135077429248"},
    }
    arguments = set(document.pop("runConfiguration")["argument"])
    assert {"--matrix.scale=0.01", "--interval-s=0.1", f"--started-at={WHEN}"} <= arguments
    assert document == {
        "name": "tpch[scale=0.01]",
        "target": "urn:test:tpch",
        "startTime": "1795289400",
        "runTime": 2.5,
        "benchmarkType": "UNKNOWN",
        "commitId": {"hash": "9f1c3a5be0d24e7c8a61f0d2b7c4e5a6978012ab"},
    }


def test_made_documents_are_read_by_protobuf_and_by_the_uploader(
    make: Make, schema: Schema
) -> None:
    assert_is_published_well(rich(make), schema)
    assert_is_published_well(make.record(), schema)
    bare: dict[str, Any] = {"environment": {}, "case": {}, "collector": {}, "benchyard_version": ""}
    assert_is_published_well(make.record(make.step(make.repetition(1)), **bare), schema)


def test_the_time_of_a_step_is_the_median_of_its_measured_repetitions(make: Make) -> None:
    entry, doubtful = made(rich(make))["entries"]["entry"]
    assert doubtful["extras"]["suspect"] == {"stringValue": "CPU was stolen; swap"}
    assert entry["iters"] == "3"
    assert entry["wallTime"] == 0.2
    assert entry["cpuTime"] == 0.2
    assert entry["extras"]["wall_time_min_s"] == {"doubleValue": 0.1}
    assert entry["extras"]["wall_time_max_s"] == {"doubleValue": 0.3}
    assert {"name": "resource_memory_peak_bytes", "value": 4096.0} in entry["metrics"]
    assert not any("minValue" in metric or "maxValue" in metric for metric in entry["metrics"])


def test_a_time_of_zero_is_there_and_unknown_cpu_time_is_not(make: Make) -> None:
    entry = entry_of(make.step(make.repetition(0.0, {"resource_cpu_s": None})), make)
    assert entry["wallTime"] == 0.0
    assert "cpuTime" not in entry
    assert "metrics" not in entry
    idle = entry_of(make.step(make.repetition(0.5, {"resource_cpu_s": 0})), make)
    assert idle["cpuTime"] == 0.0


def test_steps_without_a_time_are_no_entries_and_are_named(make: Make) -> None:
    document = made(rich(make))
    assert [entry["name"] for entry in document["entries"]["entry"]] == ["repeated", "doubtful"]
    told = [a for a in document["runConfiguration"]["argument"] if a.startswith("--step.")]
    assert told == [
        f"--step.{outcome}={outcome}"
        for outcome in ("failed", "tolerated", "timed_out", "skipped", "cancelled")
    ]


def test_what_a_command_reports_hides_no_metric_and_is_a_finite_number(make: Make) -> None:
    told = {"huge": 10**400, "endless": math.inf, "none": math.nan, "rows": 10**18, "cpu_s": 2}
    entry = entry_of(make.step(make.repetition(0.5, {"cpu_s": 1.0}, told)), make)
    metrics = {each["name"]: each["value"] for each in entry["metrics"]}
    assert metrics == {"cpu_s": 1.0, "reported_cpu_s": 2.0, "rows": 1e18}


def test_names_that_are_no_unicode_can_be_read(make: Make, schema: Schema) -> None:
    case = {"title": "caf\udce9", "id": "x"}
    record = make.record(make.step(make.repetition(0.5), name="a\udce9"), case=case)
    assert_is_published_well(record, schema)
    assert parse(text_of(record).encode()).test == "caf\\udce9"


def test_nothing_secret_gets_in(make: Make) -> None:
    step = make.step(make.repetition(0.5, {}, {"answer": "in-a-value"}), reason="in-a-reason")
    more: dict[str, Any] = {
        "resources": {"SQLite": {"settings": {"environment": {"PASSWORD": "in-a-setting"}}}},
        "warnings": ("in-a-warning",),
        "flow_run": {"name": "in-a-flow-run"},
    }
    text = text_of(make.record(step, **more))
    assert "in-a-" not in text
    assert "/home/somebody" not in text


@pytest.mark.parametrize("when", ["", "yesterday", "2026-11-21T19:30:00", "0001-01-01T00:00:00Z"])
def test_a_run_that_does_not_say_when_it_started_cannot_be_published(make: Make, when: str) -> None:
    with pytest.raises(RecordError, match=r"run 3 of tpch\[scale=0.01\] does not say when"):
        text_of(make.record(started_at=when))


@pytest.mark.parametrize(
    ("case", "test"),
    [
        ({"title": "t[a=1]", "name": "t", "id": "i"}, "t[a=1]"),
        ({"name": "t", "id": "i"}, "t"),
        ({"title": "", "id": "i"}, "i"),
        ({"title": 7}, "case"),
    ],
)
def test_the_name_is_the_best_that_the_record_knows(
    make: Make, case: Mapping[str, Any], test: str
) -> None:
    assert made(make.record(case=case))["name"] == test


DIFFERENT: list[dict[str, Any]] = [
    {"run": 4},
    {"started_at": "2026-11-21T19:30:00.123457+00:00"},
    {"case": {"title": "tpch[scale=0.01]", "hash": "sha256:1"}},
    {"environment": {"host": "bench-02"}},
    {"outcome": Outcome.FAILED},
]


def test_two_runs_never_share_an_identity_or_a_file(make: Make) -> None:
    step = make.step(make.repetition(0.5))
    records = [make.record(step), *(make.record(step, **more) for more in DIFFERENT)]
    found = [parse(text_of(record).encode()) for record in records]
    assert len({document.identity for document in found}) == len(records)
    assert len({entry.identity for document in found for entry in document.entries}) == len(records)
    assert len({file_name(document) for document in found}) == len(records)


@given(st.text(min_size=1), st.integers(0, 253_402_300_799))
def test_a_files_name_is_safe_whatever_the_test_is_called(test: str, start: int) -> None:
    told: dict[str, Any] = {"name": test, "startTime": start, "entries": {}}
    name = file_name(parse(json.dumps(told).encode()))
    assert re.fullmatch(r"[0-9][!-.0-~]{0,94}\.json", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failures", "graph", "matrix", "measuring", "secrets"])
def test_real_runs_are_published_well(
    name: str,
    schema: Schema,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BENCHYARD_EXAMPLE_PASSWORD", "hunter2-hunter2")
    case = CHECKOUT / "cases" / "examples" / name
    options = ["--direct", "--runs", "1", "--cooldown", "0", "--results", str(tmp_path / "r")]
    ended = runner(capsys, monkeypatch, tmp_path)("run", case, *options)
    assert ended.returncode == 0, ended.stderr
    folders = [path.parent for path in (tmp_path / "r").rglob("run.json")]
    assert folders
    for folder in folders:
        record = read_record(folder)
        assert_is_published_well(record, schema)
        wanted = [step.id for step in record.steps if step.measure and step.measured]
        assert [name for name, _ in uploaded(text_of(record))] == wanted
        assert "hunter2" not in text_of(record)


SUBJECT: JsonObject = {
    "digest": "sha256:" + "5" * 64,
    "host": "bench-01",
    "versions": {"SQLite": {"version": "3.45.1", "image": None}},
    "repositories": {
        "package none": {"commit": None, "changes": "none"},
        "package words": {"commit": "b" * 40, "changes": "sha256:" + "d" * 64},
        "program sort": {"commit": "e" * 40, "changes": "none"},
    },
}


def test_what_was_measured_is_told(make: Make, schema: Schema) -> None:
    record = make.record(make.step(make.repetition(0.5)), subject=SUBJECT)
    assert_is_published_well(record, schema)
    found = parse(text_of(record).encode())
    assert json.loads(found.arguments["subject"]) == SUBJECT
    assert found.body["commitId"] == {"hash": "b" * 40, "snapshot": "sha256:" + "d" * 64}


def test_which_commit_is_told(make: Make) -> None:
    """Without a repository it is the case's; one without changes has no snapshot."""
    states: JsonObject = {"program sort": {"commit": "e" * 40, "changes": "none"}}
    case = {"hash": "9f1c3a5be0d24e7c8a61f0d2b7c4e5a6978012ab"}
    told: list[tuple[JsonObject, dict[str, str]]] = [
        ({"repositories": states}, {"hash": "e" * 40}),
        *(({}, case), ({"repositories": {}}, case), ({"repositories": None}, case)),
    ]
    for subject, commit in told:
        assert made(make.record(subject=subject))["commitId"] == commit


def test_an_older_record_makes_the_same_bytes_as_ever(make: Make) -> None:
    """Else runs that are published already would be published once more, under another name."""
    text = text_of(make.record(make.step(make.repetition(0.5))))
    assert file_name(parse(text.encode())) == "20261121T193000Z-tpch-scale=0.01-241766c16bb3.json"
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8f3958345fac502f"


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"host": 1, "cpu": "fast", "memory_bytes": True, "kernel": [], "architecture": {}},
        {"cpu": {"affinity": "all", "governor": None, "cache_bytes": {"L2": None}}},
        {"cpu": {"affinity": "", "logical_cores": "two", "frequency_max_hz": "3 GHz"}},
    ],
)
def test_what_is_not_known_is_absent(environment: Any) -> None:
    assert machine_of(environment) == {}
    platform = {"machine": "arm64", "system": "Darwin"}
    strange = {**environment, "kernel": "Darwin", "architecture": "arm64"}
    assert machine_of(strange) == {"platformInfo": platform}
