"""The command line, called in this process."""

from typing import NamedTuple, Protocol

import pytest

from benchyard.cli import call


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


class Cli(Protocol):
    """Calls ``benchyard``, checks its exit code, and returns what it printed."""

    def __call__(self, *arguments: object, code: int = 0) -> Said: ...


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def called(*arguments: object, code: int = 0) -> Said:
        capsys.readouterr()
        assert call([*map(str, arguments)]) == code
        printed = capsys.readouterr()
        return Said(printed.out, printed.err)

    return called
