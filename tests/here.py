"""The command line called in the test's process, where only its exit code and words matter."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.cli import call

RunHere = Callable[..., "subprocess.CompletedProcess[str]"]


def runner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> RunHere:
    """Return a function that calls ``benchyard`` as ``run_benchyard`` does, without a process.

    Args:
        folder: In which it is called unless the call says another.
    """

    def run(*arguments: str | Path, cwd: Path = folder) -> "subprocess.CompletedProcess[str]":
        monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = call([*map(str, arguments)])
        said = capsys.readouterr()
        return subprocess.CompletedProcess([*map(str, arguments)], code, said.out, said.err)

    return run
