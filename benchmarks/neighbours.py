"""How long a step waits for a CPU beside busy neighbours, and how much longer it takes then.

Of a step that is one thread the kernel tells what it waited itself; of all others what anybody on
the host waited. A step of twice as many processes as there are CPUs waits for itself: what others
used then says so. The lines without a neighbour tell what a quiet host shows; they mean nothing on
a host that is not.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.table import Figure, Size, run_program
from benchyard.core.clock import seconds
from benchyard.host.collector import MeasuredRun
from benchyard.host.measuring import LocalCollector, lab_cpu_s
from benchyard.process.children import spawn
from benchyard.process.usage import Ended, Owned

#: What the step does.
BURN = "import time\nwhile time.process_time() < 0.3: pass"
#: Twice as many of them as there are CPUs, at once.
MANY = 'for _ in $(seq {count}); do "$0" -S -c "$1" & done; wait'
NEIGHBOURS = (0, 1, 2, 4)


class Step(NamedTuple):
    """One measured step; all are shares of its time.

    Args:
        own: What it waited for a CPU itself; 0 where nobody knows.
        host: What anybody on the host waited.
        others: CPU time of all who are neither the step nor the lab.
        longer: By how much it took longer than the CPU time that it used.
    """

    own: float
    host: float
    others: float
    longer: float


def measure(size: Size) -> list[Figure]:
    """Measure steps of one process beside more and more neighbours, then one of many."""
    figures: list[Figure] = []
    for count in NEIGHBOURS[: size.of(len(NEIGHBOURS), 2)]:
        with neighbours(count):
            steps = [_step([sys.executable, "-S", "-c", BURN]) for _ in range(size.of(20))]
        title = f"{count} busy neighbours"
        figures += [
            Figure(f"{title}: the step waited", [step.own for step in steps], "%"),
            Figure(f"{title}: longer than its CPU time", [step.longer for step in steps], "%"),
            Figure(f"{title}: anybody waited", [step.host for step in steps], "%"),
            Figure(f"{title}: CPU time of others", [step.others for step in steps], "%"),
        ]
    script = MANY.format(count=2 * (os.cpu_count() or 1))
    many = [_step(["sh", "-c", script, sys.executable, BURN]) for _ in range(size.of(10))]
    title = "no neighbour, two processes for each CPU"
    return [
        *figures,
        Figure(f"{title}: anybody waited", [step.host for step in many], "%"),
        Figure(f"{title}: CPU time of others", [step.others for step in many], "%"),
    ]


@contextmanager
def neighbours(count: int, nice: int = 0) -> Generator[None]:
    """Keep CPUs busy with loops."""
    loop = [sys.executable, "-S", "-c", "while True: pass"]
    # Each in a session of its own, as services are: the kernel shares CPUs out among sessions.
    each = [subprocess.Popen(loop, start_new_session=True) for _ in range(count)]
    try:
        for one in each:
            os.setpriority(os.PRIO_PROCESS, one.pid, nice)
            with suppress(FileNotFoundError):  # a kernel without groups of sessions
                Path(f"/proc/{one.pid}/autogroup").write_text(str(nice), encoding="ascii")
        yield
    finally:
        for one in each:
            one.kill()
            one.wait()


def _step(arguments: list[str]) -> Step:
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as folder:
        run = MeasuredRun(Path(folder), "neighbours", 1, 0.1, time.monotonic_ns())
        collector = LocalCollector(run)
        ended: list[Ended] = []
        before = collector.boundary(Owned(ended=ended), begins=True)
        ended.append(spawn(arguments, folder=Path(folder)).wait())
        after = collector.boundary(Owned(ended=ended), begins=False)
        used = collector.used(before, after)
        collector.stop({})
    duration = seconds(after.at_ns - before.at_ns)
    known = {name: value or 0.0 for name, value in used.metrics.items()}
    busy = sum(known[f"host_cpu_{kind}_s"] for kind in ("user", "system", "nice"))
    others = max(0.0, busy - known["resource_cpu_s"] - lab_cpu_s(used.harness))
    own, host = known["resource_cpu_wait_s"], known["host_psi_cpu_some_s"]
    longer = duration / known["resource_cpu_s"] - 1
    return Step(own / duration, host / duration, others / duration, longer)


if __name__ == "__main__":
    run_program(__doc__, measure)
