"""``benchyard export``, and what ``stats`` shows beside its usual table."""

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from tests.benchyard.cli.conftest import Cli
from tests.benchyard.cli.test_stats import STEP, UNKNOWN, krown, record
from tests.conftest import MakeCase


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture
def case(case_folder: MakeCase) -> Path:
    """A case of seven runs; the last one is suspect."""
    folder = case_folder("case", {**STEP, "name": "first"})
    for run, seconds in enumerate((1.0, 1.1, 1.2, 1.3, 1.4, 1.5), 1):
        record(folder, run, seconds, values={"latency_p99_s": seconds / 10, "rows": 5})
    record(folder, 7, 9.0, ["steal of 3 %"], values={"latency_p99_s": 5, "rows": 5})
    return folder


def test_stdout_gets_tidy_csv_and_what_does_not_count_is_told(case: Path, cli: Cli) -> None:
    said = cli("export", case, "--metric", "duration_s")
    found = rows(said.out)
    assert [row["value"] for row in found] == ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "9.0"]
    assert [row["left_out"] for row in found] == [""] * 6 + ["suspect"]
    assert said.err == (
        "1 of 7 executions marked in the column left_out (--counted drops them): 1 suspect\n"
    )
    counted = cli("export", case, "--counted", "--columns", "metric,run,value")
    assert counted.out.splitlines()[:3] == [
        "metric,run,value",
        "duration_s,1,1.0",
        "latency_p99_s,1,0.1",
    ]
    assert counted.err == "1 of 7 executions left out: 1 suspect\n"


def test_several_files_are_written_at_once(case: Path, cli: Cli, tmp_path: Path) -> None:
    made = {ending: tmp_path / f"made.{ending}" for ending in ("csv", "parquet", "xlsx", "md")}
    options = [word for file in made.values() for word in ("-o", file)]
    said = cli("export", case, *options)
    assert said.out == ""
    assert said.err.endswith("1 suspect\n")
    assert "1 of 7 executions marked" in said.err
    assert (
        len(duckdb.read_parquet(str(made["parquet"]))) == len(rows(made["csv"].read_text())) == 21
    )
    book: Any = openpyxl.load_workbook(made["xlsx"])
    assert {sheet.title: sheet.max_row for sheet in book} == {"medians": 2, "results": 22}
    assert "made.xlsx has no sheet of comparisons: " in said.err
    assert "| first | 1.25 +0.25 -0.25 |" in made["md"].read_text()


def test_a_workbook_begins_with_medians_and_what_differs(
    case: Path, case_folder: MakeCase, cli: Cli, tmp_path: Path
) -> None:
    other = case_folder("other", {**STEP, "name": "first"})
    for run in range(1, 7):
        record(other, run, 3.0 + run / 100)
    cli("export", case, other, "-o", tmp_path / "made.xlsx")
    cli("export", case, other, "--summary", "-o", tmp_path / "short.xlsx")
    book: Any = openpyxl.load_workbook(tmp_path / "made.xlsx")
    assert book.sheetnames == ["medians", "comparison", "results"]
    assert openpyxl.load_workbook(tmp_path / "short.xlsx").sheetnames == book.sheetnames[:2]
    header, *found = book["comparison"].values
    [row] = [dict(zip(header, cells, strict=True)) for cells in found if cells[4]]
    assert (row["baseline_side"], row["candidate_side"], row["candidate_n"]) == ("case", "other", 6)
    assert row["ratio"] == pytest.approx(3.035 / 1.25, rel=0.05)
    assert (row["verdict"], row["busy_host"]) == ("regression", False)


def test_tables_go_to_stdout_by_their_format(case: Path, cli: Cli) -> None:
    assert r"{first} & $1.25^{+0.25}_{-0.25}$ \\" in cli("export", case, "--latex").out
    made = cli("export", case, "-o", "-", "--markdown", "--metric", "*_s").out
    assert "| step | duration (s) | latency p99 (ms) |" in made


def test_the_summary_agrees_with_stats(case: Path, cli: Cli) -> None:
    exported = cli("export", case, "--summary", "--metric", "duration_s").out
    assert cli("stats", case, "--csv").out == exported
    [row] = rows(exported)
    assert (row["n"], row["median"], row["low"], row["high"]) == ("6", "1.25", "1.0", "1.5")
    assert (row["outcomes"], row["left_out"]) == ("7 completed", "1 suspect")


