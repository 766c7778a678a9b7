"""Which runs are KROWN's, and which are ours without their record."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.core.clock import now
from benchyard.results.krown import krown_runs, runs_without_record, surely_krowns

WriteMetrics = Callable[..., Path]
SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "krown-samples"
OURS = {
    ".done": now() + "\n",
    "log.txt": "2026-11-21 15:00:52,363 INFO a run 1: 1 step\n",
    "resources.csv": "",
}
KROWNS = {
    ".done": "2024-06-06T15:55:59\n",
    "log.txt": "[2024-06-06 15:55:43,480] INFO     Logger (INFO) initialized\n",
}


@pytest.mark.parametrize("name", OURS)
def test_a_run_of_ours_is_not_krowns(write_metrics: WriteMetrics, name: str) -> None:
    run = write_metrics((1, 0.1, 5)).parent
    assert krown_runs(run.parent) == [(1, run)]
    (run / name).write_text(OURS[name])
    assert krown_runs(run.parent) == []
    assert runs_without_record(run.parent) == [(1, run)]
    assert not surely_krowns(run)


@pytest.mark.parametrize("name", KROWNS)
def test_krown_leaves_its_own_signs(write_metrics: WriteMetrics, name: str) -> None:
    run = write_metrics((1, 0.1, 5)).parent
    assert not surely_krowns(run)
    (run / name).write_text(KROWNS[name])
    assert surely_krowns(run)
    assert krown_runs(run.parent) == [(1, run)]
    assert runs_without_record(run.parent) == []


def test_a_finished_run_without_anything_lacks_its_record(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 5))
    path.unlink()
    assert krown_runs(path.parents[1]) == []
    assert runs_without_record(path.parents[1]) == [(1, path.parent)]
    (path.parent / ".done").unlink()
    assert runs_without_record(path.parents[1]) == []


def test_a_folder_named_like_the_samples_is_not_overlooked(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 5))
    path.unlink()
    path.mkdir()
    assert krown_runs(path.parents[1]) == [(1, path.parent)]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="there are no samples of KROWN's here")
def test_real_results_are_krowns() -> None:
    runs = sorted(SAMPLES.rglob("run_1"))
    assert len(runs) == 6
    assert all(surely_krowns(run) for run in runs)
    assert all(krown_runs(run.parent) == [(1, run)] for run in runs)
