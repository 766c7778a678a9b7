"""A slower commit is confirmed in a real repository, by real executions; an equal one is not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchyard.cli import call
from benchyard.run.request import FEWEST
from tests.children import ending
from tests.repositories import git

COMMAND = ("confirm", "first", "main", "--build", "sh build.sh")
PROGRAM = ("--", "./program")


def commit(folder: Path, subject: str, seconds: float) -> None:
    (folder / "source").write_text(f"#!/bin/sh\nsleep {seconds}\n# {subject}\n")
    (folder / "build.sh").write_text("echo b >> $BUILDS\ncp source program\nchmod +x program\n")
    git(folder, "add", "source", "build.sh")
    git(folder, "commit", "-m", subject)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a good commit, an equal one and a slow one."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    for name, seconds in (("first", 0.01), ("equal", 0.01), ("slow", 0.2)):
        commit(folder, f"The {name}", seconds)
        git(folder, "tag", name)
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_slow_commit_is_confirmed(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*COMMAND, *PROGRAM]) == 3
    out, err = capsys.readouterr()
    assert "confirmed: " in out.splitlines()[0]
    assert "by more than 0.51 %" in out.splitlines()[0]
    assert "; 100 confirms" in out
    assert "changed by " in out
    assert " e = " in err
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert not list((tmp_path / "home" / "bisect").iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_what_is_faster_is_not_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["confirm", "slow", "first", "--json", "--build", "sh build.sh", *PROGRAM]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["conclusion"] == "not confirmed"
    assert made["e_value"] < 1
    assert len(made["pairs"]) < 30, "it ends early"
    if len(made["pairs"]) < FEWEST:
        assert made["ratios"] is None
    else:
        low, middle, high = made["ratios"]
        assert low <= middle <= high < 1


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_a_slow_commit_is_not_slower_by_more_than_a_large_margin() -> None:
    assert call([*COMMAND, "--margin", "100%", "--max-time", "60", "--", "sleep", "0.02"]) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_the_good_version_is_built_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*COMMAND, "--twice", "--json", *PROGRAM]) in (0, 3)
    out, err = capsys.readouterr()
    made = json.loads(out)
    twins = [one for one in made["pairs"] if one[0].endswith("-twin")]
    assert len(twins) == 30
    assert made["pairs"][:30] == twins
    assert "The first, built again" not in err
    assert "built again" in err
    assert made["margin"] > 0
    assert (tmp_path / "builds").read_text().split() == ["b"] * 3


@pytest.mark.slow
def test_time_may_be_up_and_a_killed_one_goes_on(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.json"
    given = [*COMMAND, "--state", str(state), *PROGRAM]
    assert call([*given[:1], "--max-time", "0.001", *given[1:]]) == 5
    assert "not known yet; " in capsys.readouterr().out
    with ending(subprocess.Popen([sys.executable, "-m", "benchyard.cli", *given])) as process:
        deadline = time.monotonic() + 120
        while len(json.loads(state.read_text())["pairs"]) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(60) == -9
    kept = json.loads(state.read_text())["pairs"]
    assert call([*given[:1], "--json", *given[1:]]) == 3
    made = json.loads(capsys.readouterr().out)
    assert made["pairs"][: len(kept)] == kept
    assert len(git(repository, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        (("first", "nothing", "true"), 2, "git rev-parse nothing^{commit}: "),
        (("first", "first", "true"), 2, "first and first are the same commit: name two"),
        (("first", "main", "false"), 1, ": exit code 1"),
        (("first", "main", "--margin", "1", "true"), 2, "--margin"),
        (("first", "main", "--build", "false", "true"), 1, "the build 'false' failed"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_what_cannot_be_measured_is_told(
    given: tuple[str, ...], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["confirm", *given]) == code
    assert text in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_file_of_a_bisection_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("first", "main", "--state", str(tmp_path / "kept.json"), "--max-time", "0.001", "true")
    assert call(["bisect", *given]) == 5
    assert call(["confirm", *given]) == 2
    assert "keeps a confirmation with another kind; name a new file" in capsys.readouterr().err


@pytest.mark.slow
def test_names_are_confirmed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path))
    given = ("0.01", "0.06", "--versions", "0.01,0.06")
    assert call(["confirm", *given, "--", "sleep", "{version}"]) == 3
