"""``benchyard profile``: what is in traces, and in what they differ."""

import csv
import json
from pathlib import Path

import pytest

from tests.benchyard.catalogue.formats.samples import SAMPLES
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process


def write(folder: Path, name: str, time: int) -> Path:
    events = [
        {"ph": "X", "name": "main", "pid": 1, "tid": 2, "ts": 0, "dur": 5_000},
        {"ph": "X", "name": "load", "pid": 1, "tid": 2, "ts": 10, "dur": time},
        {"ph": "C", "name": "memory", "pid": 1, "tid": 2, "ts": 10, "args": {"B": 7}},
        {"ph": "X", "name": "broken", "pid": 1, "tid": 2, "ts": 10, "dur": -1},
    ]
    file = folder / name
    file.write_text(json.dumps(events))
    return file


@pytest.fixture
def sides(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    old = [write(tmp_path, f"old-{one}.json", 1_000 + one) for one in range(12)]
    return old, [write(tmp_path, f"new-{one}.json", 1_500 + one) for one in range(12)]


def test_names_tracks_counters_and_losses_are_shown(tmp_path: Path, cli: Cli) -> None:
    said = cli("profile", write(tmp_path, "t.json", 1_000), "--limit", "1")
    heading, first, *_ = said.out.splitlines()
    assert heading.split()[:4] == ["NAME", "COUNT", "TOTAL", "SELF"]
    assert first.split()[:5] == ["main", "1", "5.0", "ms", "4.0"]
    assert "and 1 name more; --limit 2 shows all" in said.out
    assert "memory" in said.out
    assert "warning: 1 times: dur is negative" in said.err


def test_other_values_of_a_file_are_named(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "c.out").write_bytes(SAMPLES["callgrind"][1])
    said = cli("profile", tmp_path / "c.out")
    assert "140 Ir" in said.out
    assert said.err == "--type shows other values: Dr\n"
    said = cli("profile", tmp_path / "c.out", "--type", "Dr")
    assert "4 Dr" in said.out
    assert said.err == "--type shows other values: Ir\n"


def test_everything_comes_as_json_and_csv(tmp_path: Path, cli: Cli) -> None:
    file = write(tmp_path, "t.json", 1_000)
    document = json.loads(cli("profile", file, "--json").out)
    assert document["span_ns"] == 5_000_000
    assert document["rows"][0] | {"names": ["main"], "self_ns": 4_000_000} == document["rows"][0]
    assert document["losses"][0]["count"] == 1
    paths = json.loads(cli("profile", file, "--json", "--paths").out)["rows"]
    assert [row["names"] for row in paths] == [["main"], ["main", "load"]]
    rows = [*csv.DictReader(cli("profile", file, "--csv", "--paths").out.splitlines())]
    assert [row["name"] for row in rows] == ["main", "main > load"]
    assert rows[1]["total_ns"] == "1000000"


def test_two_sides_are_compared_and_drawn(
    sides: tuple[list[Path], list[Path]], cli: Cli, tmp_path: Path
) -> None:
    old, new = sides
    flame = tmp_path / "d.svg"
    said = cli("profile", *old, "--candidate", *new, "-o", flame)
    first = said.out.splitlines()[3]
    assert first.split()[:2] == ["load", "self"]
    assert first.endswith("slower")
    assert "2 names: 1 slower, 1 faster by self time" in said.out
    assert flame.read_text().startswith("<svg")
    document = json.loads(cli("profile", *old, "--json", "--candidate", *new).out)
    found = {(*one["names"], one["measure"]): one for one in document["differences"]}
    assert found["load", "self"]["difference"] == pytest.approx(5e-4)
    assert found["load", "self"]["verdict"] == "regression"
    assert found["load", "count"]["verdict"] == "no change shown"
    assert "load" in cli("profile", *old, "--candidate", *new, "--csv").out
    assert "cannot tell: so few traces" in cli("profile", old[0], "--candidate", new[0]).out


@pytest.mark.slow
def test_a_case_stands_for_its_runs_and_shows_its_critical_path(
    case_folder: MakeCase, run_here: Cli
) -> None:
    case = case_folder("words", process("sort", "sleep 0.05"), process("count", "sleep 0.01"))
    run = ("run", case, "--direct", "--runs", "2", "--cooldown", "0", "--interval", "0.05")
    run_here(*run)
    ended = run_here("profile", case)
    assert "sort > attempt 1 > measured" in ended.out
    assert "CRITICAL PATH" in ended.out
    document = json.loads(run_here("profile", case, "--json").out)
    assert [one["step"] for one in document["critical_path"]] == ["sort", "count"]
    both = run_here("profile", case, "--candidate", case)
    assert "baseline 2 traces, candidate 2" in both.out
    assert "critical share" in run_here("profile", case, "--candidate", case, "--csv").out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--json", "--csv"], "--json writes to stdout already"),
        (["--limit", "0"], "range"),
        (["-o", "x.gif"], "must end in .svg or .png"),
        (["--candidate", "nothing"], "no case is 'nothing'"),
        (["--candidate"], "requires an argument"),
    ],
)
def test_what_makes_no_sense_is_said(tmp_path: Path, cli: Cli, more: list[str], said: str) -> None:
    assert said in cli("profile", write(tmp_path, "t.json", 1), *more, code=2).err
