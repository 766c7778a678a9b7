"""How ``run`` is executed: plain calls, or Prefect; when it ends early; what it compares."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import executing
from benchyard.core.model import Case, Step
from benchyard.lab import server
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Cli:
    """Call ``benchyard run`` here."""
    monkeypatch.chdir(tmp_path)
    return partial(cli, "run", "--publish", "none")


# -- through Prefect, or not


def case(**facts: Any) -> Case:
    step = Step(1, "a", "a", "Process", "execute", facts.pop("parameters", {}))
    return Case(Path("/c"), "urn:c", "c", "", (step,), **facts)


REFERS = {"environment": {"PASSWORD": "x${secret:db}"}}


@pytest.mark.parametrize(
    ("facts", "address", "options", "expected"),
    [
        ({}, None, {}, False),
        ({}, "http://here:4200/api", {}, True),
        ({}, "http://here:4200/api", {"direct": True}, False),
        ({}, None, {"prefect": True}, True),
        ({"parameters": REFERS}, None, {}, True),
        ({"settings": {"PostgreSQL": REFERS}}, None, {}, True),
        ({"parameters": REFERS}, None, {"direct": True}, False),
        ({"parameters": {"a": "${env:db}"}}, None, {}, False),
    ],
)
def test_prefect_is_for_a_server_that_stays_or_secrets_that_it_keeps(
    monkeypatch: pytest.MonkeyPatch,
    facts: dict[str, Any],
    address: str | None,
    options: dict[str, bool],
    *,
    expected: bool,
) -> None:
    monkeypatch.setattr(server, "address", lambda: address)
    wanted = {"direct": False, "prefect": False, **options}
    assert executing.goes_through_prefect([case(**facts)], **wanted) is expected


def test_without_a_server_none_is_started(
    run: Cli, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_start_temporary", pytest.fail)
    monkeypatch.setattr(server, "running_lab", lambda: None)
    folder = case_folder("fine", process("work", "true"))

    run("fine", "--runs", "1")

    assert [*Results(folder / "results").done()] == [1]


# -- failures alike


def test_six_runs_are_made_and_two_failures_alike_end_them(run: Cli, case_folder: MakeCase) -> None:
    fine = case_folder("a-fine", process("work", "true"))
    bad = case_folder("b-bad", process("work", "echo refused >&2; exit 9"))

    out, err = run("--direct", "--order", "case", code=1)

    assert [*Results(fine / "results").done()] == [1, 2, 3, 4, 5, 6]
    assert [*Results(bad / "results").failed()] == [1, 2]
    assert "runs 1-2 failed: step work: exit 9: refused; see cases/b-bad/results/run_1/log" in out
    assert "b-bad: runs 1-2 failed alike, so its other runs are not begun" in err


def test_what_is_left_out_of_turns_is_told(run: Cli, case_folder: MakeCase) -> None:
    case_folder("a-fine", process("work", "true"))
    bad = case_folder("b-bad", process("work", "exit 9"))
    options = ("--direct", "--runs", "4", "--cooldown", "0")

    err = run(*options, code=1).err
    assert [*Results(bad / "results").failed()] == [1, 2]
    assert "not begun (two runs in a row failed alike" in err
    assert "): b-bad: runs 3-4" in err

    err = run(*options, "--keep-going", code=1).err
    assert [*Results(bad / "results").failed()] == [1, 2, 3, 4]
    assert "not begun" not in err


def test_cases_take_turns_in_one_session_and_their_records_say_so(
    run: Cli, case_folder: MakeCase
) -> None:
    both = [case_folder(name, process("work", "true")) / "results" for name in ("a", "b")]
    options = ("--direct", "--runs", "2", "--cooldown", "0")

    err = run(*options).err
    records = [read_record(results / f"run_{n}") for n in (1, 2) for results in both]
    assert [one.began for one in records] == sorted(one.began for one in records)
    [session] = {str(one.session["id"]) for one in records}
    assert all(one.session["order"] == "round-robin" for one in records)
    assert err.count("runs of 2 cases to do, in turns") == 1
    assert "1 run to do" not in err
    assert "results/run_" not in err

    err = run("a", *options, "--new").err
    newer = [read_record(both[0] / f"run_{n}").session for n in (1, 2)]
    assert newer[0] == newer[1]
    assert newer[0]["id"] != session
    assert "a: 2 runs to do" in err


def test_folders_tell_alike_titles(run: Cli, case_folder: MakeCase, tmp_path: Path) -> None:
    for folder in ("old", "new"):
        case_folder("a", process("work", "true")).rename(tmp_path / folder)
    err = run("old", "new", "--direct", "--runs", "2", "--cooldown", "0").err
    assert " in old/results/run_1\n" in err
    assert " in new/results/run_1\n" in err


# -- the expected time


def test_a_plan_says_how_long_it_takes(run: Cli, case_folder: MakeCase) -> None:
    case_folder("old", process("work", "sleep 0.1"))
    run("old", "--direct", "--runs", "2", "--cooldown", "0")

    out = run("old", "--dry-run").out
    assert "expected time: about " in out
    assert "by earlier runs and with the rests between them" in out

    of_rests = run("old", "--dry-run", "--json", "--runs", "5", "--cooldown", "7").out
    automatic = json.loads(run("old", "--dry-run", "--json", "--runs", "5").out)
    length = automatic["expected_seconds"] / 3 / 1.5
    assert length > 0.1
    assert json.loads(of_rests)["expected_seconds"] == pytest.approx(3 * (length + 7))
    assert automatic["never_executed"] == []
    assert "none, nothing is left to do" in run("old", "--dry-run", "--runs", "2").out
    assert "about" in run("old", "--dry-run", "--new").out

    case_folder("young", process("work", "true"))
    out = run("--dry-run").out
    assert "unknown: young was never executed; the others take about " in out
    assert json.loads(run("--dry-run", "--json").out)["expected_seconds"] is None


# -- the baseline


def test_a_baseline_is_looked_at_before_and_after(run: Cli, case_folder: MakeCase) -> None:
    for name in ("a", "b"):
        case_folder(name, process("work", "true"))
    options = ("--direct", "--runs", "3", "--cooldown", "0")
    run(*options, "--results", "before")

    out, err = run(*options, "--results", "after", "--baseline", "before", "--json")

    begun = err.index("6 runs of 2 cases to do, in turns")
    foreseen = "against before: a, b: 3 and 3 runs cannot tell at the 1 % level over 2 comparisons"
    assert 0 <= err.index(foreseen) < begun
    comparison = json.loads(out)["comparison"]
    assert comparison["format"] == "benchyard-comparison"
    assert {row["case"] for row in comparison["comparisons"]} == {"a", "b"}
    assert "comparison" not in json.loads(run(*options, "--results", "after", "--json").out)

    out = run("--dry-run", "--runs", "5", "--baseline", "before", "--json").out
    assert "against before: a, b: 3 and 5 runs cannot tell" in json.loads(out)["notes"][-1]
