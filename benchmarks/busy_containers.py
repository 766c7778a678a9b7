"""Whether run_s and CPU time of containers are true beside busy loops, and where the lab is late.

Each program counts its own time and CPU time. What Benchyard says of it is right within 1 %, or
unknown, or marked as suspect; anything else is wrong. *Idle* has the lab itself in a control group
that gets a CPU only when nobody else wants it: then it sees begin and end of a program late.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.containers import made
from benchmarks.neighbours import neighbours
from benchmarks.table import Figure, Size, run_program
from benchyard.case.resource import step_context
from benchyard.host.collector import MeasuredRun
from benchyard.host.measuring import LocalCollector
from benchyard.run.running_resources import owned_by
from resources.container import Container

#: Share by which a value may differ from the program's own.
OFF = 0.01
#: CPU time (µs) that a program uses. The time from its exec to its main() belongs to a run, and its
#: own clock does not see it: 1 ms, and up to 11 ms where it waits for a CPU.
WORK_US = 2_000_000
LOOPS = 4
#: Where control groups are, of version 1 or 2.
GROUPS = next(filter(Path.is_dir, map(Path, ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"))), Path("/"))


class Told(NamedTuple):
    """What one execution was said to take.

    Args:
        off: Metric to how far it is off, as a share; None if it is unknown.
        seconds: What the whole step took.
    """

    off: dict[str, float | None]
    is_suspect: bool
    seconds: float


def measure(size: Size) -> list[Figure]:
    """Execute programs on a quiet host, beside busy loops, and with the lab in an idle group."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as folder:
        # Not in the idle group: beside others the compiler alone takes a quarter of an hour there.
        program = _compiled(Path(folder))
        for title, loops in (("quiet", 0), ("busy", LOOPS), ("idle", LOOPS)):
            idle = title == "idle"
            for command in ("execute", "run_to_end"):
                with made(Path(folder), runs=command == "execute") as container:
                    shutil.copy(program, container.workspace.shared)
                    container.start()
                    # Beside others at full weight an idle lab takes ten seconds a step.
                    with neighbours(loops, 19 * idle), _idle() if idle else nullcontext():
                        told = [_execute(container, command) for _ in range(size.of(40))]
                figures += _figures(f"{title}, {command}", told)
    return figures


def _figures(title: str, told: Sequence[Told]) -> list[Figure]:
    count = len(told)
    figures = [
        Figure(f"{title}: the step", [one.seconds for one in told]),
        Figure(f"{title}: marked as suspect", [sum(one.is_suspect for one in told) / count], "%"),
    ]
    for metric in ("run_s", "cpu_s"):
        known = [(off, one.is_suspect) for one in told if (off := one.off[metric]) is not None]
        far = [is_suspect for off, is_suspect in known if off > OFF]
        what = f"{title}: {metric}"
        figures += [
            Figure(f"{what}, within 1 %", [(len(known) - len(far)) / count], "%"),
            Figure(f"{what}, unknown", [1 - len(known) / count], "%"),
            Figure(f"{what}, further off, and marked", [sum(far) / count], "%"),
            Figure(f"{what}, further off, not marked", [(len(far) - sum(far)) / count], "%", 0),
        ]
        if known:
            figures.append(Figure(f"{what}, off by", [off for off, _ in known], "%"))
    return figures


def _compiled(folder: Path) -> Path:
    program, source = folder / "own_clock", Path(__file__).with_name("own_clock.c")
    subprocess.run(["cc", "-O2", "-static", "-o", program, source], check=True)  # noqa: S607
    return program


def _execute(container: Container, command: str) -> Told:
    folder = container.workspace.shared.parent
    run = MeasuredRun(folder, "busy containers", 1, 0.1, time.monotonic_ns())
    collector = LocalCollector(run)
    with step_context("step"):
        before = collector.boundary(owned_by(container, "step"), begins=True)
        result: Any = getattr(container, command)(["/data/shared/own_clock", str(WORK_US)])
        after = collector.boundary(owned_by(container, "step"), begins=False)
    used = collector.used(before, after)
    collector.stop({})
    own = json.loads(result.output.read_text(encoding="utf-8"))
    said = {"run_s": result.values["run_s"], "cpu_s": used.metrics["resource_cpu_s"]}
    off = partial(_off, said, own)
    if os.environ.get("BENCHYARD_BENCHMARK_VERBOSE"):
        sys.stderr.write(f"{command} {said} {own} {used.suspect}\n")
    seconds = (after.at_ns - before.at_ns) / 1e9
    return Told({name: off(name) for name in said}, bool(used.suspect), seconds)


def _off(said: dict[str, Any], own: dict[str, float], metric: str) -> float | None:
    return None if said[metric] is None else abs(said[metric] / own[metric] - 1)


@contextmanager
def _idle() -> Generator[None]:
    """Let this process have a CPU only when nobody else wants it."""
    group, own = GROUPS / "benchyard-benchmark-idle", str(os.getpid())
    group.mkdir(exist_ok=True)
    (group / "cpu.idle").write_text("1", encoding="ascii")
    (group / "cgroup.procs").write_text(own, encoding="ascii")
    try:
        yield
    finally:
        (GROUPS / "cgroup.procs").write_text(own, encoding="ascii")
        group.rmdir()


if __name__ == "__main__":
    run_program(__doc__, measure)
