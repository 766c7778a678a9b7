"""``benchyard import``: files of other tools become campaigns, on which all else works."""

import csv
import json
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.catalogue.formats.samples import SAMPLES, write
from tests.benchyard.cli.conftest import Cli

BEGIN = datetime(2026, 10, 1, tzinfo=UTC)


def nights(folder: Path, count: int, slower_from: int = 10_000) -> Path:
    """Write a file of pytest-benchmark for each night, two benchmarks with five rounds each."""
    chance = random.Random(1)  # noqa: S311 - not a secret
    folder.mkdir()
    for night in range(count):
        benchmarks: list[dict[str, Any]] = []
        for name in ("test_load", "test_sort"):
            level = -3 + 0.06 * (name == "test_sort" and night >= slower_from)
            data = [chance.lognormvariate(level, 0.01) for _ in range(5)]
            benchmarks.append({"name": name, "fullname": name, "stats": {"data": data}})
        machine = {"node": "ci", "python_implementation": "CPython"}
        document = {
            "machine_info": machine,
            "commit_info": {"id": f"{night:040x}"},
            "benchmarks": benchmarks,
            "datetime": (BEGIN + timedelta(night)).isoformat(),
        }
        (folder / f"{night:04d}.json").write_text(json.dumps(document))
    return folder


def test_files_become_campaigns_with_a_history(tmp_path: Path, run_here: Cli) -> None:
    nights(tmp_path / "ci", 30, slower_from=20)
    said = run_here("import", "--case", "api", "ci").out.splitlines()
    assert said[1].split() == ["api", "30", "30", "30", "api/results"]
    again = json.loads(run_here("import", "--case", "api", "ci", "--json").out)
    assert again["cases"][0] | {"results": ""} == {
        "case": "api",
        "results": "",
        "files": 30,
        "campaigns": 30,
        "added": 0,
        "left_out": [],
    }
    told = json.loads(run_here("history", "api", "--json").out)
    moved = [item for item in told["changes"] if item["open"]]
    assert [one["step"] for item in moved for one in item["moves"]] == ["test_sort"]
    assert moved[0]["moves"][0]["campaigns"] == 10
    assert run_here("check", "api", code=None).out
    listed = run_here("stats", "api").out
    assert "test_load" in listed


def test_rounds_of_one_process_are_repetitions_of_one_run(tmp_path: Path, run_here: Cli) -> None:
    nights(tmp_path / "ci", 1)
    run_here("import", "--case", "api", "ci/0000.json")
    record = json.loads((tmp_path / "api/results/run_1/run.json").read_bytes())
    assert not (tmp_path / "api/results/run_2").exists()
    [load, _] = record["steps"]
    assert (load["name"], len(load["attempts"][0]["repetitions"])) == ("test_load", 5)
    assert record["environment"] == {"host": "ci"}
    run_here("export", "api", "-o", "all.csv")
    rows = csv.DictReader((tmp_path / "all.csv").read_text().splitlines())
    assert {row["host_quality"] for row in rows} == {"unknown"}
    assert record["subject"]["repositories"] == {
        "repository": {"commit": f"{0:040x}", "changes": "none"}
    }


def test_a_case_is_named_after_the_format_and_results_may_be_elsewhere(
    tmp_path: Path, run_here: Cli
) -> None:
    write(tmp_path, *SAMPLES["hyperfine"])
    run_here("import", SAMPLES["hyperfine"][0], "--results", "kept")
    assert (tmp_path / "kept/hyperfine/run_2/run.json").exists()


