"""The command line in this very process, for tests that look only at its exit code and words."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.cli import call

RunHere = Callable[..., "subprocess.CompletedProcess[str]"]


def runner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> RunHere:
    """Return what calls ``benchyard`` as the fixture ``run_benchyard`` does, without a process.

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
