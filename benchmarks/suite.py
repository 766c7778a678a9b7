"""What a suite in place costs beyond its cases' steps: time a case, its growth, its memory.

Trivial cases are executed by ``execute-suite`` in a process of its own against a server of its
own, set as Benchyard's are, as many as a campaign has. From two halves of it the growth is told, so
that the figures of 10,000 cases can be reckoned.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.lab import environment, server
from benchmarks.table import Figure, Size, run_program
from benchyard.core.model import Json
from benchyard.lab.server import QUIET, SPARING
from benchyard.results.record import read_record
from benchyard.statistics import median

#: Limits of the lab's own making: seconds a case beyond its steps, and growth of memory (MB) from
#: the hundredth case to the last.
SECONDS = 0.5
MEGABYTES = 20.0
CASES = 500
_LARGE = 10_000
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SUITE = """
import sys
from benchyard.suite.request import SuiteRequest
from benchyard.lab import through_prefect
from benchyard.lab.server import connect
request = SuiteRequest(root=sys.argv[1], runs=1, cooldown=0.0, publish=())
print(through_prefect.execute_many(request, connect())[1])
"""


#: The peer: what people write by hand, a flow for each case below one flow, and its one task.
_PEER = """
import subprocess, sys, time
from prefect import flow, task
@task
def step():
    subprocess.run(["true"], check=True)
@flow
def case():
    step()
@flow
def suite():
    for _ in range(int(sys.argv[1])):
        start = time.perf_counter()
        case()
        print(time.perf_counter() - start, flush=True)
suite()
"""


def measure(size: Size) -> list[Figure]:
    """Execute the suite once and tell its figures."""
    count = size.of(CASES, 5)
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        home = base / "home"
        home.mkdir()
        write_cases(base / "cases", count)
        with server(home, SPARING) as url:
            memory: list[float] = []
            variables = environment(home, url) | QUIET | {"BENCHYARD_HOME": str(home)}
            document = _execute(base / "cases", variables, memory)
            by_hand = _by_hand(size.of(20, 2), variables)
        beyond = _beyond(base / "cases", document["turns"])
    figures = _figures(beyond, memory, count, document["seconds"])
    return [*figures, Figure("a flow and a task by hand, nothing measured or kept", by_hand)]


def _figures(
    beyond: Sequence[float], memory: Sequence[float], count: int, whole: float
) -> list[Figure]:
    early, late = _ends(beyond)
    # From the middle of the one to that of the other; where it got faster that was the host.
    growth = max(late - early, 0.0) / (0.8 * count)
    first, last = _ends(memory)
    a_case = (last - first) / count
    reckoned = _LARGE * (early + growth * _LARGE / 2)
    return [
        Figure(f"a case beyond its steps, {count} cases in place", beyond, limit=SECONDS),
        Figure("  the same, the first fifth", [early]),
        Figure("  the same, the last fifth", [late]),
        Figure("  whole suite, a case in the mean", [whole / count], limit=SECONDS),
        Figure("memory of the suite, MB, the first fifth", [first], ""),
        Figure("  its growth to the last fifth, MB", [max(last - first, 0.0)], "", MEGABYTES),
        Figure(f"{_LARGE:,} cases beyond their steps, reckoned", [reckoned]),
        Figure("  memory, MB, reckoned", [max(first + a_case * _LARGE, first)], ""),
    ]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the first and of the last fifth."""
    fifth = max(len(values) // 5, 1)
    return median(values[:fifth]), median(values[-fifth:])


def write_cases(root: Path, count: int) -> None:
    """Write so many trivial cases."""
    step: dict[str, Json] = {
        "@id": "s",
        "name": "s",
        "resource": "Process",
        "command": "execute",
        "parameters": {"arguments": ["true"]},
    }
    for number in range(count):
        folder = root / f"case-{number:05d}"
        (folder / "data" / "shared").mkdir(parents=True)
        document: dict[str, Json] = {"name": folder.name, "steps": [step]}
        (folder / "metadata.json").write_text(json.dumps(document), encoding="utf-8")


def _execute(root: Path, variables: dict[str, str], memory: list[float]) -> dict[str, Any]:
    """Execute the suite in a process of its own, whose memory is looked at meanwhile (MB)."""
    command = [sys.executable, "-c", _SUITE, str(root)]
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as child:
        ended = threading.Event()
        watching = threading.Thread(target=_watch, args=(child.pid, memory, ended))
        watching.start()
        said, _ = child.communicate()
        ended.set()
        watching.join()
    return json.loads(Path(said.strip().splitlines()[-1]).read_text(encoding="utf-8"))


def _by_hand(count: int, variables: dict[str, str]) -> list[float]:
    """Return what each case of a hand-written suite takes (s)."""
    command = [sys.executable, "-c", _PEER, str(count)]
    ended = subprocess.run(
        command,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
        encoding="utf-8",
    )
    return [float(line) for line in ended.stdout.split()]


def _watch(pid: int, memory: list[float], ended: threading.Event) -> None:
    """Note the resident memory five times a second, once there is a case's worth of it."""
    while not ended.wait(0.2):
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
        except (OSError, IndexError):
            return
        memory.append(pages * _PAGE / 1e6)


def _beyond(root: Path, turns: Sequence[dict[str, Any]]) -> list[float]:
    """Return what each turn took beyond the commands of its steps (s), in their order."""
    return [turn["seconds"] - steps_of(root / turn["case"]) for turn in turns]


def steps_of(case: Path) -> float:
    """Return what the commands of a case's first run took (s)."""
    record = read_record(case / "results" / "run_1")
    return sum(seconds for step in record.steps for seconds in step.durations_s)


if __name__ == "__main__":
    run_program(__doc__, measure)
