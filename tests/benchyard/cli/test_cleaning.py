"""``benchyard clean``."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchyard.cli.conftest import Cli
from tests.conftest import MakeCase

STEP = {"resource": "Process", "command": "execute", "parameters": {"arguments": ["true"]}}


def finish(results: Path, *runs: int) -> None:
    for run in runs:
        (results / f"run_{run}").mkdir(parents=True)
        (results / f"run_{run}" / ".done").touch()
    (results / "summary.json").write_text('{"format": "benchyard-summary"}')


@pytest.fixture
def folder(case_folder: MakeCase) -> Path:
    made = case_folder("first", STEP, data={"words.txt": "a\n"})
    finish(made / "results", 1, 2)
    return made


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


Answer = Callable[[str | None], None]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Type an answer; None is a pipe, where nobody types."""

    def typed(text: str | None) -> None:
        stream = io.StringIO("y\n") if text is None else Terminal(text)
        monkeypatch.setattr(sys, "stdin", stream)

    return typed


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_clean_lists_what_it_would_remove_and_asks(folder: Path, answer: Answer, cli: Cli) -> None:
    answer("y\n")
    said = cli("clean", "--root", folder)
    assert str(folder / "results" / "run_2") in said.err
    assert "Remove 3 results? [y/N]:" in said.err
    assert said.out.strip() == "removed 3 results"
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        *(("n\n", 0, "nothing removed"), ("\n", 0, "nothing removed"), ("", 130, "interrupted")),
        (None, 2, "give --yes"),
    ],
)
def test_without_a_yes_nothing_is_removed(
    folder: Path, text: str | None, code: int, said: str, answer: Answer, cli: Cli
) -> None:
    before = tree(folder)
    answer(text)
    assert said in cli("clean", "--root", folder, code=code).err
    assert tree(folder) == before


def test_with_yes_or_where_there_is_nothing_nothing_is_asked(folder: Path, cli: Cli) -> None:
    said = cli("clean", "--root", folder, "--yes", "--json")
    removed = json.loads(said.out)["removed"]
    assert removed == [
        str(folder / "results" / name) for name in ("run_1", "run_2", "summary.json")
    ]
    assert said.err == ""
    assert cli("clean", "--root", folder) == ("removed 0 results\n", "")


def test_defect_28_and_29_only_what_is_ours_is_removed(folder: Path, cli: Cli) -> None:
    (folder / "data" / "plain_file").touch()
    (folder / "results" / "notes.txt").touch()
    (folder / "results" / "my-state").mkdir()
    (folder / "run_7").mkdir()
    (folder.parent / "bank_statement.csv").touch()
    before = tree(folder.parent)
    assert cli("clean", "--root", folder.parent, "--yes").out == "removed 3 results\n"
    gone = {path.removeprefix("first/results/") for path in {*before} - {*tree(folder.parent)}}
    assert gone == {"run_1", "run_1/.done", "run_2", "run_2/.done", "summary.json"}


def test_only_selected_cases_and_points_are_cleaned(
    folder: Path, case_folder: MakeCase, cli: Cli
) -> None:
    points = case_folder("points", STEP, matrix={"n": [1, 2]})
    finish(points / "results" / "n=1", 1)
    finish(points / "results" / "n=2", 1)
    said = cli("clean", "--root", folder.parent, "--yes", "points[n=2]").out
    assert said == "removed 2 results\n"
    assert (points / "results" / "n=1" / "run_1").is_dir()
    assert (folder / "results" / "run_1").is_dir()


def test_an_empty_name_does_not_mean_everything(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """``benchyard clean --yes "$UNSET"`` in the folder with all cases."""
    monkeypatch.chdir(folder.parent)
    assert "an empty text selects no case" in cli("clean", "--yes", "", code=2).err
    assert (folder / "results" / "run_1").is_dir()


def test_results_elsewhere_are_cleaned_there(folder: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    finish(out / "first", 1)
    (out / "other").mkdir()
    said = cli("clean", "--yes", "--root", folder.parent, "--results", out).out
    assert said == "removed 2 results\n"
    assert tree(out) == ["other"]
    assert (folder / "results" / "run_1").is_dir()


def test_invalid_cases_are_left_alone_and_told(folder: Path, cli: Cli) -> None:
    (folder / "metadata.json").write_text("{")
    said = cli("clean", "--root", folder, "--yes")
    assert said.out == "removed 0 results\n"
    assert said.err == "1 invalid case left alone; benchyard validate says why\n"
    assert (folder / "results" / "run_1").is_dir()
