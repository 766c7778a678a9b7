"""``benchyard rerun`` where there is no lab: refusals, and going on in the terminal."""

import json
from pathlib import Path

import pytest

from benchyard.cli import call
from benchyard.results.folders import Results
from tests.conftest import MakeCase, RunBenchyard, process, tree
from tests.databases import put_database
from tests.here import RunHere


def done(case: Path, *runs: int) -> None:
    for run in runs:
        folder = case / "results" / f"run_{run}"
        folder.mkdir(parents=True)
        (folder / ".done").touch()
        (folder / "run.json").write_text("{}")


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert call(["rerun", *map(str, arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_it_takes_one_case(
    case_folder: MakeCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_folder("many", process("work", "true"), matrix={"scale": [1, 2]})

    assert "means 2 cases (many[scale=1], many[scale=2]); name one" in refused(capsys, case)
    assert "no case is 'nonsense'" in refused(capsys, "nonsense", "--root", tmp_path)


def test_a_finished_run_is_done_again_only_if_it_is_forced(
    case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_folder("two", process("work", "true"))
    done(case, 1, 3)

    said = refused(capsys, case, "--run", 1, "--run", 2, "--run", 3)

    assert "two: runs 1, 3 done already; --force does them again" in said


def test_where_nothing_is_left_it_says_what_was_done(
    case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_folder("all-done", process("work", "true"))
    quick = ("--direct", "--runs", "3", "--cooldown", "0", "--publish", "none")
    assert call(["run", str(case), *quick]) == 0
    capsys.readouterr()

    assert call(["rerun", str(case), "--here"]) == 0

    assert "all-done: nothing to do: 3 of 3 done on " in capsys.readouterr().err


@pytest.mark.parametrize("run", ["0", "-1", "x", "1-2"])
def test_a_run_is_a_number_from_1(
    run: str, case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_folder("one", process("work", "true"))

    assert "Invalid value for '--run'" in refused(capsys, case, f"--run={run}")


@pytest.mark.slow
def test_without_a_lab_it_goes_on_here(
    case_folder: MakeCase,
    run_benchyard: RunBenchyard,
    run_here: RunHere,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    put_database(tmp_path / "prefect" / "prefect.db")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    case = case_folder("here", process("work", f"[ -e {tmp_path / 'fixed'} ] || exit 3"))
    first = run_here("run", case, "--runs", "2", "--direct", "--cooldown", "0")
    assert first.returncode == 1
    (tmp_path / "fixed").touch()
    before = tree(case / "results" / "run_1")

    ended = run_benchyard("rerun", case, "--run", "2", "--json", timeout=300)

    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["cases"][0]["case"] == "here"
    assert [*Results(case / "results").done()] == [2]
    assert tree(case / "results" / "run_1") == before
