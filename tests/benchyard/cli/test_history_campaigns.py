"""``benchyard history``: what cases measured, campaign by campaign, and since when."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.analysis.comparison.conftest import place, run, step, titled
from tests.benchyard.analysis.comparison.test_sessions import campaign, history
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.cli.test_checking import moved


def shown(cli: Cli, *arguments: object) -> list[str]:
    said = cli("history", *arguments)
    assert said.err == ""
    return said.out.splitlines()


def document_of(cli: Cli, *arguments: object) -> dict[str, Any]:
    return json.loads("\n".join(shown(cli, *arguments, "--json")), parse_constant=pytest.fail)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Return a folder with a case that moved, one that is steady, and points with few campaigns."""
    moved(tmp_path / "moved" / "results", **titled("moved"))
    history(tmp_path / "steady" / "results", 12, 0.005, 1, **titled("steady"))
    for threads in (10, 2):
        title = f"few[threads={threads}]"
        facts = titled(title, point={"threads": threads})
        history(tmp_path / "few" / "results" / f"threads={threads}", 2, 0.005, 1, **facts)
    return tmp_path


def test_cases_are_listed_with_their_state(cases: Path, cli: Cli) -> None:
    head, *rows, last = shown(cli, "--root", cases)
    assert head.split() == ["CASE", "CAMPAIGNS", "LAST", "STATE"]
    overdue = re.compile(r", not measured for \d+ nights$")
    assert overdue.search(rows[0])
    told = {row.split()[0]: overdue.sub("", row).split(maxsplit=3)[1:] for row in rows}
    assert list(told) == ["few[threads=2]", "few[threads=10]", "moved", "steady"]
    assert told["few[threads=2]"][2] == "3 campaigns: 7 more campaigns can show a change of level"
    assert told["moved"][0] == "31"
    assert told["moved"][2].startswith("duration_s of Load +9.")
    assert told["moved"][2].endswith("campaigns); open")
    assert told["steady"][2].startswith("steady over 13 campaigns since 2026-11-01 00:08:00")
    assert last == "benchyard annotate accepts what is open"
    few, _, one, _ = document_of(cli, "--root", cases, "--limit", "20")["tests"]
    assert (one["starts"], one["complete"], one["open"]) == (20, False, 1)
    assert (few["starts"], few["complete"], few["open"]) == (3, True, 0)


def test_a_case_says_since_when_what_check_says(cases: Path, cli: Cli) -> None:
    case = cases / "moved" / "results"
    _, told, accepting, head, row = shown(cli, case)
    assert told in cli("check", case).out
    assert told.endswith("; open")
    assert accepting == "benchyard annotate accepts what is open"
    assert head.split()[:4] == ["STEP", "N", "LAST", "LEVEL"]
    assert row.startswith("Load  31  1.1")
    cli("annotate", case, "--reason", "new compiler", "--who", "Ada")
    assert shown(cli, case)[1].endswith("; accepted by Ada: new compiler")
    [change] = document_of(cli, case)["changes"]
    [checked] = json.loads(cli("check", case, "--json").out)["changes"]
    [move], [other] = (one.pop("moves") for one in (change, checked))
    assert change == checked
    assert {**move, "ratio": 0, "campaigns_a_false_one": 0} == {
        **other,
        "ratio": 0,
        "campaigns_a_false_one": 0,
    }


def test_a_step_lists_each_campaign_with_its_interval(cases: Path, cli: Cli) -> None:
    case = cases / "moved" / "results"
    lines = shown(cli, case, "load")
    assert lines[0].endswith("  load  on bench1")
    _, head, *rows = lines[5:]
    assert len(rows) == 31
    assert head.split() == ["STARTED", "RUNS", "WALL", "TIME", "95", "%", "INTERVAL", "NOTE"]
    assert [row for row in rows if "new level: +9." in row] == [rows[-11]]
    assert rows[0].split()[1:3] == ["8", "994.9"]
    newest = shown(cli, case, "Load", "--newest-first", "--limit", "3")[6:9]
    assert [row.split() for row in newest] == [row.split() for row in rows[:-4:-1]]


def test_json_has_levels_and_points(cases: Path, cli: Cli) -> None:
    found = document_of(cli, cases / "moved" / "results", "load")
    assert found | {"version": 3, "sink": None, "limit": None} == found
    [entry] = found["entries"]
    known = {"test": "moved", "entry": "Load", "step": "load", "metric": "duration_s", "unit": "s"}
    assert entry | known | {"n": 31, "hosts": ["bench1"]} == entry
    before, now = entry["levels"]
    assert before["campaigns"] + now["campaigns"] == 31
    assert before["low"] <= before["value"] <= before["high"] < now["low"]
    assert entry["points"][0]["runs"] == 8