def test_a_folder_with_results_needs_no_case(case: Path, cli: Cli, tmp_path: Path) -> None:
    results = (case / "results").rename(tmp_path / "kept")
    found = rows(cli("export", results, "--metric", "rows").out)
    assert {(row["case"], row["value"]) for row in found} == {("case", "5")}
    assert rows(cli("export", results, tmp_path, "--metric", "rows").out) == found
    (tmp_path / "empty").mkdir()
    assert "empty: no runs there" in cli("export", tmp_path / "empty", code=2).err


def test_results_of_krown_are_exported_too(case_folder: MakeCase, cli: Cli) -> None:
    folder = case_folder("case", {**UNKNOWN, "name": "Load"}, {**UNKNOWN, "name": "Map"})
    krown(folder, 1)
    found = rows(cli("export", folder, "--metric", "duration_s").out)
    assert [(row["case"], row["step_name"], row["value"]) for row in found] == [
        ("case", "Load", "0.2"),
        ("case", "Map", "0.2"),
    ]


def test_runs_that_cannot_be_read_are_told_and_the_others_written(
    case: Path, case_folder: MakeCase, cli: Cli
) -> None:
    (case / "results" / "run_2" / "run.json").write_text("{")
    said = cli("export", case, "--metric", "rows", code=1)
    assert len(rows(said.out)) == 6
    assert "benchyard: 1 finished run left out:\n" in said.err
    assert "run_2/run.json: not a readable record" in said.err
    said = cli("export", case_folder("idle", STEP), code=2)
    assert said.err == "benchyard: idle: no run to export; benchyard run makes them\n"


@pytest.mark.parametrize(
    ("command", "options", "expected"),
    [
        ("export", ["-o", "made.txt"], "it must end in .csv or .parquet"),
        ("export", ["-o", "nowhere/made.csv"], "there is no folder"),
        ("export", ["--metric", "durations"], "no metric is 'durations'; did you mean 'dur"),
        ("export", ["--columns", "valu"], "no column is 'valu'; did you mean 'value'?"),
        ("export", ["--columns", ","], "no column is named"),
        ("export", ["--columns", "run,run"], "column 'run' is given twice"),
        ("export", ["--campaign", "2020"], "has no earlier campaign '2020'"),
        ("export", ["-o", "made.csv", "--latex"], "are for stdout"),
        ("export", ["-o", "made.tex", "--columns", "run"], "--columns is for rows"),
        ("export", ["--xlsx"], "No such option"),
        ("stats", ["--metric", "lat"], "no metric is 'lat'"),
        ("stats", ["--columns", "mediann"], "no column is 'mediann'; did you mean 'median'?"),
        ("stats", ["--csv", "--columns", "valu"], "no column is 'valu'"),
        ("stats", ["--csv", "--json"], "--csv writes to stdout already"),
    ],
)
def test_wrong_input_is_one_sentence(
    case: Path, cli: Cli, command: str, options: list[str], expected: str
) -> None:
    assert expected in cli(command, case, *options, code=2).err


# -- stats


def test_stats_shows_metrics_that_a_command_reports(case: Path, cli: Cli) -> None:
    said = cli("stats", case)
    assert said.err == "reported by commands: latency_p99_s, rows; --metric NAME shows them\n"
    shown = cli("stats", case, "--metric", "latency*", "--metric", "rows", "--columns", "n,median")
    table = [line.split() for line in shown.out.splitlines()[2:5]]
    assert table == [
        ["STEP", "METRIC", "N", "MEDIAN"],
        ["1", "first", "latency_p99_s", "6", "125.0", "ms"],
        ["1", "first", "rows", "6", "5"],
    ]


def test_stats_in_json_and_markdown_has_the_chosen_metrics(case: Path, cli: Cli) -> None:
    document = json.loads(cli("stats", case, "--json", "--metric", "rows").out)
    [step] = document["cases"][0]["summary"]["steps"]
    assert list(step["metrics"]) == ["rows"]
    made = cli("stats", case, "--markdown", "--columns", "n,median,interval").out
    assert "**case**" in made
    assert "| 1 | first | 6 | 1.25 s | 250.0 ms |" in made
