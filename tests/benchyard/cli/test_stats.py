"""``benchyard stats``."""

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Json, Outcome
from benchyard.results.layout import run_folder
from benchyard.results.metrics_csv import COLUMNS
from tests.benchyard.analysis.comparison.conftest import place, step, titled
from tests.benchyard.analysis.comparison.conftest import run as run_of
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "krown-samples"
STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}
UNKNOWN: dict[str, Any] = {
    "resource": "NoSuchEngine",
    "command": "load",
    "parameters": {},
    "name": "Load",
}
WHEN = "2026-01-01T00:00:00+00:00"


def record(
    folder: Path,
    run: int,
    seconds: float,
    suspect: Sequence[str] = (),
    *,
    done: bool = True,
    values: Mapping[str, Json] | None = None,
) -> None:
    """Write a run of one step."""
    outcome = Outcome.COMPLETED if done else Outcome.FAILED
    told = step(seconds, name="a", outcome=outcome, values=values, suspect=suspect)
    told = replace(told, name="first", resource="Process", parameters={})
    facts: dict[str, Any] = {"resources": {}, "environment": {}, "benchyard_version": ""}
    place(folder / "results", [run_of(run, told, **titled("case", hash="0"), **facts)])


@pytest.fixture
def first(case_folder: MakeCase) -> Path:
    """A case of ours with one step."""
    return case_folder("case", {**STEP, "name": "first"})


