"""Files like those that KROWN writes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from benchyard.results.metrics_csv import COLUMNS

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
