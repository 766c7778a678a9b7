"""A test that fails waits for no process that it would have ended."""

import signal
import subprocess

import pytest

from tests.children import ending


def test_a_block_that_fails_kills_its_process() -> None:
    with pytest.raises(KeyError), ending(subprocess.Popen(["/bin/sleep", "300"])) as child:
        raise KeyError
    assert child.returncode == -signal.SIGKILL


def test_a_block_that_holds_lets_its_process_end() -> None:
    with ending(subprocess.Popen(["/bin/sh", "-c", "exit 3"])) as child:
        pass
    assert child.returncode == 3
