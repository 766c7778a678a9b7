"""After a case its finished runs go to the sinks, once, through Prefect, directly, and later."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.places import archive_of, spool_of
from benchyard.publish.sinks import open_reader
from flows.execute_case import execute_case
from tests.conftest import MakeCase, process
from tests.here import RunHere

pytestmark = pytest.mark.slow


def published(test: str) -> list[float]:
    reader = open_reader("local")
    try:
        return [timing.value for timing in reader.timings(test, "work")]
    finally:
        reader.close()


def archived(sink: str = "local") -> list[Path]:
    return sorted(archive_of(sink).glob("*.json"))


@pytest.mark.usefixtures("prefect_server")
def test_a_flow_run_publishes_what_is_done(case_folder: MakeCase, tmp_path: Path) -> None:
    case = case_folder("published", process("work", "true"))
    options: dict[str, Any] = {"runs": 2, "cooldown": 0.0, "root": str(tmp_path)}

    for _ in range(2):  # the second one has nothing to do, and publishes nothing again
        state = execute_case(str(case), **options, return_state=True)
        assert state.is_completed(), state.message
        assert len(published("published")) == len(archived()) == 2
    assert list(spool_of("local").glob("*.json")) == []


def test_none_publishes_nothing_and_a_later_command_all(
    case_folder: MakeCase, run_here: RunHere, home: Path
) -> None:
    case = case_folder("later", process("work", "true"))
    command = ("run", case, "--runs", "2", "--cooldown", "0", "--direct")

    assert run_here(*command, "--publish", "none").returncode == 0
    assert not home.exists()

    assert run_here(*command).returncode == 0
    assert len(published("later")) == len(archived()) == 2


def test_a_sink_that_lacks_something_is_told_before_measuring(
    case_folder: MakeCase, run_here: RunHere
) -> None:
    case = case_folder("early", process("work", "true"))
    for sinks in ("nowhere", "local,local", "local,", "azure-tables"):
        ended = run_here("run", case, "--direct", "--publish", sinks)
        assert ended.returncode == 2, (sinks, ended.stderr)
        assert "Traceback" not in ended.stderr
        assert not (case / "results").exists()


def test_trouble_with_a_sink_is_told_and_fails_no_case(
    case_folder: MakeCase, run_here: RunHere, home: Path
) -> None:
    spoil = f"mkdir -p '{home}' && yes this is no database | head -c 9999 > '{home}/results.sqlite'"
    case = case_folder("trouble", process("work", spoil))

    ended = run_here("run", case, "--runs", "1", "--cooldown", "0", "--direct")

    assert ended.returncode == 0, ended.stderr
    assert "results.sqlite" in ended.stderr
    assert len(list(spool_of("local").glob("*.json"))) == 1


def measure(run_here: RunHere, case: Path, *more: str) -> None:
    ended = run_here("run", case, "--runs", "2", "--cooldown", "0", "--direct", *more)
    assert ended.returncode == 0, ended.stderr


def edit(case: Path, text: str) -> None:
    """Make the case another one: what it measures belongs to another campaign."""
    file = case / "metadata.json"
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "description": text}))


def test_campaigns_with_runs_of_the_same_numbers_are_all_published_and_once(
    case_folder: MakeCase, run_here: RunHere
) -> None:
    case = case_folder("campaigns", process("work", "true"))
    for text in ("first", "second", "third"):
        edit(case, text)
        measure(run_here, case)
        measure(run_here, case)  # nothing to do, and nothing new to publish
    assert len(list((case / "results" / "earlier").iterdir())) == 2
    assert len(published("campaigns")) == len(archived()) == 6

    ended = run_here("history", "--sink", "local", "campaigns", "work", "--json")
    [entry] = json.loads(ended.stdout)["entries"]
    assert (entry["n"], len({one["subject"] for one in entry["points"]})) == (6, 3)
    assert [one["text"] for one in entry["changes"]] == ["files of the case"] * 2

    assert run_here("publish", case).stdout == "local: nothing waits\n"
    assert len(published("campaigns")) == len(archived()) == 6


def test_an_earlier_campaign_is_published_later(
    case_folder: MakeCase, run_here: RunHere, tmp_path: Path
) -> None:
    case = case_folder("late", process("work", "true"))
    for text in ("first", "second", "third"):
        edit(case, text)
        measure(run_here, case, "--publish", "none")
    (case / "results" / "run_7").mkdir()  # of KROWN's, and unfinished ones, nothing is taken
    (case / "results" / "run_7" / ".done").touch()
    (case / "results" / "run_8").mkdir()

    measure(run_here, case)  # nothing is left to do: the newest two are published
    assert len(published("late")) == 4

    ended = run_here("publish", tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "local: 2 published\n")
    assert len(published("late")) == len(archived()) == 6


def test_a_folder_goes_with_the_labs_own_spools(run_here: RunHere, tmp_path: Path) -> None:
    for option in (["--dry-run"], ["--datadir", tmp_path]):
        ended = run_here("publish", tmp_path, *option)
        assert ended.returncode == 2
        assert "a FOLDER goes to the lab's own spools" in ended.stderr
    damaged = tmp_path / "results" / "run_1"
    damaged.mkdir(parents=True)
    (damaged / ".done").touch()
    (damaged / "run.json").write_text("{")
    ended = run_here("publish", tmp_path)
    assert ended.returncode == 1
    assert "not a readable record" in ended.stderr
