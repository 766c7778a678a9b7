"""After a case its finished runs go to the sinks, once, through Prefect, directly, and later."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State

from benchyard.places import archive_of, spool_of
from benchyard.sinks import open_reader
from flows.execute_case import execute_case
from tests.conftest import MakeCase, RunBenchyard, process

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this lab a home of its own."""
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "lab"))
    return tmp_path / "lab"


def published(test: str) -> list[float]:
    reader = open_reader("local")
    try:
        return [timing.wall_time for timing in reader.timings(test, "work")]
    finally:
        reader.close()


def archived(sink: str = "local") -> list[Path]:
    return sorted(archive_of(sink).glob("*.json"))


@pytest.mark.usefixtures("prefect_server")
def test_a_flow_run_publishes_what_is_done(case_folder: MakeCase, tmp_path: Path) -> None:
    case = case_folder("published", process("work", "true"))
    options: dict[str, Any] = {"runs": 2, "cooldown": 0.0, "root": str(tmp_path)}

    for _ in range(2):  # the second one has nothing to do, and publishes nothing again
        state = cast("State[Any]", execute_case(str(case), **options, return_state=True))
        assert state.is_completed(), state.message
        assert len(published("published")) == len(archived()) == 2
    assert list(spool_of("local").glob("*.json")) == []


def test_none_publishes_nothing_and_a_later_command_all(
    case_folder: MakeCase, run_benchyard: RunBenchyard, lab: Path
) -> None:
    case = case_folder("later", process("work", "true"))
    command = ("run", case, "--runs", "2", "--cooldown", "0", "--direct")

    assert run_benchyard(*command, "--publish", "none").returncode == 0
    assert not lab.exists()

    assert run_benchyard(*command).returncode == 0
    assert len(published("later")) == len(archived()) == 2


def test_a_sink_that_lacks_something_is_told_before_measuring(
    case_folder: MakeCase, run_benchyard: RunBenchyard
) -> None:
    case = case_folder("early", process("work", "true"))
    for sinks in ("nowhere", "local,local", "local,", "azure-tables"):
        ended = run_benchyard("run", case, "--direct", "--publish", sinks)
        assert ended.returncode == 2, (sinks, ended.stderr)
        assert "Traceback" not in ended.stderr
        assert not (case / "results").exists()


def test_trouble_with_a_sink_is_told_and_fails_no_case(
    case_folder: MakeCase, run_benchyard: RunBenchyard, lab: Path
) -> None:
    spoil = f"mkdir -p '{lab}' && yes this is no database | head -c 9999 > '{lab}/results.sqlite'"
    case = case_folder("trouble", process("work", spoil))

    ended = run_benchyard("run", case, "--runs", "1", "--cooldown", "0", "--direct")

    assert ended.returncode == 0, ended.stderr
    assert "results.sqlite" in ended.stderr
    assert len(list(spool_of("local").glob("*.json"))) == 1


def test_a_secret_reaches_no_published_file(
    case_folder: MakeCase, run_benchyard: RunBenchyard, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_WORD", "xyzzy-plugh-4711")
    say = process("work", "test -n ${env:SECRET_WORD} && echo ${env:SECRET_WORD} >&2 && exit 3")
    case = case_folder("secret", {**say, "may_fail": True, "retries": 0}, process("next", "true"))

    ended = run_benchyard("run", case, "--runs", "1", "--cooldown", "0", "--direct", "-v")

    assert ended.returncode == 0, ended.stderr
    written = [path.read_bytes() for path in lab.rglob("*") if path.is_file()]
    assert written
    events = case / "results" / "run_1" / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    assert any(line["event"] == "benchyard:attempt-end" for line in lines)
    for content in (*written, events.read_bytes(), ended.stdout.encode(), ended.stderr.encode()):
        assert b"xyzzy" not in content
