"""The server as a program, and the two ways to start one."""

import signal
import subprocess
import sys

import pytest

from tests.emulators.datastore import server as program

pytestmark = pytest.mark.slow


def started(*arguments: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    command = [sys.executable, program.__file__, *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


@pytest.mark.parametrize("options", [[], ["--while-stdin"]])
def test_it_tells_its_address_and_ends_when_told_or_with_its_starter(options: list[str]) -> None:
    with started(*options) as child:
        assert child.stdin
        assert child.stdout
        name, _, address = child.stdout.readline().strip().partition("=")
        assert name == "DATASTORE_EMULATOR_HOST"
        assert program.ordered(address, {"do": "count"}) == {}
        if options:
            child.stdin.close()
        else:
            child.send_signal(signal.SIGINT)
        assert child.wait(20) == 0
