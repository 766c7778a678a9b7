"""``benchyard time`` beside hyperfine: what it adds to a time, and whether its verdicts are true.

hyperfine says "faster" whatever the numbers are; its users read the ± as an interval, so that rule
stands beside ours: told apart where mean ± deviation do not overlap.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.table import Figure, Size, run_program
from benchyard.statistics import mean, stdev

HERE = Path(__file__).parent
#: What hyperfine -N may be beaten by, and shares of verdicts.
OVER_HYPERFINE_S, FALSE_SHARE, MISSED_SHARE, TRIAL_S, START_S = 0.0002, 0.01, 0.10, 60.0, 0.3
#: Microseconds of the programs that are compared: the same twice, and one that is 2 % slower.
SAME_US, FAST_US, SLOW_US = 5_000, 50_000, 51_000
#: Programs that do less if their stdout is ``/dev/null``, and lines of the file that they read.
LOOKING, LINES = ("grep line {0}", "tar cf - {0}", "cmp -l {0} {0}.other; true"), 1_000_000


class Verdict(NamedTuple):
    """What one comparison came to.

    Args:
        faster: Name of the one that is said to be faster; empty if neither is.
        overlap: Whether mean ± deviation of both overlap, hyperfine's rule of thumb.
        medians: Of both, in seconds.
        seconds: How long it took.
        doubts: How many commands are said to be faster since they see ``/dev/null``.
    """

    faster: str
    overlap: bool
    medians: list[float]
    seconds: float
    doubts: int


def measure(size: Size) -> list[Figure]:
    """Measure with hyperfine where it is installed."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        spin = Path(made, "spin")
        subprocess.run(["cc", "-O2", "-o", str(spin), str(HERE / "spin.c")], check=True)  # noqa: S607
        return [
            *_overhead(size, ["true", f"{spin} 1000", f"{spin} 20000"]),
            *_same(size.of(200, 1), f"{spin} {SAME_US}"),
            *_slower(size.of(50, 1), spin),
            _looking(size.of(10, 1), Path(made, "lines")),
            _start(size.of(15, 1)),
        ]


def _overhead(size: Size, commands: list[str]) -> list[Figure]:
    figures: list[Figure] = []
    rounds, runs = size.of(5), size.of(200, 6)
    for number, command in enumerate(commands):
        ours = [_ours(command, "--runs", str(runs)).medians[0] for _ in range(rounds)]
        what = ("true", "1 ms of work", "20 ms of work")[number]
        figures.append(Figure(f"{what}: benchyard time", ours, "ms"))
        if shutil.which("hyperfine"):
            peer = [_hyperfine(command, runs)[0] for _ in range(rounds)]
            over = [one - other for one, other in zip(sorted(ours), sorted(peer), strict=True)]
            figures.append(Figure(f"{what}: hyperfine -N", peer, "ms"))
            figures.append(Figure(f"{what}: ours over hyperfine's", over, "ms", OVER_HYPERFINE_S))
    return figures


def _same(trials: int, command: str) -> list[Figure]:
    found = [_ours(command, command, "--max-time", "10") for _ in range(trials)]
    return [
        _share("same program twice: told apart", found, lambda one: bool(one.faster), FALSE_SHARE),
        _share(
            "the same: ± do not overlap (hyperfine's users)", found, lambda one: not one.overlap
        ),
        _share("the same: said to see /dev/null", found, lambda one: one.doubts > 0, FALSE_SHARE),
        Figure("the same: seconds until it is said", [one.seconds for one in found]),
    ]


def _slower(trials: int, spin: Path) -> list[Figure]:
    lines = [f"{spin} {FAST_US}", f"{spin} {SLOW_US}"]
    found = [_ours(*lines) for _ in range(trials)]
    right = [one.faster == lines[0] for one in found]
    return [
        Figure("2 % slower: not found", [right.count(False) / trials], "%", MISSED_SHARE),
        _share("the same: ± overlap (hyperfine's users)", found, lambda one: one.overlap),
        Figure("the same: seconds until it is said", [one.seconds for one in found], "s", TRIAL_S),
    ]


def _looking(trials: int, file: Path) -> Figure:
    """Return the share of programs that see ``/dev/null`` of which that is not said."""
    lines = [f"line {number}\n" for number in range(LINES)]
    file.write_text("".join(lines), encoding="ascii")
    file.with_suffix(".other").write_text("".join(reversed(lines)), encoding="ascii")
    commands = [line.format(file) for line in LOOKING]
    found = sum(_ours("--shell", *commands, "--runs", "10").doubts for _ in range(trials))
    return Figure(
        "grep, tar, cmp: seeing /dev/null is not found",
        [1 - found / (trials * len(LOOKING))],
        "%",
        MISSED_SHARE,
    )


def _share(
    what: str,
    found: list[Verdict],
    holds: Callable[[Verdict], bool],
    limit: float | None = None,
) -> Figure:
    return Figure(what, [sum(map(holds, found)) / len(found)], "%", limit)


def _ours(*arguments: str) -> Verdict:
    began = time.perf_counter()
    said = subprocess.run(
        [sys.executable, "-m", "benchyard.cli", "time", *arguments, "--json"],
        capture_output=True,
        check=True,
    )
    ended = time.perf_counter() - began
    document = json.loads(said.stdout)
    faster = next((pair["first"] for pair in document["pairs"] if pair["told_apart"]), "")
    times = [[each["wall_s"] for each in one["executions"]] for one in document["commands"]]
    medians = [one["median_s"] for one in document["commands"]]
    doubts = sum("/dev/null" in one for one in document["warnings"])
    return Verdict(faster, _overlap(times), medians, ended, doubts)


def _overlap(times: list[list[float]]) -> bool:
    ends = [(mean(some) - stdev(some), mean(some) + stdev(some)) for some in times]
    return max(low for low, _ in ends) <= min(high for _, high in ends)


def _hyperfine(command: str, runs: int) -> list[float]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(
            ["hyperfine", "-N", "--runs", str(runs), "--export-json", file.name, command],  # noqa: S607
            capture_output=True,
            check=True,
        )
        found: dict[str, Any] = json.load(file)
    return [one["median"] for one in found["results"]]


def _start(rounds: int) -> Figure:
    """Return how much longer ``time --runs 1 true`` takes than a Python that does nothing."""
    over: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare = time.perf_counter() - began
        over.append(_ours("true", "--runs", "1").seconds - bare)
    return Figure("start-up over a bare interpreter", over, "s", START_S)


if __name__ == "__main__":
    run_program(__doc__, measure)
