"""``prefect server start`` as a part of a lab: what it needs before, and an ear for the lab's end.

    python -m benchyard.lab.serving server start --host HOST --port PORT

Prefect's own command serves, in this process; all else that a lab wants of its server are settings
(``benchyard.lab.where``).
"""

import os
import runpy
import signal

from benchyard.lab.prefect_internals import give_time, let_triggers_wait_for_writers
from benchyard.lab.state import wait_for_others, when_cut
from tasks.names import HEARTBEATS, LAB, WITHIN_SECONDS


def main() -> None:
    """Serve Prefect's API and UI until the lab ends, and the flow runs that need it."""
    give_time(HEARTBEATS, WITHIN_SECONDS)
    let_triggers_wait_for_writers()
    when_cut(_end)
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)


def _end() -> None:
    wait_for_others(os.environ[LAB])
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
