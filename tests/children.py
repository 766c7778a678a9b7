"""Processes that tests start and end themselves."""

import subprocess
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
