"""``benchyard plot``."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchyard.cli import call
from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase, process
from tests.here import RunHere


@pytest.mark.slow
def test_run_is_drawn(case_folder: MakeCase, run_here: RunHere, tmp_path: Path) -> None:
    case = case_folder("words", process("sleep", "sleep 0.6"))
    run = ("run", case, "--direct", "--runs", "1", "--cooldown", "0", "--interval", "0.05")
    assert run_here(*run).returncode == 0
    ended = run_here("plot", case)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "run 1: curves-run-1.svg\n"
    root = ET.parse(tmp_path / "curves-run-1.svg").getroot()  # noqa: S314 - our own
    assert "1 sleep" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert run_here("plot", case, "--run", "1", "--out", "other.svg").returncode == 0
    assert (tmp_path / "other.svg").read_bytes() == (tmp_path / "curves-run-1.svg").read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "there is no run in"),
        (["--run", "7"], "there is no run 7 in"),
        (["--out", "x.png"], "x.png: it must end in .svg"),
        (["--run", "1", "--out", "/nowhere/x.svg"], "there is no folder /nowhere"),
        (["--run", "0"], "range"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    case_folder: MakeCase, cli: Cli, more: list[str], said: str
) -> None:
    case = case_folder("words", process("fine", "true"))
    assert said in cli("plot", case, *more, code=2).err


def test_run_without_curves_is_an_error_in_a_sentence(
    case_folder: MakeCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_folder("words", process("fine", "true"))
    (case / "results" / "run_1").mkdir(parents=True)
    assert call(["plot", str(case), "--run", "1"]) != 0
    assert "not a readable record" in capsys.readouterr().err


def test_one_case_is_drawn(case_folder: MakeCase, cli: Cli) -> None:
    case = case_folder("points", process("fine", "true"), matrix={"n": [1, 2]})
    assert "means 2 cases" in cli("plot", case, code=2).err
