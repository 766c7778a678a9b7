"""Whether recorded durations are true: held against a clock inside the step itself.

The floor is the same command between two readings of the clock, without Benchyard. KROWN's figures
are literature values: measured on another machine.
"""

import tempfile
import time
from pathlib import Path
from typing import Any, cast

from benchmarks.lab import clocked, environment, execute, server, write_case
from benchmarks.measured.clocked import Clocked
from benchmarks.table import Figure, Size, Statistic, run_program
from benchyard.case.resource import CommandResult, NoSettings, Workspace
from benchyard.core.clock import seconds
from benchyard.core.model import Json
from benchyard.results.record import RunRecord, StepRecord

#: Limits of these benchmarks' own making.
MEDIAN_SECONDS = 0.0001
P99_SECONDS = 0.001

#: Length of a step in seconds to how many of them a run has.
LENGTHS = {0.02: 50, 0.05: 50, 0.25: 20, 1.0: 10}
WAYS = ("sleep", "spin")

#: KROWN's exectool at f3cb8d4 with its Stats, 5 repetitions x 3 runs, on 2 cores of a Xeon.
_KROWN = "KROWN, samples every 0.1 s, other machine"
#: Length to how far its duration is off (mean), and to the share of steps without a duration.
_KROWN_OFF = {0.05: 0.0505, 0.25: 0.1004, 1.0: 0.0983}
_KROWN_LOST = {0.05: 0.53, 0.25: 0.0, 1.0: 0.0}


def measure(size: Size) -> list[Figure]:
    """Measure through Prefect, and the floor in this process."""
    lengths = {0.02: 3, 0.05: 3} if size.quick else LENGTHS
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        home = base / "home"
        home.mkdir()
        with server(home) as url:
            records = {way: _recorded(base, way, lengths, environment(home, url)) for way in WAYS}
    for length, count in lengths.items():
        for way in WAYS:
            figures += _figures(way, length, count, records[way])
        figures += _krown(length)
    return figures


def _recorded(
    base: Path, way: str, lengths: dict[float, int], variables: dict[str, str]
) -> RunRecord:
    steps = [
        clocked(f"{way} {length} no {number}", way, seconds=length)
        for length, count in lengths.items()
        for number in range(count)
    ]
    return execute(write_case(base, way, steps), variables)[1]


def _figures(way: str, length: float, count: int, record: RunRecord) -> list[Figure]:
    steps = [step for step in record.steps if step.parameters["seconds"] == length]
    off = [_off(step) for step in steps if step.durations_s]
    title = f"{way} {length * 1000:.0f} ms"
    return [
        Figure(f"{title}: record less own clock", off, "µs", MEDIAN_SECONDS),
        Figure(f"{title}: the same, p99", off, "µs", P99_SECONDS, Statistic.P99),
        Figure(f"{title}: floor without Benchyard", _floor(way, length, count), "µs"),
        Figure(f"{title}: share of steps lost", [1 - len(off) / count], "%", 0.0),
    ]


def _off(step: StepRecord) -> float:
    repetition = step.attempts[-1].repetitions[-1]
    own = cast("int", repetition.values["own_duration_ns"])
    return abs(repetition.duration_s - seconds(own))


def _floor(way: str, length: float, count: int) -> list[float]:
    here = Path()
    method = getattr(Clocked(NoSettings(), Workspace(here, here, here, here)), way)
    return [_off_in_place(method, length) for _ in range(count)]


def _off_in_place(method: Any, length: float) -> float:
    start = time.monotonic_ns()
    result: CommandResult = method(seconds=length)
    end = time.monotonic_ns()
    own: Json = result.values["own_duration_ns"]
    return seconds(end - start - cast("int", own))


def _krown(length: float) -> list[Figure]:
    if length not in _KROWN_OFF:
        return []
    title = f"KROWN {length * 1000:.0f} ms"
    return [
        Figure(f"{title}: off by (mean)", [_KROWN_OFF[length]], "ms", literature=_KROWN),
        Figure(f"{title}: share of steps lost", [_KROWN_LOST[length]], "%", literature=_KROWN),
    ]


if __name__ == "__main__":
    run_program(__doc__, measure)
