"""Temporary folders: gone after the block, and after a process that was killed."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchyard.process.files import temporary_folder

#: Says which folder it has made, and kills itself.
_KILLED = """
import os, pathlib, sys
from benchyard.process.files import temporary_folder
with temporary_folder(*map(pathlib.Path, sys.argv[1:])) as folder:
    (folder / "a").touch()
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


def killed(*beside: Path) -> Path:
    """Return the folder that a process has left that was killed."""
    words = [sys.executable, "-c", _KILLED, *map(str, beside)]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL
    left = Path(ended.stdout.strip())
    assert (left / "a").is_file()
    return left


def test_it_is_gone_afterwards_unless_it_was_renamed(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
    with temporary_folder(tmp_path) as folder:
        folder.rename(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_the_next_removes_those_of_the_killed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system"
    system.mkdir()
    monkeypatch.setenv("TMPDIR", str(system))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / ".benchyard-temporary_of-somebody").mkdir()
    with temporary_folder(tmp_path) as own:
        left = [killed(), killed(tmp_path)]
        with temporary_folder(tmp_path):
            assert own.is_dir()
        assert not any(folder.exists() for folder in left)
    assert [path.name for path in tmp_path.glob(".*")] == [".benchyard-temporary_of-somebody"]
