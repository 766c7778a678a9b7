"""``benchyard run``: what it executes, what it prints where, and what it answers."""

import json
import os
import platform
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.host.testbed import hold_testbed
from benchyard.process.children import Child, spawn
from benchyard.process.labels import RUN, labelled
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, ctrl_c, process, tree


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Cli:
    """Call ``benchyard run --direct`` here."""
    monkeypatch.chdir(tmp_path)
    return partial(cli, "run", "--direct", "--cooldown", "0")


@pytest.fixture
def fine(case_folder: MakeCase) -> Path:
    return case_folder("fine", process("work", "true"))


# -- exit codes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "no case is 'nope'"),
        (["nope", "--json"], "no case is 'nope'"),
        *((["--runs", wrong], "--runs") for wrong in ("0", "two")),
        (["--order", "chaos"], "--order"),
        (["--cooldown", "-1"], "--cooldown"),
        (["--interval", "0"], "--interval"),
        (["--root", "/no/such/folder"], "/no/such/folder"),
        (["--root", "cases/fine/data"], "no cases below"),
        (["--resources", "/no/such/folder"], "/no/such/folder"),
        (["--tag", "none"], "has the tag 'none'"),
        (["--no-such-option"], "--no-such-option"),
        (["--prefect"], "--direct and --prefect exclude each other"),
        (["fine", "--runs", "1", "--wait-for-user"], "--wait-for-user needs a terminal"),
    ],
)
def test_wrong_input_is_2_and_says_what(
    run: Cli, fine: Path, arguments: list[str], said: str
) -> None:
    out, err = run(*arguments, code=2)

    assert said in err
    assert out == ""
    assert not (fine / "results").exists()


def test_defect_27_an_invalid_case_is_2_and_every_problem_is_told(
    run: Cli, case_folder: MakeCase, fine: Path
) -> None:
    case_folder("bad", {"name": "x", "resource": "Nope", "command": "go"}, process("y", "true"))
    (case_folder("worse", process("z", "true")) / "metadata.json").write_text("{")

    err = run(code=2).err

    assert "unknown resource 'Nope'" in err
    assert "cases/worse/metadata.json: $: not JSON" in err
    assert not (fine / "results").exists(), "nothing is executed before all is right"
    run("fine", "--runs", "1")  # an invalid case spoils no other


def press_in_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[bool] = []

    def press(arguments: Any, **options: Any) -> Child:
        child = spawn(arguments, **options)
        if not pressed:
            pressed.append(True)
            ctrl_c()
        return child

    monkeypatch.setattr("resources.process.spawn", press)


