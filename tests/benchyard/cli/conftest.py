"""The command line, called in this process."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from benchyard.cli import call
from tests.benchyard.show.curves.conftest import make_run
from tests.children import ending

__all__ = ["make_run"]


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


class Cli(Protocol):
    """Calls ``benchyard``, checks its exit code (None: any), and returns what it printed."""

    def __call__(
        self, *arguments: object, code: int | None = 0, cwd: Path | None = None
    ) -> Said: ...


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    def called(*arguments: object, code: int | None = 0, cwd: Path | None = None) -> Said:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        ended = call([*map(str, arguments)])
        printed = capsys.readouterr()
        assert code in (ended, None), printed.err
        assert "Traceback" not in printed.err
        return Said(printed.out, printed.err)

    return called


@pytest.fixture
def run_here(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Call it in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return cli


def seen_in_a_terminal(*words: object, **options: Any) -> tuple[int, bytes]:
    """Call ``benchyard`` in a terminal of its own, to its end; give exit code and what it shows."""
    ours, theirs = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    command = [sys.executable, "-m", "benchyard.cli", *map(str, words)]
    with ending(subprocess.Popen(command, **streams, **options)) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # how a terminal's end reads once its other side is closed
            while part := os.read(ours, 65_536):
                seen += part
        os.close(ours)
    return process.returncode, seen
