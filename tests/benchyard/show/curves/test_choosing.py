"""Which run's curves stand for a case."""

from pathlib import Path

import pytest

from benchyard.show.curves import run_to_draw


def kept(results: Path, run: int, name: str) -> None:
    folder = results / f"run_{run}"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("{}")


@pytest.mark.parametrize(
    ("done", "failed", "summary", "expected"),
    [
        ((1, 2, 3), (4,), {"median_run": 2}, 2),
        ((1, 2), (3,), {"median_run": None}, 2),
        ((), (3, 5), {}, 5),
        ((), (), {}, None),
    ],
)
def test_the_median_run_or_else_the_last(
    done: tuple[int, ...],
    failed: tuple[int, ...],
    summary: dict[str, object],
    expected: int | None,
    tmp_path: Path,
) -> None:
    for run in done:
        kept(tmp_path, run, ".done")
        kept(tmp_path, run, "run.json")
    for run in failed:
        kept(tmp_path, run, "run.json")
    assert run_to_draw(tmp_path, summary) == expected
