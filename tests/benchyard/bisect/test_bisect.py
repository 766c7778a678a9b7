"""A slow commit is found in a real repository, by real executions."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchyard.bisect.versions import commits
from benchyard.cli import call
from benchyard.core.errors import InputError
from tests.children import ending
from tests.repositories import git

COMMITS, UNBUILDABLE, SLOW = 12, 5, 8
COMMAND = ("bisect", "first", "main", "--build", "sh build.sh", "--threshold", "20%")
PROGRAM = ("--", "./program")


def commit(folder: Path, subject: str, seconds: float, *, builds: bool = True) -> str:
    (folder / "source").write_text(f"#!/bin/sh\nsleep {seconds}\n# {subject}\n")
    last = "chmod +x program" if builds else "echo no compiler >&2; exit 3"
    (folder / "build.sh").write_text(f"echo b >> $BUILDS\ncp source program\n{last}\n")
    git(folder, "add", "source", "build.sh")
    git(folder, "commit", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make 12 commits after the good one: one slow, one that does not build."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-b", "main")
    for number in range(COMMITS + 1):
        seconds = 0.05 if number >= SLOW else 0.01
        commit(folder, f"Commit {number}", seconds, builds=number != UNBUILDABLE)
        if number == 0:
            git(folder, "tag", "first")
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    monkeypatch.chdir(folder)
    return folder


def trees(repository: Path) -> int:
    return len(git(repository, "worktree", "list").splitlines())


@pytest.mark.slow
def test_the_slow_commit_is_named(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*COMMAND, *PROGRAM]) == 0
    out, err = capsys.readouterr()
    slow = git(repository, "rev-parse", f"main~{COMMITS - SLOW}")
    assert f"{slow[:10]} Commit {SLOW} (Ann)" in out.splitlines()[0]
    assert "sure: it became slower with" in out
    assert out.splitlines()[-1] == f"next: git show {slow[:10]}"
    assert "Commit 12 (Ann)" in err.splitlines()[0]
    assert trees(repository) == 1
    assert not list((tmp_path / "home" / "bisect").iterdir())
    assert len((tmp_path / "builds").read_text().split()) < COMMITS, "each is built once at most"


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_a_commit_that_does_not_build_is_passed_round(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    state = tmp_path / "state.json"
    around = (f"main~{COMMITS - UNBUILDABLE + 1}", f"main~{COMMITS - SLOW - 1}")
    options = ("--build", "sh build.sh", "--json", "--state", str(state))
    assert call(["bisect", *around, *options, *PROGRAM]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [one["subject"] for one in made["first_slow"]] == [f"Commit {SLOW}"]
    assert made["probability"] >= 0.99
    low, middle, high = made["ratios"]
    assert 1 < low < middle < high
    assert [*made["skipped"].values()] in ([], ["the build 'sh build.sh' failed: exit code 3"])
    assert json.loads(state.read_text())["pairs"] == made["pairs"]


@pytest.mark.slow
def test_what_only_an_unbuildable_commit_separates_cannot_be_told(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, "Broken", 0.01, builds=False)
    commit(repository, "Slower", 0.3)
    assert call(["bisect", "HEAD~2", "HEAD", "--build", "sh build.sh", *PROGRAM]) == 5
    out, err = capsys.readouterr()
    assert " Broken (Ann) or " in out
    assert "Slower (Ann)" in out
    assert "skipped: the build 'sh build.sh' failed: " in err
    assert "no compiler" in err


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_killed_bisection_goes_on(
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    how: signal.Signals,
    code: int,
) -> None:
    state, slow = tmp_path / "state.json", git(repository, "rev-parse", f"main~{COMMITS - SLOW}")
    given = [*COMMAND, "--state", str(state), *PROGRAM]
    with ending(subprocess.Popen([sys.executable, "-m", "benchyard.cli", *given])) as process:
        deadline = time.monotonic() + 120
        while not state.exists() or len(json.loads(state.read_text())["pairs"]) < 7:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, how)
        assert process.wait(60) == code
    kept = json.loads(state.read_text())
    assert call([*given[:1], "--json", *given[1:]]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["pairs"][: len(kept["pairs"])] == kept["pairs"]
    assert made["first_slow"][0]["name"] == slow
    assert trees(repository) == 1


@pytest.mark.slow
def test_the_rest_is_foreseen_and_done_later(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*COMMAND, "--predict", *PROGRAM]) == 0
    out, _ = capsys.readouterr()
    assert "not known yet; the same command goes on" in out
    assert "the rest takes about " in out
    assert len((tmp_path / "builds").read_text().split()) == 2
    assert call([*COMMAND, *PROGRAM]) == 0
    assert trees(repository) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_time_may_be_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert call([*COMMAND, "--max-time", "0.001", *PROGRAM]) == 5
    assert "not known yet; " in capsys.readouterr().out


@pytest.mark.slow
def test_a_time_out_counts_as_slow(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(repository, "Endless", 60)
    commit(repository, "Still endless", 60)
    given = ("HEAD~3", "HEAD", "--timeout", "0.5", "--build", "sh build.sh")
    assert call(["bisect", *given, *PROGRAM]) == 0
    assert "Endless" in capsys.readouterr().out.splitlines()[0]


@pytest.mark.slow
def test_equal_versions_are_not_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path))
    given = ("--versions", "0,1,2", "--threshold", "90%", "sleep 0.02{version}")
    assert call(["bisect", "0", "2", *given]) == 5
    assert "2 is not slower by 90 % than 0" in capsys.readouterr().out


@pytest.mark.slow
def test_versions_may_be_a_file_of_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    (tmp_path / "names").write_text("old\n0.01\n0.011\n0.06\n0.061\nnew\n")
    given = ("0.01", "0.061", "--versions", str(tmp_path / "names"), "--threshold", "50%")
    assert call(["bisect", *given, "--", "sleep", "{version}"]) == 0
    assert "sure: it became slower with 0.06\n" in capsys.readouterr().out


SUBJECTS = ("Commit 11", "Commit 12", "Aside", "Merge")


def test_a_merge_contains_both_branches(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "side", "main~2")
    side = commit(repository, "Aside", 0.01)
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-s", "ours", "-m", "Merge", "side")
    found = commits(repository, "main~3", "main")
    names = [version.name for version in found.versions]
    assert {*(one.subject for one in found.versions)} == {*SUBJECTS}
    aside, merge = names.index(side), len(names) - 1
    assert found.contains[merge].all()
    twelve = names.index(git(repository, "rev-parse", "main~1"))
    assert not found.contains[aside, twelve]
    assert not found.contains[twelve, aside]


def test_only_an_ancestor_is_good(repository: Path) -> None:
    with pytest.raises(InputError, match="main is no ancestor of first: name the good commit"):
        commits(repository, "main", "first")
