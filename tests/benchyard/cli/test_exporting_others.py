"""``benchyard export --as``, and files of other tools as what is exported."""

import csv
import json
from pathlib import Path

import pytest

from tests.benchyard.catalogue.formats.samples import HYPERFINE, SAMPLES, write
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.cli.test_exporting import case
from tests.benchyard.cli.test_stats import STEP, record
from tests.conftest import MakeCase

__all__ = ["case"]

NAMES = (
    *("asv", "bencher", "conbench", "github-action-custom", "google-benchmark"),
    *("hyperfine", "openmetrics", "pytest-benchmark"),
)


def test_runs_become_times_of_hyperfine_and_the_rest_is_told(case: Path, cli: Cli) -> None:
    said = cli("export", case, "--as", "hyperfine")
    [result] = json.loads(said.out)["results"]
    assert (result["command"], result["times"]) == ("first", [1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    assert said.err.splitlines() == [
        "first: 1 of 7 runs suspect, and left out",
        "hyperfine has no place for latency_p99_s",
    ]
    included = cli("export", case, "--as", "hyperfine", "--suspect", "include")
    assert json.loads(included.out)["results"][0]["times"][-1] == 9.0


def test_metrics_are_chosen_by_globs(case: Path, cli: Cli) -> None:
    made = json.loads(cli("export", case, "--as", "bencher").out)
    assert set(made["first"]) == {"latency", "latency_p99_s"}
    made = json.loads(cli("export", case, "--as", "bencher", "--metric", "ro*").out)
    assert set(made["first"]) == {"latency", "rows"}


def test_cases_with_steps_of_one_name_are_told_apart(
    case: Path, case_folder: MakeCase, cli: Cli
) -> None:
    other = case_folder("other", {**STEP, "name": "first"})
    record(other, 1, 3.0)
    made = json.loads(cli("export", case, other, "--as", "bencher").out)
    assert [made[name]["latency"]["value"] for name in ("first", "first (again)")] == [1.25e9, 3e9]


def test_a_file_is_written_and_none_is_where_it_cannot_be(
    case: Path, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "made.prom"
    cli("export", case, "--as", "openmetrics", "-o", file)
    assert file.read_text().endswith("# EOF\n")
    said = cli("export", case, "--as", "asv", "-o", tmp_path / "made.json", code=2)
    assert "of a commit, and none is known" in said.err
    assert not (tmp_path / "made.json").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--as", "hyperfin"], "did you mean 'hyperfine'?"),
        (["--as", "hyperfine", "--summary"], "--as writes no tables"),
        (["--as", "hyperfine", "--latex"], "--as writes no tables"),
        (["-o", "made.json"], "--as NAME writes others"),
    ],
)
def test_wrong_input_is_one_sentence(
    case: Path, cli: Cli, options: list[str], expected: str
) -> None:
    assert expected in cli("export", case, *options, code=2).err


def test_the_help_names_each_form(cli: Cli) -> None:
    said = "".join(cli("export", "--help").out.split())
    assert all(name in said for name in NAMES)


# -- files of other tools


def sample(folder: Path, name: str) -> Path:
    return write(folder, *SAMPLES[name])


def test_a_file_of_another_tool_becomes_rows(tmp_path: Path, cli: Cli) -> None:
    file = sample(tmp_path, "hyperfine")
    found = list(csv.DictReader(cli("export", file, "--csv").out.splitlines()))
    times = [row for row in found if row["metric"] == "duration_s"]
    assert [(row["case"], row["step_name"], row["value"]) for row in times] == [
        ("hyperfine.json", "sleep {n}[n=1]", "0.1"),
        ("hyperfine.json", "sleep {n}[n=1]", "0.3"),
    ]
    both = cli("export", file, sample(tmp_path, "pyperf"), "--columns", "case,metric,value").out
    assert {line.split(",")[0] for line in both.splitlines()[1:]} == {
        "hyperfine.json",
        "pyperf.json.gz",
    }
    assert "sleep" in cli("export", file, "--markdown").out
    said = cli("export", file, "-o", tmp_path / "made.xlsx").err
    assert "no sheet of comparisons: benchyard compare judges files" in said


def test_a_file_becomes_that_of_a_third_tool(tmp_path: Path, cli: Cli) -> None:
    google = sample(tmp_path, "google-benchmark")
    said = cli("export", google, "--as", "hyperfine")
    [result] = json.loads(said.out)["results"]
    assert (result["command"], result["times"]) == ("BM_a/8", [12.5e-6, 13.5e-6])
    assert "no place for cpu, bytes_per_second, hits, wall of BM_bad" in said.err
    same = json.loads(cli("export", sample(tmp_path, "hyperfine"), "--as", "hyperfine").out)
    [before], [after] = HYPERFINE["results"], same["results"]
    for name in ("command", "times", "mean", "user", "memory_usage_byte", "parameters"):
        assert after[name] == before[name]


def test_a_file_is_converted_alone_and_whole(case: Path, tmp_path: Path, cli: Cli) -> None:
    file = sample(tmp_path, "hyperfine")
    for more in ([case], ["--metric", "user"]):
        assert "alone" in cli("export", file, *more, "--as", "bencher", code=2).err
    broken = write(tmp_path, "broken.json", b'{"results": [{"command": "x", "mean": "y"}]}')
    assert "another shape" in cli("export", broken, "--as", "bencher", code=2).err


@pytest.mark.slow
def test_a_real_run_in_every_form(
    run_here: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONBENCH_PROJECT_REPOSITORY", "org/repo")
    run_here("new", "mine", "--from-command", "sleep 0.01")
    run_here("run", "mine", "--runs", "2", "--cooldown", "0", "--direct", code=None)
    for name in NAMES:
        file = tmp_path / f"made-{name}.json"
        said = run_here("export", "mine", "--as", name, "-o", file, code=None)
        assert file.exists() or "of a commit" in said.err
        assert not file.exists() or "sleep 0.01" in file.read_text()
    [result] = json.loads((tmp_path / "made-hyperfine.json").read_text())["results"]
    assert len(result["times"]) == 2
    assert result["user"] is not None
    compared = run_here("compare", "made-hyperfine.json", "made-google-benchmark.json")
    assert "sleep 0.01" in compared.out
