"""The pipe between a lab and its parts: it ends when the lab wants them to end, or is dead.

The lab holds the writing end and never writes; each part has the reading end as its input. So one
mechanism serves an orderly stop and a lab that was killed: no part ever outlives its lab for
longer than the flow runs under way.
"""

import os
import sys
import threading
import time
from collections.abc import Callable

from benchyard.process.labels import labelled
from tasks.names import LAB, PART, SERVER_PART

#: Between two looks at who is still there: each reads the environment of every process.
LOOK_SECONDS = 2.0


def when_cut(action: Callable[[], object]) -> None:
    """Call ``action`` in a thread of its own when the pipe ends."""
    threading.Thread(target=_listen, args=(action,), name="lifeline", daemon=True).start()


def _listen(action: Callable[[], object]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    action()


def others_of_lab(owner: str) -> list[int]:
    """Return the processes of a lab that need its server: workers, flow runs, their children."""
    servers = {pid for pid, part in labelled(PART) if part == SERVER_PART}
    return [pid for pid, lab in labelled(LAB) if lab == owner and pid not in servers]


def wait_for_others(owner: str) -> None:
    """Return once the server is the only part of a lab that is left."""
    while others_of_lab(owner):
        time.sleep(LOOK_SECONDS)
