"""``benchyard plot``."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchyard.core.model import Json, point_suffix
from tests.benchyard.analysis.comparison.conftest import place, run, runs, step
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.cli.test_stats import krown
from tests.benchyard.show.curves.conftest import MakeRun, host_rows
from tests.conftest import MakeCase, process

SIX = (1.0, 1.1, 0.9, 1.05, 0.95, 1.02)
TEXT = "{http://www.w3.org/2000/svg}text"


def texts(file: Path) -> set[str]:
    return {text.text or "" for text in ET.parse(file).iter(TEXT)}  # noqa: S314 - our own


def about(**point: Json) -> dict[str, Any]:
    return {"case": {"name": "sorts", "title": "sorts" + point_suffix(point), "point": point}}


@pytest.fixture
def sorts(case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make a case with a matrix, and six runs of each of its points."""
    monkeypatch.chdir(tmp_path)
    folder = case_folder("sorts", process("load", "true"), matrix={"n": [1, 2]})
    for n in (1, 2):
        place(folder / "results" / f"n={n}", runs(*SIX, **about(n=n)))
    return folder


# -- results


def test_points_of_a_matrix_are_lines(sorts: Path, cli: Cli, tmp_path: Path) -> None:
    said = cli("plot", sorts).out
    assert "lines: sorts-Load-lines.svg\nPoints: medians of 6 runs; bars: their 95 %" in said
    assert b"<svg" in (tmp_path / "sorts-Load-lines.svg").read_bytes()
    said = cli("plot", sorts, "-o", "x.svg", "--out", "y.pdf", "--paper", "column").out
    assert "lines: x.svg\nlines: y.pdf\n" in said
    assert (tmp_path / "y.pdf").read_bytes().startswith(b"%PDF")
    assert "sorts, Load" not in texts(tmp_path / "x.svg")


def test_several_metrics_share_a_picture(cli: Cli, tmp_path: Path) -> None:
    place(tmp_path / "r", [run(n, step(d, used={"b_s": 2.0})) for n, d in enumerate(SIX, 1)])
    to = "-o", tmp_path / "x.svg"
    said = cli("plot", tmp_path / "r", "--metric", "duration_s", "--metric", "b_*", *to).out
    assert {"time", "b_s", "2 s"} <= texts(tmp_path / "x.svg")
    assert said.count("Points: medians of 6 runs") == 1
    (tmp_path / "benchyard.toml").write_text('[plot]\nmetric = "b_s"\n')
    cli("--config", tmp_path / "benchyard.toml", "plot", tmp_path / "r", *to)
    assert "b_s" in texts(tmp_path / "x.svg")
    assert "time" not in texts(tmp_path / "x.svg")


def test_json_has_files_and_sentences(sorts: Path, cli: Cli, make_run: MakeRun) -> None:
    told = json.loads(cli("plot", sorts, "--json").out)
    assert (told["shows"], told["files"]) == ("lines", ["sorts-Load-lines.svg"])
    assert "Points: medians of 6 runs" in told["caption"][0]
    assert told["notes"] == []
    folder = make_run(host_rows(5, cpu_user_system=1.0), length=5.0)
    told = json.loads(cli("plot", folder, "--json", "-o", "x.svg").out)
    assert (told["shows"], told["files"]) == ("run 1", ["x.svg"])
    assert "writes to stdout already" in cli("plot", sorts, "--json", "-o", "-", code=2).err


def test_all_cases_below_the_root_are_drawn(sorts: Path, cli: Cli, tmp_path: Path) -> None:
    cli("plot", "--root", sorts.parent, "--kind", "bars", "-o", "x.svg")
    assert {"n=1", "n=2"} <= texts(tmp_path / "x.svg")


