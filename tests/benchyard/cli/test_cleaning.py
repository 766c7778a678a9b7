"""``benchyard clean``."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchyard.cli.conftest import Cli

MakeCase = Callable[..., Path]
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


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Type an answer."""
    return lambda text: monkeypatch.setattr(sys, "stdin", Terminal(text))


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_clean_lists_what_it_would_remove_and_asks(
    folder: Path, answer: Callable[[str], None], cli: Cli
) -> None:
    answer("y\n")
    said = cli("clean", "--root", folder)
    assert said.err.splitlines()[:3] == [
        str(folder / "results" / name) for name in ("run_1", "run_2", "summary.json")
    ]
    assert "Remove 3 results? [y/N]:" in said.err
    assert said.out.strip() == "removed 3 results"
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [("n\n", 0, "nothing removed"), ("\n", 0, "nothing removed"), ("", 130, "interrupted")],
)
def test_without_a_yes_nothing_is_removed(
    folder: Path,
    text: str,
    code: int,
    said: str,
    answer: Callable[[str], None],
    cli: Cli,
) -> None:
    before = tree(folder)
    answer(text)
    assert said in cli("clean", "--root", folder, code=code).err
    assert tree(folder) == before


def test_where_nobody_can_be_asked_nothing_is_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    before = tree(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert "give --yes" in cli("clean", "--root", folder, code=2).err
    assert tree(folder) == before


def test_with_yes_nothing_is_asked(folder: Path, cli: Cli) -> None:
    assert cli("clean", "--root", folder, "--yes") == ("removed 3 results\n", "")


def test_where_there_is_nothing_nothing_is_asked(folder: Path, cli: Cli) -> None:
    cli("clean", "--root", folder, "--yes")
    assert cli("clean", "--root", folder) == ("removed 0 results\n", "")


def test_json_is_one_document(folder: Path, cli: Cli) -> None:
    said = cli("clean", "--root", folder, "--yes", "--json")
    removed = json.loads(said.out)["removed"]
    assert removed == [
        str(folder / "results" / name) for name in ("run_1", "run_2", "summary.json")
    ]
    assert said.err == ""


def test_defect_28_and_29_only_what_is_ours_is_removed(folder: Path, cli: Cli) -> None:
    (folder / "data" / "plain_file").touch()
    (folder / "results" / "notes.txt").touch()
    (folder / "results" / "my-state").mkdir()
    (folder / "run_7").mkdir()
    (folder.parent / "bank_statement.csv").touch()
    assert cli("clean", "--root", folder.parent, "--yes").out == "removed 3 results\n"
    assert tree(folder.parent) == [
        "bank_statement.csv",
        "first",
        "first/data",
        "first/data/plain_file",
        "first/data/shared",
        "first/data/shared/words.txt",
        "first/metadata.json",
        "first/results",
        "first/results/my-state",
        "first/results/notes.txt",
        "first/run_7",
    ]


def test_only_selected_cases_and_points_are_cleaned(
    folder: Path, case_folder: MakeCase, cli: Cli
) -> None:
    points = case_folder("points", STEP, matrix={"n": [1, 2]})
    finish(points / "results" / "n=1", 1)
    finish(points / "results" / "n=2", 1)
    assert (
        cli("clean", "--root", folder.parent, "--yes", "points[n=2]").out == "removed 2 results\n"
    )
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
    finish(tmp_path / "out" / "first", 1)
    (tmp_path / "out" / "other").mkdir()
    root = str(folder.parent)
    assert (
        cli("clean", "--yes", "--root", root, "--results", tmp_path / "out").out
        == "removed 2 results\n"
    )
    assert tree(tmp_path / "out") == ["other"]
    assert (folder / "results" / "run_1").is_dir()


def test_invalid_cases_are_left_alone_and_told(folder: Path, cli: Cli) -> None:
    (folder / "metadata.json").write_text("{")
    said = cli("clean", "--root", folder, "--yes")
    assert said.out == "removed 0 results\n"
    assert said.err == "1 invalid case left alone; benchyard validate says why\n"
    assert (folder / "results" / "run_1").is_dir()
