"""What the dashboards cost, in the process that measures next.

After each case its tries are read, pages are made of them, and the curves of the median run are
drawn; the peer draws the same curves with matplotlib. Of each run two lines are noted and brought
to disk; the floor is the same bytes written and synced. Asking Prefect's server is in none: it
takes 10 to 30 ms for each of about six artifacts.
"""

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.table import Figure, Size, run_program
from benchyard.analysis.executions import collect, executions
from benchyard.core.model import Outcome
from benchyard.results.attempts import note_began, note_ended
from benchyard.results.metrics_csv import COLUMNS
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord, write_record
from benchyard.show.curves.panels import Curves, read_curves
from benchyard.show.curves.plot import draw
from benchyard.show.pages.retries import retries_page, retries_rows

_NOW = datetime(2026, 11, 21, tzinfo=UTC)


def measure(size: Size) -> list[Figure]:
    """Measure each part by its CPU time, which other load changes least."""
    tries, samples, rounds = size.of(1000, 20), size.of(36_000, 600), size.of(7, 2)
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        noted, run = Path(made, "noted"), Path(made, "run_1")
        for folder in (noted, run):
            folder.mkdir()
        notes = [_wall(lambda n=n: _note(noted, n)) for n in range(tries)]
        line = (noted / "tries.jsonl").read_bytes().splitlines(keepends=True)[1]
        floor = [_wall(lambda: _written(Path(made, "floor"), line)) for _ in range(tries)]
        _curves(run, samples)
        pages = [_cpu(lambda: _page(noted)) for _ in range(rounds)]
        reading = [_cpu(lambda: read_curves(run)) for _ in range(rounds)]
        drawn = read_curves(run)
        ours = [_cpu(lambda: draw(drawn).svg()) for _ in range(rounds)]
        theirs = [_cpu(lambda: _matplotlib(drawn)) for _ in range(rounds)]
        return [
            Figure("note how a try began and ended", notes, "ms"),
            Figure("  floor: the same written and synced twice", floor, "ms"),
            Figure(f"pages and table of {tries} tries, CPU", pages, "ms", limit=0.6),
            Figure(f"read the curves of {samples} samples, CPU", reading, "ms", limit=0.6),
            Figure("draw them, CPU", ours, "ms", limit=0.05),
            Figure("  peer: drawn with matplotlib, CPU", theirs, "ms"),
            Figure(
                "import what draws, CPU", _imports("benchyard.show.curves.plot"), "ms", limit=0.5
            ),
            Figure("  peer: import matplotlib, CPU", _imports("matplotlib.figure"), "ms"),
        ]


def _wall(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _cpu(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def _note(folder: Path, run: int) -> None:
    began = (_NOW - timedelta(hours=run % 600)).isoformat()
    error = ErrorRecord("CommandFailedError", "exit code 3; on stderr: " + "x" * 200)
    steps = tuple(
        _step(index, began, error if (run + index) % 10 == 0 else None) for index in range(10)
    )
    record = RunRecord({"title": "words"}, run, Outcome.COMPLETED, began, began, 9.0, steps)
    note_began(folder, "words", run, began, {})
    note_ended(folder, replace(record, environment={"host": "quiet"}))


def _step(index: int, began: str, error: ErrorRecord | None) -> StepRecord:
    fine = Attempt(2 if error else 1, began, 0.5, 1.0, Outcome.COMPLETED)
    failed = (Attempt(1, began, 0.0, 0.5, Outcome.FAILED, (), error),) if error else ()
    return _recorded(index, (*failed, fine))


def _recorded(index: int, attempts: tuple[Attempt, ...]) -> StepRecord:
    return StepRecord(
        index,
        f"s{index}",
        "load",
        "R",
        "c",
        {},
        measure=True,
        outcome=Outcome.COMPLETED,
        attempts=attempts,
    )


def _written(file: Path, line: bytes) -> None:
    for _ in range(2):
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line)
        os.fsync(descriptor)
        os.close(descriptor)


def _page(folder: Path) -> None:
    found = list(executions(collect([folder]).tries))
    retries_page(found, "words")
    retries_rows(found)


def _curves(folder: Path, samples: int) -> None:
    """Write a record and the curves of ten samples a second."""
    length = samples / 10
    attempt = Attempt(1, _NOW.isoformat(), 0.0, length, Outcome.COMPLETED)
    step = _recorded(1, (attempt,))
    at = _NOW.isoformat()
    record = RunRecord({"title": "words"}, 1, Outcome.COMPLETED, at, at, length, (step,))
    write_record(folder, replace(record, collector={"interval_s": 0.1}))
    rows = (",".join(_cells(n)) for n in range(samples))
    (folder / "metrics.csv").write_text("\n".join([",".join(COLUMNS), *rows, ""]), encoding="utf-8")


def _cells(sample: int) -> list[str]:
    head = ["words", "1", str(sample), "1", repr(sample / 10), "3"]
    return [*head, *(str(sample * 10 + sample % 7) for _ in COLUMNS[len(head) :])]


def _matplotlib(curves: Curves) -> bytes:
    """Draw the same panels, lines and shades as a PNG of the same size."""
    from matplotlib.figure import Figure as Picture  # noqa: PLC0415 - what it costs is measured

    picture: Any = Picture(figsize=(9.6, 5.6), dpi=100)
    for place, panel in enumerate(curves.panels):
        axes = picture.add_axes((0.08, 0.05 + 0.235 * place, 0.9, 0.19))
        for line in panel.lines:
            axes.plot(curves.at_s, panel.values(line), linewidth=1)
        for bar in curves.bars:
            axes.axvspan(bar.start_s, bar.end_s, alpha=0.2)
        axes.set_title(panel.name, loc="left")
    content = io.BytesIO()
    picture.savefig(content, format="png")
    return content.getvalue()


def _imports(module: str) -> list[float]:
    """Import a module in fresh processes, after what the lab has imported anyway."""
    program = (
        "import time, benchyard.results.summary, benchyard.run.engine; "
        f"start = time.process_time(); import {module}; print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", program]
    return [
        float(
            subprocess.run(
                command, check=True, capture_output=True, text=True, encoding="utf-8"
            ).stdout
        )
        for _ in range(2)
    ]


if __name__ == "__main__":
    run_program(__doc__, measure)
