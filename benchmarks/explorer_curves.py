"""What a million samples cost who looks at their curves: the first look, and each later one.

The samples are of a run of 28 hours, ten a second; their file has some 200 MB. The server is a
process of its own, and what it holds is what the kernel tells. The floor reads the file's bytes.
"""

import contextlib
import http.client
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from benchmarks.table import Figure, Size, run_program
from benchyard.catalogue.entry import digest
from benchyard.core.model import Outcome
from benchyard.core.places import HOME
from benchyard.results.folders import METRICS_FILE, RUN_FILE, run_folder
from benchyard.results.metrics_csv import COLUMNS
from benchyard.results.record import Attempt, RunRecord, StepRecord, write_record

SAMPLES, TIMES = 1_000_000, 15
#: Until the curves are on the screen; of the server at most (MB).
LATER_SECONDS, MEGABYTES = 0.3, 250.0
_INTERVAL, _STEPS = 0.1, 20
_BEGAN = "2026-11-20T08:00:00+00:00"
#: Counter to the most that one sample adds.
_MOST_ADDED = {
    "cpu_user_system": 0.2,
    "disk_read_bytes": 40_960,
    "disk_write_bytes": 40_960,
    "network_received_bytes": 1500,
    "network_sent_bytes": 1500,
}


def put_run(root: Path, samples: int) -> Path:
    """Write a run with so many samples; return its folder."""
    folder = run_folder(root / "cases" / "long" / "results", 1)
    folder.mkdir(parents=True)
    length = samples * _INTERVAL / _STEPS
    steps = tuple(_step(number, length) for number in range(1, _STEPS + 1))
    whole = length * _STEPS
    case = {"name": "long", "title": "long"}
    collector = {"interval_s": _INTERVAL}
    write_record(
        folder,
        RunRecord(
            case, 1, Outcome.COMPLETED, _BEGAN, _BEGAN, whole, steps, collector=dict(collector)
        ),
    )
    with (folder / METRICS_FILE).open("w", encoding="utf-8") as stream:
        _write_samples(stream, samples)
    return folder


def _step(number: int, length_s: float) -> StepRecord:
    start, good = (number - 1) * length_s, Outcome.COMPLETED
    return StepRecord(
        number,
        f"s{number}",
        f"step {number}",
        "Process",
        "execute",
        parameters={},
        measure=True,
        outcome=good,
        attempts=(Attempt(1, _BEGAN, start, start + length_s, good),),
    )


def _write_samples(stream: IO[str], samples: int) -> None:
    chance = random.Random(1)  # noqa: S311 - the same file each time
    totals = dict.fromkeys(_MOST_ADDED, 0.0)
    others = dict.fromkeys(COLUMNS, "0") | {"name": "long", "run": "1", "version": "3"}
    stream.write(",".join(COLUMNS) + "\n")
    for number in range(samples):
        for counter, most in _MOST_ADDED.items():
            totals[counter] += chance.random() * most
        row = others | {counter: f"{total:.2f}" for counter, total in totals.items()}
        row |= {"index": str(number + 1), "step": str(1 + number * _STEPS // samples)}
        row |= {"timestamp": repr(number * _INTERVAL), "memory_ram": str(10**9 + number % 10**6)}
        stream.write(",".join(row[column] for column in COLUMNS) + "\n")


@contextmanager
def serving(root: Path, home: Path) -> Generator[tuple[int, int]]:
    """Serve results; give port and process id."""
    program = Path(sys.executable).with_name("benchyard")
    server = subprocess.Popen(
        [program, "serve", root, "--port", "0"],
        env={**os.environ, HOME: os.fspath(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        said = cast("IO[str]", server.stdout).readline()
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", said)[0])
        while _seconds_of(port, "/") is None:
            time.sleep(0.05)
        yield port, server.pid
    finally:
        server.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(20)
        server.kill()
        server.wait()
        cast("IO[str]", server.stdout).close()


def _seconds_of(port: int, address: str) -> float | None:
    """Return how long an answer takes; None if there is none."""
    begun = time.perf_counter()
    try:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            connection.request("GET", address)
            answer = connection.getresponse()
            answer.read()
    except OSError:
        return None
    return time.perf_counter() - begun if answer.status == 200 else None


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def on_screen(page: str, times: int) -> list[float]:
    """Return how long a browser takes from its question for the samples to the drawn curves."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it need not be there
    except ImportError:
        return []
    if chromium is None:
        return []
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        shown = browser.new_page()
        found = [_drawn(shown, f"{page}#{number}") for number in range(times)]
        browser.close()
    return found


def _drawn(shown: Any, address: str) -> float:
    # Other widths ask for other points: the server makes each answer anew.
    shown.set_viewport_size({"width": 1000 + int(address.rpartition("#")[2]), "height": 900})
    shown.goto("about:blank")  # else only the fragment changes
    shown.goto(address, wait_until="commit")
    shown.wait_for_selector("[data-drawn]")
    drawn: float = shown.evaluate(
        "Number(document.querySelector('[data-drawn]').dataset.drawn) - performance"
        ".getEntriesByType('resource').find(one => one.name.includes('curves.json')).startTime"
    )
    return drawn / 1e3


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def measure(size: Size) -> list[Figure]:
    """Measure everything."""
    samples, times = size.of(SAMPLES, 20_000), size.of(TIMES, 2)
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        folder = put_run(root / "results", samples)
        floor = [_timed((folder / METRICS_FILE).read_bytes) for _ in range(times)]
        page = f"/run/{digest((folder / RUN_FILE).read_bytes())}"
        with serving(root / "results", root / "home") as (port, pid):
            first = _known([_seconds_of(port, f"{page}/curves.json")])
            later = [
                _seconds_of(port, f"{page}/curves.json?points={1000 + place}")
                for place in range(1, times + 1)
            ]
            zoomed = [
                _seconds_of(port, f"{page}/curves.json?from={place}&to={place + samples / 500}")
                for place in range(times)
            ]
            screen = on_screen(f"http://127.0.0.1:{port}{page}", times)
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1e3
    of = f"{samples:,} samples"
    return [
        Figure(f"floor: the bytes of {of}, cached by the kernel", floor, "ms"),
        Figure(f"first look at {of}: 1,000 points of each curve", first, "ms"),
        Figure("later looks, each made anew", _known(later), "ms", LATER_SECONDS),
        Figure("zoomed in to a 50th", _known(zoomed), "ms", LATER_SECONDS),
        Figure("later looks in Chromium, from question to drawn", screen, "ms", LATER_SECONDS),
        Figure("the server's largest resident set (MB)", [peak], "", MEGABYTES),
    ]


if __name__ == "__main__":
    run_program(__doc__, measure)
