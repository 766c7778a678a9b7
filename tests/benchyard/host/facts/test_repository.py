"""The state of the repository that a case lies in."""

import os
import time
from pathlib import Path

import pytest

from benchyard.host import facts as module
from benchyard.host.facts import git_state
from tests.repositories import git


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "metadata.json").write_text("{}")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def test_a_repository_is_told_and_another_one_in_the_environment_does_not_mislead(
    committed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (committed / "case" / "results").mkdir()
    (committed / "case" / "results" / "run.json").touch()
    commit = git(committed, "rev-parse", "HEAD")
    assert git_state(committed / "case") == {"commit": commit, "dirty": False}
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    (committed / "case" / "metadata.json").write_text("{} ")
    assert git_state(committed / "case") == {"commit": commit, "dirty": True}


def test_without_commit_repository_or_git_it_is_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = {"commit": None, "dirty": None}
    assert git_state(tmp_path) == unknown
    assert git_state(tmp_path / "none") == unknown
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) == unknown
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == unknown


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(module, "GIT_TIMEOUT", 0.2)
    began = time.monotonic()
    assert git_state(tmp_path) == {"commit": None, "dirty": None}
    assert time.monotonic() - began < 60