def test_ctrl_c_in_the_last_step_of_a_case_begins_no_other_case(
    run: Cli, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (case_folder(name, process("work", "true")) for name in ("a", "b"))
    press_in_the_first_step(monkeypatch)

    err = run("a", "b", "--runs", "1", code=130).err

    assert "the same command goes on where this one ended" in err
    assert [*Results(first / "results").done()] == [1]
    assert not (second / "results").exists()


def test_no_wait_is_1_at_once_and_says_who(run: Cli, fine: Path) -> None:
    with hold_testbed("tpch on another terminal", wait=False):
        err = run("fine", "--no-wait", code=1).err

    assert f"this host is measuring already: pid {os.getpid()}" in err
    assert "tpch on another terminal" in err
    assert not (fine / "results").exists()


@pytest.mark.parametrize("fast", [True, False])
def test_fail_fast_stops_at_the_first_failed_run(
    run: Cli, case_folder: MakeCase, *, fast: bool
) -> None:
    broken = case_folder("a-broken", process("work", "exit 3"))
    fine = case_folder("b-fine", process("work", "true"))

    err = run("--runs", "1", *(["--fail-fast"] if fast else []), code=1).err

    assert err.splitlines()[-1] == "benchyard: 1 case failed: a-broken"
    assert [*Results(broken / "results").failed()] == [1]
    assert [*Results(fine / "results").done()] == ([] if fast else [1])


def test_defect_47_a_deadline_ends_all_that_a_step_started(run: Cli, case_folder: MakeCase) -> None:
    family = "setsid sleep 300 & sleep 300 & sleep 300"
    folder = case_folder("late", process("work", family, timeout=0.3, retries=1))

    run("late", "--runs", "1", code=1)

    record = read_record(folder / "results/run_1")
    assert [attempt.outcome.value for attempt in record.steps[0].attempts] == ["timed_out"] * 2
    assert record.warnings == (), "killed at the deadline, not at the end of the run"
    assert f"{folder / 'results'}:1" not in [value for _, value in labelled(RUN)]


# -- resuming


def test_the_same_command_again_does_nothing_and_says_the_same(run: Cli, fine: Path) -> None:
    first, err = run("fine", "--runs", "2")
    assert "MEDIAN" in first
    assert err.splitlines()[0] == "fine: 2 runs to do"
    before = tree(fine)

    second, err = run("fine", "--runs", "2")

    assert second == first
    assert err.startswith(f"fine: nothing to do: 2 of 2 done on {platform.node()}, 20")
    assert len(err.splitlines()) == 1
    assert tree(fine) == before

    # Defect 37: the lab was killed after the last run and before the summary.
    (fine / "results/summary.json").unlink()
    assert run("fine", "--runs", "2").out == first
    assert (fine / "results/summary.json").is_file()


# -- what is printed


def test_json_is_one_document_and_alone_on_stdout(run: Cli, case_folder: MakeCase) -> None:
    case_folder("broken", process("work", "echo noise; exit 1"))
    case_folder("fine", process("work", "echo noise"))

    out, err = run("--json", "--runs", "1", code=1)

    document = json.loads(out)
    assert [case["case"] for case in document["cases"]] == ["broken", "fine"]
    assert document["cases"][1]["summary"]["n_runs"] == 1
    assert "fine run 1" in err
    assert "noise" not in out


def test_verbose_tells_the_start_of_each_step(run: Cli, fine: Path) -> None:
    assert "started" not in run(fine, "--runs", "1").err
    assert "fine run 1 step 1 work: started" in run(fine, "--runs", "1", "--force", "-v").err


# -- dry run, order


def test_a_dry_run_tells_the_plan_and_does_nothing(run: Cli, case_folder: MakeCase) -> None:
    folder = case_folder("fine", process("first", "true"), process("second", "true"))
    before = tree(folder)

    out = run("fine", "--runs", "2", "--dry-run").out

    assert tree(folder) == before
    lines = out.splitlines()
    assert lines[0].split() == ["CASE", "RUN", "STEPS", "RESULTS"]
    assert [line.split()[1:4] for line in lines[1:3]] == [["fine", "1", "2"], ["fine", "2", "2"]]
    assert "Process.execute" in out


def planned(run: Cli, *arguments: str) -> tuple[Any, list[tuple[str, int]]]:
    out = run("--dry-run", "--json", *arguments).out
    document = json.loads(out)
    return document["seed"], [(row["case"], row["run"]) for row in document["runs"]]


def test_the_plan_as_json_holds_only_what_is_not_done(run: Cli, fine: Path) -> None:
    run(fine, "--runs", "1")

    assert planned(run, "--runs", "3") == (None, [("fine", 2), ("fine", 3)])
    assert planned(run, "--runs", "2", "--force") == (None, [("fine", 1), ("fine", 2)])


def test_defect_20_runs_of_several_cases_may_be_interleaved(
    run: Cli, case_folder: MakeCase
) -> None:
    for name in ("a", "b", "c"):
        case_folder(name, process("work", "true"))

    _, one_by_one = planned(run, "--runs", "2", "--order", "case")
    _, in_turn = planned(run, "--runs", "2")
    seed, chance = planned(run, "--runs", "2", "--order", "random")
    _, again = planned(run, "--runs", "2", "--order", "random", "--seed", str(seed))
    others = [planned(run, "--order", "random", "--seed", str(n))[1] for n in range(4)]

    assert one_by_one == [(case, n) for case in "abc" for n in (1, 2)]
    assert in_turn == [(case, n) for n in (1, 2) for case in "abc"]
    assert chance == again
    assert sorted(chance) == sorted(one_by_one)
    assert len({tuple(order) for order in others}) > 1


# -- results elsewhere


def test_results_elsewhere_leave_the_case_as_it_is(
    run: Cli, case_folder: MakeCase, tmp_path: Path
) -> None:
    step = process("sort", "sort words.txt", parameters={"stdout_file": "sorted.txt"})
    folder = case_folder("fine", step, data={"words.txt": "b\na\n"})
    before = {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}

    run("fine", "--runs", "1", "--results", tmp_path / "out")

    assert {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]} == before
    kept = tmp_path / "out/cases/fine/run_1/process/sorted.txt"
    assert kept.read_text() == "a\nb\n"


@pytest.mark.requires("mount")
def test_a_read_only_case_can_be_executed_with_results_elsewhere(
    run: Cli, case_folder: MakeCase, tmp_path: Path
) -> None:
    case = case_folder("fixed", process("sort", "sort words.txt"), data={"words.txt": "b\n"})
    for arguments in (["--bind"], ["-o", "remount,ro,bind"]):
        subprocess.run(["/bin/mount", *arguments, case, case], check=True)
    try:
        err = run("fixed", "--runs", "1", code=2).err
        assert "Read-only file system" in err
        assert str(case / "results") in err
        run("fixed", "--runs", "1", "--results", tmp_path / "out")
    finally:
        subprocess.run(["/bin/umount", case], check=True)
    assert [*Results(tmp_path / "out/cases/fixed").done()] == [1]


# -- a process of its own