def test_results_elsewhere_are_found(sorts: Path, cli: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (sorts / "results").rename(elsewhere / "sorts")
    cli("plot", "sorts", "--root", sorts.parent, "--results", elsewhere, "-o", "x.svg")
    assert "n" in texts(tmp_path / "x.svg")


def test_some_runs_of_one_folder_are_held_against_others(
    sorts: Path, cli: Cli, tmp_path: Path
) -> None:
    results = sorts / "results" / "n=1"
    cli("plot", f"{results}@1-3", f"{results}@4-6", "--kind", "strips", "-o", "x.svg")
    assert "Dots: 3 runs, the first at the top; lines: medians." in texts(tmp_path / "x.svg")
    cli("plot", f"{sorts}[n=1]", results, "-o", "x.svg")
    assert "sorts[n=1]" in texts(tmp_path / "x.svg"), "the same runs are drawn once"


def test_a_case_without_runs_is_named(sorts: Path, cli: Cli, case_folder: MakeCase) -> None:
    idle = case_folder("idle", process("load", "true"))
    said = cli("plot", "idle", "sorts", "--root", sorts.parent, "-o", "x.svg").out
    assert "No finished run: idle." in said
    assert "no finished run" in cli("plot", idle, code=2).err
    said = cli("plot", "idle", "--root", sorts.parent, code=2).err
    assert "there is no run of idle yet; benchyard run makes them" in said


def test_what_is_suspect_is_drawn_unless_it_is_to_be_left_out(cli: Cli, tmp_path: Path) -> None:
    place(tmp_path / "r", [run(n, step(d, suspect=["x"])) for n, d in enumerate(SIX, 1)])
    to = "-o", tmp_path / "x.svg"
    left = cli("plot", tmp_path / "r", "--suspect", "leave-out", *to, code=2).err
    assert "6 suspect" in left
    assert "--suspect auto counts what is suspect" in left
    assert "On a busy host: 6 suspect counted (Load)." in cli("plot", tmp_path / "r", *to).out


def test_results_that_krown_made_are_drawn(case_folder: MakeCase, cli: Cli, tmp_path: Path) -> None:
    case = case_folder("case", process("load", "true"), process("map", "true"))
    for number in (1, 2):
        krown(case, number)
    for source in (case, case / "results"):
        said = cli("plot", source, "-o", tmp_path / "x.svg").out
        assert "Points: medians of 2 runs" in said
        assert "measured by KROWN" in said
        assert {"case", "load", "map", "200.0 ms"} <= texts(tmp_path / "x.svg")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--metric", "duration"], "no step has a metric 'duration'; did you mean 'duration_s'?"),
        (["--step", "lod"], "no measured step is 'lod'; did you mean 'load'?"),
        (["--kind", "pie"], "'pie' is not one of"),
        (["--kind", "bars", "--ratio-to", "n=1"], "--ratio-to is of --kind ratio"),
        (["-o", "x.jpg"], "x.jpg: it must end in .png or .svg or .pdf"),
        (["-o", "/nowhere/x.svg"], "there is no folder /nowhere"),
        (["--width", "8"], "'8' is no length; write it like 85mm, 8.5cm or 3.3in"),
        (["--paper", "page", "--width", "8cm"], "--paper and --width exclude each other"),
        (["--curves", "--kind", "bars"], "--kind is of results, not of a run's curves"),
        (["--curves", "--metric", "b_s"], "--metric is of results, not of a run's curves"),
        (["nowhere@1"], "'nowhere' is no folder"),
        (["nothing"], "no case is 'nothing'"),
        ([""], "an empty text selects no case"),
        (["n" * 300], "no case is 'nnn"),
        (["--height", "1in"], "too small for so much"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(
    sorts: Path, cli: Cli, more: list[str], said: str
) -> None:
    assert said in cli("plot", sorts, *more, code=2).err


# -- curves of a run


def test_the_folder_of_a_run_is_drawn_as_curves(
    make_run: MakeRun, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_run(host_rows(5, cpu_user_system=1.0), length=5.0)
    assert cli("plot", folder).out == "run 1: curves-run-1.svg\n"
    first = (tmp_path / "curves-run-1.svg").read_bytes()
    assert cli("plot", tmp_path, "--run", "1", "-o", "y.svg").out == "run 1: y.svg\n"
    assert (tmp_path / "y.svg").read_bytes() == first
    assert "leave --run out" in cli("plot", folder, "--run", "1", code=2).err
    cli("plot", folder, "-o", "y.png", "-o", "y.pdf")
    assert (tmp_path / "y.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "y.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_a_case_is_run_and_drawn(case_folder: MakeCase, run_here: Cli, tmp_path: Path) -> None:
    case = case_folder("words", process("sleep", "sleep 0.6"))
    made = ("run", case, "--direct", "--runs", "1", "--cooldown", "0", "--interval", "0.05")
    run_here(*made)
    ended = run_here("plot", case, "--curves")
    assert ended.out == "run 1: curves-run-1.svg\n"
    assert "1 sleep" in texts(tmp_path / "curves-run-1.svg")
    run_here("plot", case, "--run", "1", "--out", "other.svg")
    assert (tmp_path / "other.svg").read_bytes() == (tmp_path / "curves-run-1.svg").read_bytes()
    ended = run_here("plot", case, "-o", "results.svg")
    assert "No interval: sleep (6 runs can have one)." in ended.out, ended.err


def test_curves_that_cannot_be_drawn_are_said(case_folder: MakeCase, cli: Cli) -> None:
    case = case_folder("words", process("fine", "true"), matrix={"n": [1, 2]})
    assert "means 2 cases" in cli("plot", case, "--curves", code=2).err
    assert "name one case, or a run's folder" in cli("plot", "--curves", code=2).err
    one = f"{case}[n=1]"
    assert "there is no run in" in cli("plot", one, "--curves", code=2).err
    assert "there is no run 7 in" in cli("plot", one, "--run", "7", code=2).err
    (case / "results" / "n=1" / "run_1").mkdir(parents=True)
    assert "not a readable record" in cli("plot", one, "--run", "1", code=None).err
