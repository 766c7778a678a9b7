"""How long nothing happens between two steps, from the records of a case of trivial steps.

Beside it, in the same rounds and on the same server: ``--direct``, and the floor, a flow of plain
Prefect task calls. KROWN itself cannot be executed here.
"""

import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.lab import clocked, environment, execute, server, write_case
from benchmarks.table import Figure, Size, Statistic, run_program
from benchyard.core.clock import seconds
from benchyard.results.record import RunRecord

GAP_SECONDS = 0.015


@dataclass
class _Gaps:
    prefect: list[float] = field(default_factory=list[float])
    direct: list[float] = field(default_factory=list[float])
    floor: list[float] = field(default_factory=list[float])


def measure(size: Size) -> list[Figure]:
    """Measure the three ways in turn."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        count = size.of(50, 5)
        case = write_case(base, "gaps", [clocked(f"Step {i}") for i in range(count)])
        home = base / "home"
        home.mkdir()
        gaps = _Gaps()
        with server(home) as url:
            client = base / "client"
            client.mkdir()
            for _ in range(size.of(5)):
                _round(case, count, environment(client, url), gaps)
    title = f"{count} trivial steps"
    return [
        Figure(f"gap, {title}, Prefect", gaps.prefect, "ms", GAP_SECONDS),
        Figure(f"gap, {title}, Prefect, p99", gaps.prefect, "ms", statistic=Statistic.P99),
        Figure(f"gap, {title}, --direct", gaps.direct, "ms"),
        Figure(f"gap, {title}, --direct, p99", gaps.direct, "ms", statistic=Statistic.P99),
        Figure("floor: plain Prefect tasks", gaps.floor, "ms"),
        Figure("floor: plain Prefect tasks, p99", gaps.floor, "ms", statistic=Statistic.P99),
    ]


def _round(case: Path, count: int, variables: dict[str, str], gaps: _Gaps) -> None:
    gaps.prefect += _between(execute(case, variables)[1])
    gaps.floor += _floor(count, variables)
    gaps.direct += _between(execute(case, variables, "--direct")[1])


def _between(record: RunRecord) -> list[float]:
    """Return the time from each step's last end to the next step's first start."""
    edges = [step.attempts[-1].repetitions for step in record.steps]
    return [b[0].start_s - (a[-1].start_s + a[-1].duration_s) for a, b in itertools.pairwise(edges)]


def _floor(count: int, variables: dict[str, str]) -> list[float]:
    program = Path(__file__).with_name("peer_flow.py")
    command = [sys.executable, str(program), str(count)]
    quiet = variables | {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}
    ended = subprocess.run(
        command, env=quiet, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return [seconds(gap) for gap in json.loads(ended.stdout.splitlines()[-1])]


if __name__ == "__main__":
    run_program(__doc__, measure)