def krown(folder: Path, run: int, *, steps: int = 2) -> Path:
    """Write a run as KROWN leaves it: three samples a step, 0.1 s apart, and no record."""
    place = run_folder(folder / "results", run)
    place.mkdir(parents=True)
    rows = [[str(n), str(1 + n // 3), str(round(n / 10 + run / 100, 4))] for n in range(3 * steps)]
    with (place / "metrics.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for index, step, at in rows:
            cells = dict.fromkeys(COLUMNS, "7") | {"index": index, "step": step, "timestamp": at}
            cells["version"] = "3"
            writer.writerow([cells[column] for column in COLUMNS])
    (place / ".done").write_text("2024-06-06T15:55:59\n")
    return place


def told(cli: Cli, *arguments: str | Path) -> str:
    return cli("stats", *arguments).out


def summary(folder: Path) -> Any:
    return json.loads((folder / "results" / "summary.json").read_text())


def row(printed: str, name: str) -> list[str]:
    [line] = [line for line in printed.splitlines() if f"  {name}" in line]
    return line.split()


def test_the_table_shows_figures_and_what_was_left_out(first: Path, cli: Cli) -> None:
    for run, seconds in enumerate((1.0, 1.1, 1.2, 1.3, 1.4, 1.5), 1):
        record(first, run, seconds)
    record(first, 7, 9.0, ["steal of 3 %"])
    record(first, 8, 1.0, done=False)
    printed = told(cli, first)
    head, line = printed.splitlines()[2:4]
    assert head.split()[:4] == ["STEP", "N", "MEDIAN", "±"]
    assert line.split()[2:9] == ["6", "1.25", "s", "250.0", "ms", "15", "%"]
    assert line.endswith("7 completed  1 suspect, 1 failed")
    assert summary(first)["steps"][0]["left_out"] == {"suspect": 1, "failed": 1}
    assert "run 8 failed" in printed


def test_a_programs_own_time_stands_beside_a_step_that_it_is_not_nearly(
    first: Path, cli: Cli
) -> None:
    record(first, 1, 2.0, values={"run_s": 1.985})
    assert "OWN" not in told(cli, first)
    record(first, 2, 2.0, values={"run_s": 1.9})
    record(first, 3, 2.0, values={"run_s": 1.9})
    head, line = told(cli, first).splitlines()[2:4]
    assert head.split()[-2:] == ["OWN", "OUTCOMES"]
    assert line.split()[-4:] == ["1.90", "s", "3", "completed"]


def test_cases_that_were_never_begun_are_one_line(case_folder: MakeCase, cli: Cli) -> None:
    folders = [case_folder(name, STEP) for name in ("begun", "failed", "one", "other")]
    record(folders[0], 1, 1.0)
    record(folders[1], 1, 1.0, done=False)
    said = cli("stats", *folders).out
    assert "2 cases never begun: one, other" in said
    assert said.count("no finished run") == 1
    assert "no finished run" in cli("stats", folders[2]).out


def test_suspect_executions_count_marked(first: Path, cli: Cli) -> None:
    record(first, 1, 1.0, ["swapped"])
    without = told(cli, first, "--suspect", "leave-out")
    assert "1 of 1 run suspect (swapped) and left out, so nothing is described" in without
    assert row(without, "first")[2:4] == ["0", "-"]
    included = told(cli, first)
    assert "1 of 1 run suspect (swapped) and counted" in included
    assert row(included, "first")[2:5] == ["1", "1.00", "s*"]
    assert "LEFT OUT" not in included
    assert summary(first)["include_suspect"] is True


def test_krowns_results_are_shown_and_written_like_ours(case_folder: MakeCase, cli: Cli) -> None:
    folder = case_folder("case", {**UNKNOWN, "name": "Load"}, {**UNKNOWN, "name": "Map"})
    for run in (1, 2):
        krown(folder, run)
    printed = told(cli, folder)
    assert row(printed, "Map")[2:5] == ["2", "200.0", "ms"]
    assert "warning: measured by KROWN: " in printed
    document = summary(folder)
    assert (document["made_by"], document["n_runs"], document["median_run"]) == ("KROWN", 2, 1)
    written = sorted(path.name for path in (folder / "results").iterdir() if path.is_file())
    assert written == ["aggregated.csv", "stats.csv", "summary.csv", "summary.json"]
    curves = folder / "results" / "run_1" / "metrics.csv"
    assert (folder / "results" / "aggregated.csv").read_bytes() == curves.read_bytes()
    assert not curves.samefile(folder / "results" / "aggregated.csv")


def test_defect_37_krowns_own_files_stay_and_more_runs_are_seen(
    case_folder: MakeCase, cli: Cli
) -> None:
    folder = case_folder("case", UNKNOWN, UNKNOWN)
    krown(folder, 1)
    (folder / "results" / "aggregated.csv").write_text("KROWN's")
    told(cli, folder)
    krown(folder, 2)
    assert "aggregated.csv is not Benchyard's and stays as it is" in told(cli, folder)
    assert (folder / "results" / "aggregated.csv").read_text() == "KROWN's"
    assert summary(folder)["n_runs"] == 2
    with (folder / "results" / "stats.csv").open(newline="") as stream:
        assert next(csv.DictReader(stream))["duration_values"] == "[0.2, 0.2]"


def test_krowns_runs_beside_ours_are_left_out_and_named(first: Path, cli: Cli) -> None:
    krown(first, 1)
    record(first, 2, 1.0)
    assert "run 1 is made by KROWN and left out" in told(cli, first)
    assert [run["run"] for run in summary(first)["runs"]] == [2]
    (krown(first, 3) / ".done").write_text("")
    assert "run 3 is without a record (run.json) and left out" in told(cli, first)


def test_invalid_cases_without_results_are_told_of_and_stop_nothing(
    case_folder: MakeCase, cli: Cli, tmp_path: Path
) -> None:
    krown(case_folder("with", UNKNOWN), 1)
    case_folder("without", UNKNOWN)
    said = cli("stats", "--root", tmp_path / "cases")
    assert "with\n" in said.out
    assert said.err == ("1 invalid case without results left alone; benchyard validate says why\n")
    assert "NoSuchEngine" in cli("stats", tmp_path / "cases" / "without", code=2).err


def test_points_of_a_matrix_that_is_invalid_here_are_shown(case_folder: MakeCase, cli: Cli) -> None:
    folder = case_folder("case", UNKNOWN, matrix={"n": [1, 2]})
    (folder / "results" / "n=1").mkdir(parents=True)
    krown(folder, 1).rename(folder / "results" / "n=1" / "run_1")
    assert "\ncase[n=1]\n" in told(cli, folder)


def test_a_matrix_ends_with_one_table_across_its_points(case_folder: MakeCase, cli: Cli) -> None:
    folder = case_folder("case", STEP, matrix={"n": [1, 2, 4], "m": [5]})
    for n in (1, 2):
        made = folder.parent.parent / f"made {n}"
        record(made, 1, 0.5 * n)
        (folder / "results").mkdir(exist_ok=True)
        (made / "results").rename(folder / "results" / f"n={n},m=5")
    printed = told(cli, folder)
    assert printed.count("STEP") == 0
    table = printed[printed.index("case, medians by n\n") :].splitlines()
    assert [line.split() for line in table[1:3]] == [
        ["Step", "n=1", "n=2"],
        ["first", "500.0", "ms", "1.00", "s", "(2x)"],
    ]
    assert printed.count("results: ") == 2
    for options in (["--verbose"], ["--columns", "n"]):
        assert told(cli, folder, *options).count("STEP") == 2


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="there are no samples of KROWN's here")
def test_real_results_of_krown_are_shown(tmp_path: Path, cli: Cli) -> None:
    shutil.copytree(SAMPLES, tmp_path / "cases", copy_function=shutil.copyfile)
    for folder in [tmp_path / "cases", *(tmp_path / "cases").rglob("*")]:
        if folder.is_dir():
            folder.chmod(0o755)
    shown = json.loads(told(cli, "--json", "--root", tmp_path / "cases"))
    assert len(shown["cases"]) == 6
    assert {case["summary"]["made_by"] for case in shown["cases"]} == {"KROWN"}
    steps = [step for case in shown["cases"] for step in case["summary"]["steps"]]
    assert [step["name"] for step in steps] == ["Load RDB", "Execute RML mapping"] * 6
    assert all(step["metrics"]["duration_s"]["values"][0] > 5 for step in steps)


def failing(cli: Cli, *arguments: str | Path) -> str:
    """Return what ``stats`` prints where it cannot read every run."""
    said = cli("stats", *arguments, code=1)
    [line] = said.err.splitlines()
    assert "finished run" in line
    return said.out


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "x", "version": 1}', "NaN", "\0"])
def test_a_run_that_cannot_be_read_is_left_out_and_named(
    first: Path, cli: Cli, content: str
) -> None:
    for run in (1, 2, 3):
        record(first, run, float(run))
    (first / "results" / "run_2" / "run.json").write_text(content)
    printed = failing(cli, first)
    assert row(printed, "first")[2:5] == ["2", "2.00", "s"]
    [warning] = [line for line in printed.splitlines() if line.startswith("warning: run 2 is left")]
    assert "run_2/run.json: " in warning
    assert warning.endswith("; the next benchyard run does it again")
    document = summary(first)
    assert ([run["run"] for run in document["runs"]], document["unreadable"]) == ([1, 3], [2])


def test_one_case_that_cannot_be_read_stops_no_other(
    case_folder: MakeCase, cli: Cli, tmp_path: Path
) -> None:
    for name in "ab":
        record(case_folder(name, {**STEP, "name": "first"}), 1, 1.0)
    (tmp_path / "cases" / "a" / "results" / "run_1" / "run.json").unlink()
    (tmp_path / "cases" / "a" / "results" / "run_1" / "run.json").mkdir()
    printed = failing(cli, "--root", tmp_path / "cases")
    assert "no finished run that can be read\nwarning: run 1 is left out: " in printed
    assert row(printed, "first")[2:4] == ["1", "1.00"]
    assert json.loads(failing(cli, "--json", "--root", tmp_path / "cases"))


def test_other_commands_do_not_fail_by_a_run_that_cannot_be_read(first: Path, cli: Cli) -> None:
    for run in (1, 2):
        record(first, run, 1.0)
    (first / "results" / "run_1" / "run.json").write_text("{")
    assert cli("list", first).out.splitlines()[1].split()[:3] == ["case", "1", "1"]
    again = ["run", "--direct", "--runs", "2", "--cooldown", "0", "--keep", first]
    said = cli(*again)
    assert "case: run 1 is done again: " in said.err
    assert "run 2" not in said.err.partition("case: 1 run to do, 1 done before")[2]
    said = cli(*again).err
    assert "case: nothing to do: 1 of 2 done on " in said
    assert ", and 1 of something else (told apart)" in said


def test_a_finished_run_of_ours_without_its_record_is_not_called_krowns(
    first: Path, cli: Cli
) -> None:
    cli("run", "--direct", "--runs", "2", "--cooldown", "0", first)
    for run in (1, 2):
        (first / "results" / f"run_{run}" / "run.json").unlink()
        printed = failing(cli, first)
        assert f"warning: run {run} is left out: it has no record" in printed
        assert "KROWN" not in printed


def test_a_case_that_is_no_json_is_told_with_krowns_results(
    case_folder: MakeCase, cli: Cli
) -> None:
    folder = case_folder("case", UNKNOWN)
    krown(folder, 1)
    (folder / "metadata.json").write_text("{")
    printed = told(cli, folder)
    assert "metadata.json does not tell the steps, so they have no names" in printed
    assert row(printed, "step 2")[4:6] == ["200.0", "ms"]


def test_names_do_not_steer_the_terminal_and_long_ones_are_shortened(
    case_folder: MakeCase, cli: Cli
) -> None:
    names = ["a\u202eb\x1b[2J\nc", "n" * 5000]
    folder = case_folder("case", *({**UNKNOWN, "name": name} for name in names))
    metadata = folder / "metadata.json"
    metadata.write_text(metadata.read_text().replace('"name": "case"', '"name": "x\\u009by"'))
    (krown(folder, 1) / "metrics.csv").write_text("{}\n")
    krown(folder, 2)
    printed = failing(cli, folder)
    assert all(line.isprintable() for line in printed.splitlines())
    assert "a\\u202eb\\x1b[2J\\nc" in printed
    assert "x\\x9by" in printed
    assert max(map(len, printed.splitlines()[:5])) < 200
    assert "n" * 59 + "…" in printed
    assert [step["name"] for step in summary(folder)["steps"]] == names
