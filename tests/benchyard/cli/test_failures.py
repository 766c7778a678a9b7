"""``benchyard failures``."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.results.attempts import note_began, note_ended
from benchyard.results.folders import TRIES_FILE
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase

STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}
ID = "97aa7af2-52ce-4686-82e0-615de07efa2d"
FLOW_RUN = {"id": ID, "name": "bold-bat", "attempt": 1, "retry": ID}
#: Of one moment, so that no midnight falls between two tries.
NOW = datetime.now(UTC)
Ask = Callable[..., dict[str, Any]]


def note(folder: Path, run: int, *errors: str, days_ago: float = 1.0, works: bool = True) -> None:
    """Note a try of a run whose step failed of each of these."""
    began = (NOW - timedelta(days=days_ago)).isoformat()
    failed = [
        Attempt(n, began, 0.0, 0.1, Outcome.FAILED, (), ErrorRecord("E", text))
        for n, text in enumerate(errors, 1)
    ]
    fine = [Attempt(len(failed) + 1, began, 0.1, 0.2, Outcome.COMPLETED)] if works else []
    outcome = Outcome.COMPLETED if works else Outcome.FAILED
    attempts = (*failed, *fine)
    step = StepRecord(1, "load", "load", "R", "c", {}, True, outcome, attempts)
    record = RunRecord(
        {"title": folder.name}, run, outcome, began, began, 1.0, (step,), flow_run=FLOW_RUN
    )
    (folder / "results").mkdir(exist_ok=True)
    note_ended(folder / "results", record)


@pytest.fixture
def root(case_folder: MakeCase, tmp_path: Path) -> Path:
    for name in ("fragile", "fine"):
        case_folder(name, STEP, tags=["quick"])
    case_folder("wrong", {**STEP, "resource": "Proces"})
    cases = tmp_path / "cases"
    for run in range(1, 5):
        note(cases / "fragile", run, "first", "second")
    note(cases / "fragile", 5, "long ago", days_ago=40, works=False)
    note(cases / "fine", 1)
    note(cases / "fine", 2, "once")
    return cases


@pytest.fixture
def ask(cli: Cli, root: Path) -> Ask:
    def told(*arguments: str) -> dict[str, Any]:
        said = cli("failures", "--json", "--root", root, *arguments)
        assert said.err == ""
        return json.loads(said.out)

    return told


def test_table_has_the_most_fragile_step_first(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_UI_URL", "http://lab:4200")
    said = cli("failures", "--root", root).out
    assert said.startswith("trouble in 6 of 7 executions of steps, 5 recovered; 10 of 16 attempts")
    steps = [line for line in said.splitlines() if line.startswith("01-load")]
    assert steps[0].split()[:4] == ["01-load", "fragile", "5", "5"]
    assert steps[1].split()[:4] == ["01-load", "fine", "2", "1"]
    assert "E: first" in said
    assert "E: second" in said
    assert f"bold-bat  http://lab:4200/runs/flow-run/{ID}" in said
    assert f"fragile  prefect flow-run retry {ID}" in said
    assert "WEEK FROM" in said


def test_json_has_it_all(ask: Ask) -> None:
    document = ask()
    assert (document["format"], document["version"]) == ("benchyard-failures", 1)
    assert document["tries"] == 7
    troubled = {one["case"]: one["troubled"] for one in document["steps"]}
    assert troubled == {"fragile": 5, "fine": 1}
    assert len(document["executions"]) == 6
    assert "api" not in document


def test_since_leaves_out_what_is_older(ask: Ask) -> None:
    document = ask("--since", "7d")
    assert document["executed"]["failed_attempts"] == 9
    assert document["since"].endswith("Z")
    assert len(document["rates"]["day"]) == 1


def test_results_of_an_invalid_case_count(ask: Ask, root: Path) -> None:
    note(root / "wrong", 1, "no")
    (root / "wrong" / "results" / "n=1").mkdir()
    shutil.copy(root / "wrong" / "results" / TRIES_FILE, root / "wrong" / "results" / "n=1")
    assert ask("wrong")["tries"] == 2


def test_damage_is_named_and_the_rest_is_shown(root: Path, cli: Cli, ask: Ask) -> None:
    with (root / "fine" / "results" / TRIES_FILE).open("a") as stream:
        stream.write('{"version":1,\x1b[31m\n')
    assert len(ask()["problems"]) == 1
    said = cli("failures", "--root", root)
    assert "left out: " in said.err
    assert "line 3" in said.err
    assert "\x1b[31m" not in said.err
    assert "6 of 7" in said.out


def test_a_run_under_way_is_not_counted(case_folder: MakeCase, tmp_path: Path, cli: Cli) -> None:
    results = case_folder("new", STEP) / "results"
    said = cli("failures", "--root", tmp_path / "cases").out
    assert said == "nothing failed in 0 executions of steps\n"
    results.mkdir()
    note_began(results, "new", 1, NOW.isoformat(), {})
    assert "1 run under way, not counted" in cli("failures", "--root", tmp_path / "cases").out


def test_long_lists_are_cut_off_unless_asked_for(
    case_folder: MakeCase, tmp_path: Path, cli: Cli
) -> None:
    folder = case_folder("many", STEP)
    for run in range(1, 61):
        note(folder, run, "no")
    assert "10 more; --all lists them" in cli("failures", "--root", tmp_path / "cases").out
    assert "more; --all" not in cli("failures", "--root", tmp_path / "cases", "--all").out


@pytest.mark.parametrize("since", ["yesterday", "", "9999999999d"])
def test_date_that_is_none_is_wrong_input(root: Path, since: str, cli: Cli) -> None:
    cli("failures", "--root", root, "--since", since, code=2)
