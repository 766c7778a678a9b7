"""``benchyard run``: what it executes, what it prints where, and what it answers."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.cli import executing
from benchyard.host.testbed import hold_testbed
from benchyard.process.children import Child, spawn
from benchyard.process.labels import RUN, labelled
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from tests.benchyard.cli.conftest import Ends
from tests.conftest import MakeCase, RunBenchyard, ctrl_c, process, tree

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: Ends) -> Run:
    """Call ``benchyard run --direct`` here; give exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return partial(ends, "run", "--direct", "--cooldown", "0")


def command(name: str, program: str = "true") -> Mapping[str, Any]:
    return process(name, program)


# -- exit codes


def test_done_is_0(run: Run, case_folder: MakeCase) -> None:
    folder = case_folder("fine", command("work"))

    code, out, err = run("fine", "--runs", "2")

    assert code == 0
    assert [*Results(folder / "results").done()] == [1, 2]
    assert "work" in out
    assert "MEDIAN" in out
    assert err.splitlines()[0] == "fine: 2 runs to do"


def test_a_failed_case_is_1_and_the_others_are_executed(run: Run, case_folder: MakeCase) -> None:
    case_folder("a-broken", command("work", "exit 3"))
    fine = case_folder("b-fine", command("work"))

    code, _, err = run("--runs", "1")

    assert code == 1
    assert err.splitlines()[-1] == "benchyard: 1 case failed: a-broken"
    assert "Traceback" not in err
    assert [*Results(fine / "results").done()] == [1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "no case is 'nope'"),
        (["--runs", "0"], "--runs"),
        (["--runs", "two"], "--runs"),
        (["--order", "chaos"], "--order"),
        (["--cooldown", "-1"], "--cooldown"),
        (["--interval", "0"], "--interval"),
        (["--root", "/no/such/folder"], "/no/such/folder"),
        (["--resources", "/no/such/folder"], "/no/such/folder"),
        (["--tag", "none"], "has the tag 'none'"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_input_is_2_and_says_what(
    run: Run, case_folder: MakeCase, arguments: list[str], said: str
) -> None:
    folder = case_folder("fine", command("work"))

    code, out, err = run(*arguments)

    assert code == 2
    assert said in err
    assert out == ""
    assert not (folder / "results").exists()


def test_an_empty_root_is_2(run: Run) -> None:
    code, _, err = run()

    assert code == 2
    assert "no cases below" in err


def test_defect_27_an_invalid_case_is_2_and_every_problem_is_told(
    run: Run, case_folder: MakeCase
) -> None:
    case_folder("bad", {"name": "x", "resource": "Nope", "command": "go"}, command("y"))
    worse = case_folder("worse", command("z"))
    (worse / "metadata.json").write_text("{")
    fine = case_folder("fine", command("work"))

    code, _, err = run()

    assert code == 2
    assert "unknown resource 'Nope'" in err
    assert "cases/worse/metadata.json: $: not JSON" in err
    assert not (fine / "results").exists(), "nothing is executed before all is right"
    assert run("fine", "--runs", "1")[0] == 0, "an invalid case spoils no other"


def test_interrupted_is_130(
    run: Run, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    case_folder("fine", command("work"))

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(executing, "execute", interrupted)

    code, out, err = run("fine")

    assert (code, out, err.strip()) == (130, "", "benchyard: interrupted")


def press_in_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[bool] = []

    def press(arguments: Any, **options: Any) -> Child:
        child = spawn(arguments, **options)
        if not pressed:
            pressed.append(True)
            ctrl_c()
        return child

    monkeypatch.setattr("resources.process.spawn", press)


def test_one_ctrl_c_is_130_and_says_how_to_go_on(
    run: Run, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = case_folder("fine", command("work"), command("next"))
    press_in_the_first_step(monkeypatch)

    code, _, err = run("fine", "--runs", "2")

    assert code == 130
    assert "stopping after this step; press Ctrl-C again to stop now" in err
    assert err.splitlines()[-1] == (
        "benchyard: stopped; the same command goes on where this one ended"
    )
    assert [*Results(folder / "results").done()] == []
    assert run("fine", "--runs", "2")[0] == 0
    assert [*Results(folder / "results").done()] == [1, 2]


def test_ctrl_c_in_the_last_step_of_a_case_begins_no_other_case(
    run: Run, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (case_folder(name, command("work")) for name in ("a", "b"))
    press_in_the_first_step(monkeypatch)

    code, _, err = run("a", "b", "--runs", "1")

    assert code == 130
    assert "the same command goes on where this one ended" in err
    assert [*Results(first / "results").done()] == [1]
    assert not (second / "results").exists()


def test_no_wait_is_1_at_once_and_says_who(run: Run, case_folder: MakeCase) -> None:
    folder = case_folder("fine", command("work"))

    with hold_testbed("tpch on another terminal", wait=False):
        code, _, err = run("fine", "--no-wait")

    assert code == 1
    assert f"this host is measuring already: pid {os.getpid()}" in err
    assert "tpch on another terminal" in err
    assert not (folder / "results").exists()


def test_fail_fast_stops_at_the_first_failed_run(run: Run, case_folder: MakeCase) -> None:
    broken = case_folder("a-broken", command("work", "exit 1"))
    other = case_folder("b-fine", command("work"))

    code, _, _ = run("--fail-fast")

    assert code == 1
    assert [f.name for f in (broken / "results").glob("run_*")] == ["run_1"]
    assert not (other / "results").exists()


def test_nobody_to_press_enter_is_told(run: Run, case_folder: MakeCase) -> None:
    folder = case_folder("fine", command("work"))

    code, _, err = run("fine", "--runs", "1", "--wait-for-user")

    assert code == 2
    assert "--wait-for-user needs a terminal" in err
    assert not (folder / "results").exists()


def test_defect_47_a_deadline_ends_all_that_a_step_started(run: Run, case_folder: MakeCase) -> None:
    family = "setsid sleep 300 & sleep 300 & sleep 300"
    folder = case_folder("late", process("work", family, timeout=0.3, retries=1))

    code, _, _ = run("late", "--runs", "1")

    record = read_record(folder / "results/run_1")
    assert code == 1
    assert [attempt.outcome.value for attempt in record.steps[0].attempts] == ["timed_out"] * 2
    assert record.warnings == (), "killed at the deadline, not at the end of the run"
    assert f"{folder / 'results'}:1" not in [value for _, value in labelled(RUN)]


def test_a_daemon_that_a_step_left_ends_with_the_run(run: Run, case_folder: MakeCase) -> None:
    folder = case_folder("daemon", process("work", "setsid sleep 300 >/dev/null 2>&1 &"))

    code, _, _ = run("daemon", "--runs", "1")

    assert code == 0
    assert f"{folder / 'results'}:1" not in [value for _, value in labelled(RUN)]


# -- resuming


def test_the_same_command_again_does_nothing_and_says_the_same(
    run: Run, case_folder: MakeCase
) -> None:
    folder = case_folder("fine", command("work"))
    _, first, _ = run("fine", "--runs", "2")
    before = tree(folder)

    code, second, err = run("fine", "--runs", "2")

    assert (code, second) == (0, first)
    assert err.startswith(f"fine: nothing to do: 2 of 2 done on {platform.node()}, 20")
    assert len(err.splitlines()) == 1
    assert tree(folder) == before


def test_defect_37_a_summary_that_was_never_written_is_written_now(
    run: Run, case_folder: MakeCase
) -> None:
    """The lab was killed after the last run and before the summary."""
    folder = case_folder("fine", command("work"))
    _, first, _ = run("fine", "--runs", "1")
    (folder / "results/summary.json").unlink()

    code, again, _ = run("fine", "--runs", "1")

    assert (code, again) == (0, first)
    assert (folder / "results/summary.json").is_file()


# -- what is printed


def test_json_is_one_document_and_alone_on_stdout(run: Run, case_folder: MakeCase) -> None:
    case_folder("broken", command("work", "echo noise; exit 1"))
    case_folder("fine", command("work", "echo noise"))

    code, out, err = run("--json", "--runs", "1")

    document = json.loads(out)
    assert code == 1
    assert [case["case"] for case in document["cases"]] == ["broken", "fine"]
    assert document["cases"][1]["summary"]["n_runs"] == 1
    assert "fine run 1" in err
    assert "noise" not in out


def test_json_of_wrong_input_prints_nothing_on_stdout(run: Run) -> None:
    code, out, err = run("nope", "--json")

    assert (code, out) == (2, "")
    assert err.startswith("benchyard: ")


def test_verbose_tells_the_start_of_each_step(run: Run, case_folder: MakeCase) -> None:
    case_folder("fine", command("work"))

    _, _, quiet = run("fine", "--runs", "1")
    _, _, verbose = run("fine", "--runs", "1", "--force", "-v")

    assert "started" not in quiet
    assert "fine run 1 step 1 work: started" in verbose


# -- dry run, order


def test_a_dry_run_tells_the_plan_and_does_nothing(run: Run, case_folder: MakeCase) -> None:
    folder = case_folder("fine", command("first"), command("second"))
    before = tree(folder)

    code, out, _ = run("fine", "--runs", "2", "--dry-run")

    assert code == 0
    assert tree(folder) == before
    lines = out.splitlines()
    assert lines[0].split() == ["CASE", "RUN", "STEPS", "RESULTS"]
    assert [line.split()[1:4] for line in lines[1:3]] == [["fine", "1", "2"], ["fine", "2", "2"]]
    assert "Process.execute" in out


def planned(run: Run, *arguments: str) -> tuple[Any, list[tuple[str, int]]]:
    code, out, _ = run("--dry-run", "--json", *arguments)
    assert code == 0
    document = json.loads(out)
    return document["seed"], [(row["case"], row["run"]) for row in document["runs"]]


def test_the_plan_as_json_holds_only_what_is_not_done(run: Run, case_folder: MakeCase) -> None:
    case_folder("fine", command("work"))
    run("fine", "--runs", "1")

    assert planned(run, "--runs", "3") == (None, [("fine", 2), ("fine", 3)])
    assert planned(run, "--runs", "2", "--force") == (None, [("fine", 1), ("fine", 2)])


def test_defect_20_runs_of_several_cases_may_be_interleaved(
    run: Run, case_folder: MakeCase
) -> None:
    for name in ("a", "b", "c"):
        case_folder(name, command("work"))

    _, one_by_one = planned(run, "--runs", "2", "--order", "case")
    _, in_turn = planned(run, "--runs", "2")
    seed, chance = planned(run, "--runs", "2", "--order", "random", "--seed", "7")
    _, again = planned(run, "--runs", "2", "--order", "random", "--seed", "7")
    others = [planned(run, "--order", "random", "--seed", str(n))[1] for n in range(4)]

    assert one_by_one == [(case, n) for case in "abc" for n in (1, 2)]
    assert in_turn == [(case, n) for n in (1, 2) for case in "abc"]
    assert seed == 7
    assert chance == again
    assert sorted(chance) == sorted(one_by_one)
    assert len({tuple(order) for order in others}) > 1


def test_a_seed_that_was_chosen_is_told(run: Run, case_folder: MakeCase) -> None:
    case_folder("a", command("work"))

    seed, order = planned(run, "--order", "random")
    repeated = planned(run, "--order", "random", "--seed", str(seed))

    assert repeated == (seed, order)


# -- results elsewhere


def test_results_elsewhere_leave_the_case_as_it_is(
    run: Run, case_folder: MakeCase, tmp_path: Path
) -> None:
    step = process("sort", "sort words.txt", parameters={"stdout_file": "sorted.txt"})
    folder = case_folder("fine", step, data={"words.txt": "b\na\n"})
    before = {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}

    code, _, _ = run("fine", "--runs", "1", "--results", tmp_path / "out")

    assert code == 0
    assert {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]} == before
    kept = tmp_path / "out/cases/fine/run_1/process/sorted.txt"
    assert kept.read_text() == "a\nb\n"


@pytest.fixture
def read_only(case_folder: MakeCase) -> Generator[Path]:
    """Mount a case folder read-only."""
    folder = case_folder("fixed", process("sort", "sort words.txt"), data={"words.txt": "b\n"})
    for arguments in (["--bind"], ["-o", "remount,ro,bind"]):
        subprocess.run(["/bin/mount", *arguments, folder, folder], check=True)
    yield folder
    subprocess.run(["/bin/umount", folder], check=True)


@pytest.mark.requires("mount")
def test_a_read_only_case_can_be_executed_with_results_elsewhere(
    run: Run, read_only: Path, tmp_path: Path
) -> None:
    code, _, err = run("fixed", "--runs", "1")
    assert code == 2
    assert "Read-only file system" in err
    assert str(read_only / "results") in err
    assert "Traceback" not in err

    code, _, _ = run("fixed", "--runs", "1", "--results", tmp_path / "out")
    assert code == 0
    assert [*Results(tmp_path / "out/cases/fixed").done()] == [1]


# -- a process of its own


@pytest.mark.slow
def test_a_closed_stderr_does_not_end_the_measuring(
    case_folder: MakeCase, tmp_path: Path, run_benchyard: RunBenchyard
) -> None:
    """As in ``benchyard run 2>&1 | head -1``."""
    folder = case_folder("fine", command("work"))
    reader, writer = os.pipe()
    os.close(reader)
    ended = run_benchyard_with_stderr(tmp_path, writer)
    os.close(writer)

    assert ended == 0
    assert [*Results(folder / "results").done()] == [1, 2]
    assert run_benchyard("run", "fine", "--direct", "--runs", "2").returncode == 0


def run_benchyard_with_stderr(folder: Path, stderr: int) -> int:
    program = Path(sys.executable).with_name("benchyard")
    arguments = [program, "run", "fine", "--direct", "--runs", "2", "--cooldown", "0"]
    ended = subprocess.run(
        arguments, stdout=subprocess.DEVNULL, stderr=stderr, cwd=folder, check=False
    )
    return ended.returncode
