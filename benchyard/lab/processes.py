"""The processes of a lab on this host: its flow runs, its parts, and the pipe that binds these.

The lab holds the writing end and never writes; each part has the reading end as its input. So one
mechanism serves an orderly stop and a lab that was killed: no part ever outlives its lab for
longer than the flow runs under way.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from benchyard.process.labels import labelled, start_time
from tasks.names import FLOW_NAME, FLOW_RUN, LAB, PART, SERVER_PART, TESTBED

#: Between two looks at who is still there: each reads the environment of every process.
LOOK_SECONDS = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class FlowProcess:
    """A flow run under way on this host.

    Args:
        id: Of the flow run.
        pid: Its process, which leads a group of its own.
        flow: Name of the flow, as far as it is known.
    """

    id: str
    pid: int
    flow: str = ""

    def seconds(self) -> float:
        """Return for how long it has been going."""
        started = start_time(self.pid)
        return (
            0.0 if started is None else time.clock_gettime(time.CLOCK_BOOTTIME) - started / _TICKS
        )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the group of its process."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def flow_runs_of_lab(owner: str) -> list[FlowProcess]:
    """Return the flow runs that workers of a lab have begun and that have not ended."""
    return _flow_runs({pid for pid, lab in labelled(LAB) if lab == owner})


def flow_runs_of_testbed(testbed: str) -> list[FlowProcess]:
    """Return the flow runs under way for a testbed, whichever lab began them."""
    return _flow_runs({pid for pid, name in labelled(TESTBED) if name == testbed})


def flow_runs_here() -> set[str]:
    """Return the ids of all flow runs that any process here belongs to."""
    return {flow_run for _, flow_run in labelled(FLOW_RUN)}


def _flow_runs(pids: set[int]) -> list[FlowProcess]:
    """Return each flow run's oldest process: the others are its children and their guard."""
    oldest: dict[str, tuple[int, int]] = {}
    for pid, flow_run in _alive(pids):
        born = (start_time(pid) or 0, pid)
        oldest[flow_run] = min(oldest.get(flow_run, born), born)
    names = dict(labelled(FLOW_NAME)) if oldest else {}
    return [FlowProcess(one, pid, names.get(pid, "")) for one, (_, pid) in oldest.items()]


def _alive(pids: set[int]) -> Iterator[tuple[int, str]]:
    return ((pid, one) for pid, one in labelled(FLOW_RUN) if pid in pids and start_time(pid))


# -- parts


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