def test_points_of_a_matrix_are_in_one_table_in_order(cases: Path, cli: Cli) -> None:
    lines = shown(cli, cases / "few" / "results")
    assert [line.split()[0] for line in lines[2:]] == ["CASE", "few[threads=2]", "few[threads=10]"]
    lines = shown(cli, cases / "few" / "results", "load")
    assert "few[threads=2] Load" in lines
    drawn = cases / "a.svg"
    shown(cli, cases / "few" / "results", "-o", drawn)
    assert ">few[threads=10] Load</text>" in drawn.read_text()


def test_other_metrics_have_a_history(tmp_path: Path, cli: Cli) -> None:
    case = place(tmp_path / "case", campaign(*[7.0] * 6, metric="rows", **titled("c")))
    assert shown(cli, case, "--metric", "rows")[-1].split()[:4] == ["Load", "rows", "1", "7"]
    assert [one["metric"] for one in document_of(cli, case, "--metric", "all")["entries"]] == [
        *("duration_s", "rows")
    ]
    said = cli("history", case, "--metric", "row", code=2).err
    assert "no step has a metric 'row'; did you mean 'rows'?" in said


def test_a_window_limits_what_is_read(cases: Path, cli: Cli) -> None:
    case = cases / "steady" / "results"
    assert shown(cli, case, "--limit", "4")[-1] == (
        "only the newest 4 were looked at; --limit 0 takes all"
    )
    [entry] = document_of(cli, case, "--since", "2026-11-10")["entries"]
    assert entry["n"] == 4
    for words in ((case,), (case, "load")):
        told = shown(cli, *words, "--since", "2027-11-10")[1:]
        assert told == ["nothing was measured in this time"]
    assert (
        "nothing to draw"
        in cli(*("history", case, "--since", "2027-11-10", "-o", cases / "a.svg"), code=2).err
    )


def test_hosts_have_series_of_their_own(tmp_path: Path, cli: Cli) -> None:
    case = history(tmp_path / "case", 20, 0.005, 1)
    for number, folder in enumerate(sorted((case / "earlier").iterdir())):
        if number % 2:
            shutil.rmtree(folder)
            other = {"host": "bench2", "digest": "c" * 64}
            place(folder, campaign(*[3.0] * 6, at_h=24 * number, subject=other))
    lines = shown(cli, case)
    assert lines[1].startswith("steady")
    assert [line.split()[:3] for line in lines[-2:]] == [
        *(["Load", "bench1", "11"], ["Load", "bench2", "10"])
    ]
    assert document_of(cli, case, "--machine", "bench2")["entries"][0]["last"] == 3.0
    pooled = shown(cli, case, "--all-machines")
    assert pooled[-1].split()[:4] == ["Load", "bench1,", "bench2", "21"]
    assert len(pooled) == 3
    said = cli("history", case, "--machine", "bench3", code=2).err
    assert "was measured on 'bench3'; did you mean 'bench1'?" in said


def test_a_campaign_of_mostly_suspect_runs_is_shown_and_does_not_count(
    tmp_path: Path, cli: Cli
) -> None:
    case = history(tmp_path / "case", 11, 0.005, 1)
    shutil.rmtree(case / "run_1")
    for number in range(2, 9):
        shutil.rmtree(case / f"run_{number}")
    doubted = step(9.0, suspect=["the host swapped"])
    place(case, [run(n, doubted, started_at=f"2026-11-20T00:0{n}:00Z") for n in (1, 2, 3)])
    assert shown(cli, case)[1].startswith("steady over 11 campaigns")
    rows = shown(cli, case, "load")
    assert rows[3].split()[:3] == ["Load", "12", "1"]
    assert rows[-1].endswith("suspect: 3 of 3 runs suspect")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mooved"], "'mooved' is no folder, and no case below"),
        (["moved/results", "lod"], "no step of 'moved' is 'lod'; did you mean 'load'?"),
        (["nothing"], "nothing: no finished run with a record (run.json)"),
        (["--plot", "a.png"], "--output draws a CASE, or one STEP of it; name one"),
    ],
)
def test_wrong_input(cases: Path, cli: Cli, arguments: list[str], said: str) -> None:
    (cases / "nothing").mkdir()
    ended = cli("history", *arguments, code=2, cwd=cases)
    assert ended.out == ""
    assert said in ended.err


def test_an_empty_root_says_what_to_do(tmp_path: Path, cli: Cli) -> None:
    assert "benchyard run makes" in cli("history", "--root", tmp_path, code=2).err


def test_results_elsewhere_are_listed(cases: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "root").mkdir()
    lines = shown(cli, "--root", tmp_path / "root", "--results", cases)
    assert len(lines) == 6
