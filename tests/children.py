"""Processes that tests start and end themselves."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import AnyStr


@contextmanager
def ending(child: "subprocess.Popen[AnyStr]") -> Generator["subprocess.Popen[AnyStr]"]:
    """Kill a process if its block fails.

    ``Popen`` alone would wait for it, and so for ever where the rest of the block would end it.
    """
    with child:
        try:
            yield child
        except BaseException:
            child.kill()
            raise


@contextmanager
def speaking(program: str, *arguments: str) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """Start a program of Python that listens; give its process and the first line that it says."""
    command, piped = [sys.executable, "-c", program, *arguments], subprocess.PIPE
    with ending(subprocess.Popen(command, stdin=piped, stdout=piped, text=True)) as child:
        assert child.stdout is not None
        yield child, child.stdout.readline()
