"""``benchyard trace``: runs and files of others as timelines, written, drawn, and in a browser."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchyard.show.traces import viewer
from tests.benchyard.cli.conftest import Cli
from tests.browsing import Browser
from tests.children import ending
from tests.conftest import MakeCase, process

EVENT = {"ph": "X", "name": "load", "pid": 1, "tid": 2, "ts": 0, "dur": 5}


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    file = tmp_path / "foreign.json"
    file.write_text(json.dumps([EVENT, {**EVENT, "dur": -1}]))
    return file


def names_in(file: Path) -> set[str]:
    return {one["name"] for one in json.loads(file.read_bytes())["traceEvents"]}


@pytest.mark.slow
@pytest.mark.requires("chromium", "chromedriver")
def test_a_run_is_written_drawn_and_shown_in_a_browser(
    case_folder: MakeCase, run_here: Cli, tmp_path: Path
) -> None:
    case = case_folder("words", process("sort them", "sleep 0.3"), process("count", "sleep 0.1"))
    run = ("run", case, "--direct", "--runs", "2", "--cooldown", "0", "--interval", "0.05")
    run_here(*run)

    ended = run_here("trace", case, "-o", "run.json")
    assert re.fullmatch(r"\d+ slices on 2 tracks, \d+ counters, 0 instants: run.json\n", ended.out)
    assert {"sort them", "count"} <= names_in(tmp_path / "run.json")

    run_here("trace", case / "results/run_1", case / "results/run_2", "-o", "both.svg")
    ET.parse(tmp_path / "both.svg")  # noqa: S314 - our own
    run_here("trace", case, "--run", "2", "-o", "run.json.gz")

    command = [sys.executable, "-m", "benchyard.cli", "trace", str(case), "--open"]
    with ending(
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    ) as shown:
        assert shown.stdout is not None
        address = re.search(r"http://\S+/", shown.stdout.readline())
        assert address
        browser = Browser(address[0])
        try:
            browser.open("")
            browser.wait_for_text("lab", "Process", "CPU of the host")
            assert shown.wait(60) == 0
        finally:
            browser.close()


def test_what_nobody_opens_ends_with_a_sentence(
    foreign: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(viewer, "PATIENCE_MINUTES", 0.001)
    said = cli("trace", foreign, "--open", "-o", tmp_path / "kept.json", code=1)
    assert "Perfetto shows the trace at http://127.0.0.1:" in said.out
    told = cli("trace", foreign, "--open", "--json", code=1)
    assert "Perfetto shows the trace at http://127.0.0.1:" in told.err
    document = json.loads(told.out)
    assert document["file"] is None
    assert document["slices"] == 1
    assert document["warnings"]
    assert "no browser opened http://127.0.0.1:" in said.err
    assert "load" in names_in(tmp_path / "kept.json")


def test_files_of_others_stand_side_by_side_and_what_is_lost_is_told(
    foreign: Path, cli: Cli, tmp_path: Path
) -> None:
    out = tmp_path / "both.json"
    said = cli("trace", foreign, foreign, "-o", out)
    assert said.out == f"2 slices on 2 tracks, 0 counters, 0 instants: {out}\n"
    assert "warning: " in said.err
    assert "dur is negative" in said.err
    assert "load" in names_in(out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["foreign.json"], "say where the trace goes: -o FILE, or --open"),
        (["foreign.json", "-o", "x.txt"], "x.txt: it must end in .json or"),
        (["foreign.json", "-o", "x.gz"], "x.gz: it must end in .json, .json.gz"),
        (["foreign.json", "-o", "/nowhere/x.json"], "there is no folder /nowhere"),
        (["cases/words", "-o", "x.json"], "there is no run in"),
        (["cases/words", "--run", "7", "-o", "x.json"], "there is no run 7 in"),
        (["odd", "-o", "x.json"], "no known format"),
        (["nothing", "-o", "x.json"], "no case is 'nothing'"),
    ],
)
@pytest.mark.usefixtures("foreign")
def test_what_cannot_be_is_said(
    words: list[str],
    said: str,
    case_folder: MakeCase,
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    case_folder("words", process("fine", "true"))
    Path("odd").write_bytes(b"\x00")
    assert said in cli("trace", *words, code=2).err
    assert not Path("x.json").exists()
