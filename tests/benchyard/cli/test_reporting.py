"""``benchyard report``."""

import json
from pathlib import Path

import pytest

from benchyard.results.record import read_record
from tests.benchyard.analysis.comparison.conftest import BASE, place, run, runs, step, titled
from tests.benchyard.cli.conftest import Cli

SLOWER = [2 * value for value in BASE]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return place(tmp_path / "old", runs(*BASE))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return place(tmp_path / "new", runs(*SLOWER))


def test_it_writes_a_file_that_is_named_by_the_case(
    old: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old.parent)
    out = cli("report", "old").out
    assert out.splitlines()[0] == "8 finished runs of 1 step; nothing left out; nothing suspect"
    assert "tpch-report.html: 8 runs" in out
    html = (tmp_path / "tpch-report.html").read_text()
    assert "<code>benchyard report old</code>" in html


def test_a_comparison_exits_as_compare_does(old: Path, new: Path, cli: Cli) -> None:
    file = old.parent / "r.html"
    told = json.loads(cli("report", old, new, "-o", file, "--title", "Both", "--json").out)
    assert told["bytes"] == file.stat().st_size
    assert (told["runs"], told["pictures"], told["pictures_left_out"]) == (16, 6, 0)
    assert "<h1>Both</h1>" in file.read_text()
    out = cli("report", "--compare", old, new, "-o", file, code=3).out
    assert out.startswith("1 regression; 1 comparison")
    assert "1 improvement" in cli("report", old, new, "--reference", new, "-o", file).out
    wide = cli("report", old, new, "--against", "previous", "--threshold", "150%", "-o", file).out
    assert wide.startswith("0 regressions")
    assert "--against previous --threshold 150%" in file.read_text()


def test_one_alone_is_compared_with_the_campaign_before(tmp_path: Path, cli: Cli) -> None:
    results = place(tmp_path / "results", runs(*SLOWER))
    said = cli("report", "--compare", results, code=2).err
    assert "no earlier campaign to compare with" in said
    place(results / "earlier" / "20260101T010000Z-0123456789ab", runs(*BASE))
    cli("report", "--compare", results, "-o", tmp_path / "r.html", code=3)
    html = (tmp_path / "r.html").read_text()
    assert f"{results} against {results} before" in html


def test_it_goes_back_into_results(old: Path, new: Path, cli: Cli, tmp_path: Path) -> None:
    file, folder = tmp_path / "r.html", tmp_path / "back"
    cli("report", "--compare", old, new, "-o", file, code=3)
    out = cli("report", file, "--extract", folder).out
    assert out.count("tpch: 8 runs in") == 2
    one, other = sorted(folder.iterdir())
    both = {read_record(place / "tpch" / "run_3").steps[0].durations_s[0] for place in (one, other)}
    assert both == {BASE[2], SLOWER[2]}
    assert "8 completed" in cli("stats", one).out
    cli("compare", file, code=3)


def test_names_in_a_report_lead_nowhere_else(tmp_path: Path, cli: Cli) -> None:
    evil = titled("../../evil", point={"x": "../../../y"})
    results = place(tmp_path / "results", runs(*BASE, **evil))
    cli("report", results, "-o", tmp_path / "r.html")
    cli("report", tmp_path / "r.html", "--extract", tmp_path / "a" / "b" / "c")
    [folder] = (tmp_path / "a" / "b" / "c").iterdir()
    assert folder.name.startswith("-..-evil~")
    assert [one.name for one in (tmp_path / "a" / "b").iterdir()] == ["c"]


def test_kept_metrics_are_those_of_the_data(cli: Cli, tmp_path: Path) -> None:
    records = [run(n, step(1.0 + n, used={"resource_cpu_s": 1.0 * n})) for n in range(1, 7)]
    results = place(tmp_path / "results", records)
    cli("report", results, "-o", tmp_path / "r.html", "--data", "duration_s")
    cli("report", tmp_path / "r.html", "--extract", tmp_path / "back")
    [made] = read_record(tmp_path / "back" / "tpch" / "run_1").steps[0].measured
    assert (made.duration_s, made.used) == (2.0, {})


def test_what_is_there_and_foreign_stays(old: Path, cli: Cli, tmp_path: Path) -> None:
    cli("report", old, "-o", tmp_path / "r.html")
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "mine.txt").write_text("mine")
    said = cli("report", tmp_path / "r.html", "--extract", tmp_path / "back", code=2).err
    assert "something is there already" in said
    assert [one.name for one in (tmp_path / "back").iterdir()] == ["mine.txt"]


def test_a_changed_report_is_refused(old: Path, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    cli("report", old, "-o", file)
    file.write_text(file.read_text().replace('"done":true', '"done":false', 1))
    for command in (("compare", file, old), ("report", file, "--extract", tmp_path / "back")):
        assert "do not match their digest" in cli(*command, code=2).err
    assert not (tmp_path / "back").exists()


def test_wrong_input_is_a_sentence(old: Path, cli: Cli, tmp_path: Path) -> None:
    assert "it must end in .html" in cli("report", old, "-o", tmp_path / "r.txt", code=2).err
    assert "no case below" in cli("report", "nothing", code=2).err
    assert "takes one report" in cli("report", old, "--extract", tmp_path / "x", code=2).err
    assert "does not lie between" in cli("report", old, "--level", "0%", code=2).err
    said = cli("report", old, "--metric", "nonsense", "-o", tmp_path / "r.html", code=2).err
    assert "no metric is 'nonsense'" in said
    assert not (tmp_path / "r.html").exists()
