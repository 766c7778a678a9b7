"""Files like those that KROWN writes, and records to sum up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Json, Outcome
from benchyard.results.metrics_csv import COLUMNS, Row, to_csv
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord

#: A row: step, timestamp, memory, and any other cells by name.
Sample = tuple[int, float, int, Mapping[str, object]]
WriteMetrics = Callable[..., Path]


def metrics_text(
    rows: Sequence[Sequence[object]], *, version: int = 3, end: str = "\r\n", origin: bool = True
) -> str:
    """Write step, timestamp and memory of each row; counters are a hundred times the time.

    Args:
        origin: Whether the row that KROWN writes itself comes first.
    """
    columns = [c for c in COLUMNS if version == 3 or c not in ("name", "run")]
    lines = [",".join(columns)]
    every = [(1, 0.0, 0), *rows] if origin else list(rows)
    for index, (step, at, memory, *_) in enumerate(every, 1):
        cells = {column: str(round(float(str(at)) * 100)) for column in columns}
        cells |= {c: str(memory) for c in columns if c.startswith("memory_")}
        cells |= {"name": "case", "run": "1", "index": str(index), "step": str(step)}
        cells |= {"timestamp": str(at), "version": str(version)}
        lines.append(",".join(cells[column] for column in columns))
    return end.join([*lines, ""])


@pytest.fixture
def write_metrics(tmp_path: Path) -> WriteMetrics:
    """Write a metrics.csv of a run, as KROWN would have it, and return its path."""

    def write(*rows: Sequence[object], run: int = 1, done: bool = True, **options: object) -> Path:
        folder = tmp_path / "case" / "results" / f"run_{run}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "metrics.csv"
        path.write_text(metrics_text(rows, **options), newline="")  # pyright: ignore[reportArgumentType]
        if done:
            (folder / ".done").touch()
        return path

    return write


DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
WHEN = "2026-01-01T00:00:00+00:00"


class Make:
    """Makes records from the few things that a test is about."""

    @staticmethod
    def repetition(
        duration_s: float, kind: str = "measured", suspect: Sequence[str] = (), **facts: Any
    ) -> Repetition:
        return replace(Repetition(kind, 0.0, duration_s, DONE, suspect=tuple(suspect)), **facts)

    @staticmethod
    def attempt(
        repetitions: Sequence[Repetition], outcome: Outcome = DONE, start: float = 0.0
    ) -> Attempt:
        return Attempt(1, WHEN, start, start + 1, outcome, tuple(repetitions))

    @staticmethod
    def step(*attempts: Attempt, index: int = 1, **facts: Any) -> StepRecord:
        sampled: dict[str, Json] = {
            "samples": 2,
            "levels": {"memory_ram": {"min": 4096, "max": 8192 * index}},
        }
        made = StepRecord(
            index, f"s{index}", f"Step {index}", "Fake", "go", {}, True, DONE, attempts
        )
        return replace(made, sampled=sampled, **facts)

    def took(self, *durations: float, suspect: Sequence[str] = (), **facts: Any) -> StepRecord:
        made = [self.repetition(d, suspect=suspect) for d in durations]
        return self.step(self.attempt(made), **facts)

    def ended(self, outcome: Outcome, index: int = 1) -> StepRecord:
        return self.step(self.attempt([], FAILED), index=index, outcome=outcome)

    @staticmethod
    def run(number: int, *steps: StepRecord, **facts: Any) -> RunRecord:
        return RunRecord({"hash": "abc"} | facts, number, DONE, WHEN, WHEN, 9.0, steps)


Placed = Callable[..., list[tuple[Path, RunRecord]]]


@pytest.fixture
def make() -> Make:
    return Make()


@pytest.fixture
def placed(tmp_path: Path) -> Placed:
    """Give each run a folder with a metrics.csv of two rows a step."""

    def place(*records: RunRecord) -> list[tuple[Path, RunRecord]]:
        made: list[tuple[Path, RunRecord]] = []
        for record in records:
            folder = tmp_path / f"run_{record.run}"
            folder.mkdir(parents=True, exist_ok=True)
            rows: list[Row] = [
                {"name": "c", "run": record.run, "index": 1, "step": s.index, "timestamp": at}
                for s in record.steps
                for at in (0.25, 0.5)
            ]
            (folder / "metrics.csv").write_text(to_csv(COLUMNS, rows))
            made.append((folder, record))
        return made

    return place