def test_a_damaged_file_is_told_and_the_rest_is_taken(tmp_path: Path, run_here: Cli) -> None:
    folder = nights(tmp_path / "ci", 3)
    whole = (folder / "0001.json").read_bytes()
    (folder / "0001.json").write_bytes(whole[: len(whole) // 2])
    (folder / "notes.json").write_text('{"a": 1}')
    (folder / "0003.json").write_bytes(b"\xef\xbb\xbf" + whole.replace(b"10-02T", b"10-20T"))
    (folder / "0004.json").write_bytes(
        whole.replace(b"10-02T", b"10-21T").decode().encode("utf-16")
    )
    said = run_here("import", "--case", "api", "ci", code=2)
    assert said.out.splitlines()[1].split()[:4] == ["api", "4", "4", "4"]
    assert "left out: ci/0001.json: it is no JSON" in said.err


def test_a_copy_of_a_file_is_the_same_campaign_though_it_tells_no_time(
    tmp_path: Path, run_here: Cli
) -> None:
    write(tmp_path, *SAMPLES["hyperfine"])
    run_here("import", SAMPLES["hyperfine"][0])
    os.utime(tmp_path / SAMPLES["hyperfine"][0], (1e9, 1e9))
    again = run_here("import", SAMPLES["hyperfine"][0], "--json").out
    assert json.loads(again)["cases"][0]["added"] == 0


def test_what_has_no_time_or_no_format_is_told(tmp_path: Path, run_here: Cli) -> None:
    write(tmp_path, "size.json", b'{"wheel": {"file-size": {"value": 12}}}')
    said = run_here("import", "size.json", "--case", "w")
    assert "left out: size.json: 1 benchmark without a time, such as wheel" in said.err
    write(tmp_path, "other.json", b'{"a": 1}')
    assert "is of no known format" in run_here("import", "other.json", code=2).err


def test_repeated_keys_are_named_and_the_last_values_count(tmp_path: Path, run_here: Cli) -> None:
    one = b'{"results": [{"command": "sort", "mean": 1.0, "mean": 2.0, "times": [2.0]}]}'
    write(tmp_path, "one.json", one)
    said = run_here("import", "one.json", "--case", "sort").err
    assert "left out: one.json: all but the last values of repeated keys: mean" in said
    write(tmp_path, "two.json", one)
    found = run_here("compare", "one.json", "two.json", "--json", code=None)
    assert "one.json repeats keys, whose last values count: mean" in found.err
    assert json.loads(found.out)["comparisons"][0]["baseline"]["values"] == [2.0]


def test_folders_of_files_are_sides(tmp_path: Path, run_here: Cli) -> None:
    for name, level in (("main", 1.0), ("pr", 1.5)):
        (tmp_path / name).mkdir()
        for process in range(6):
            stats = {"data": [level * (1 + process / 1000), level * 1.1]}
            document = {"benchmarks": [{"name": "test_sort", "stats": stats}]}
            (tmp_path / name / f"{process}.json").write_text(json.dumps(document))
    found = json.loads(run_here("compare", "main", "pr", "--json", code=3).out)
    [row] = found["comparisons"]
    assert (row["step"], row["verdict"]) == ("test_sort", "regression")
    assert len(row["candidate"]["values"]) == 6


def test_a_folder_of_several_commits_is_its_newest(tmp_path: Path, run_here: Cli) -> None:
    nights(tmp_path / "ci", 3)
    found = json.loads(run_here("compare", "ci", "ci/0002.json", "--json", code=None).out)
    assert [row["ratio"] for row in found["comparisons"]] == [1.0, 1.0]


def test_a_file_is_checked_against_another(tmp_path: Path, run_here: Cli) -> None:
    for name, level in (("old", 1.0), ("new", 1.5)):
        times = [level * (1 + place / 1000) for place in range(8)]
        document = {"results": [{"command": "sort", "mean": level, "times": times}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert "slower" in run_here("check", "new.json", "--against", "old.json", code=3).out


def test_a_csv_is_taken_by_its_columns(tmp_path: Path, run_here: Cli) -> None:
    lines = ["commit,day,query,ms"]
    lines += [f"{n:010x},{BEGIN + timedelta(n):%Y-%m-%d}T00:00:00Z,q1,{12 + n}" for n in range(3)]
    (tmp_path / "times.csv").write_text("\n".join(lines))
    told = "name=query,value=ms,unit=ms,commit=commit,time=day"
    said = run_here("import", "times.csv", "--case", "q", "--columns", told)
    assert said.out.splitlines()[1].split()[:4] == ["q", "1", "3", "3"]
    [series] = json.loads(run_here("history", "q", "--json").out)["entries"]
    assert [point["value"] for point in series["points"]] == [0.012, 0.013, 0.014]
    assert "nme" in run_here("import", "times.csv", "--columns", "nme=query,value=ms", code=2).err


@pytest.mark.parametrize("name", ["google-benchmark", "pyperf", "asv", "bencher"])
def test_each_tool_has_a_history(tmp_path: Path, run_here: Cli, name: str) -> None:
    write(tmp_path, *SAMPLES[name])
    run_here("import", SAMPLES[name][0], code=None)
    assert name in run_here("history", "--root", ".").out
