"""The curves of a run: nothing that was counted is lost, and no peak."""

from pathlib import Path

import numpy as np
import pytest

from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.results.record import PhaseRecord
from benchyard.show.curves.panels import read_curves, run_to_draw
from benchyard.show.curves.thinning import ThinPanel
from tests.benchyard.show.curves.conftest import MakeRun, host_rows, owned, step


def panel(folder: Path, name: str) -> ThinPanel:
    return next(one for one in read_curves(folder).panels if one.name == name)


def test_host_is_drawn_from_its_counters(make_run: MakeRun) -> None:
    rows = host_rows(10, cpu_user_system=1.5, disk_write_bytes=2e6)
    folder = make_run(rows, steps=[step(1, 0.0, 9.0)])
    curves = read_curves(folder)
    assert curves.title == "words, run 1"
    assert curves.samples == 101
    assert len(curves.at_s) == 101
    (host,) = panel(folder, "CPU").lines
    assert host.of_host
    assert host.mean[np.isfinite(host.mean)] == pytest.approx([1.5] * 100)
    (written,) = panel(folder, "disk").lines
    assert np.nanmax(written.most) == pytest.approx(2e6)
    assert np.nanmax(panel(folder, "memory").lines[0].most) == 1e9


def test_a_step_begins_when_its_resource_is_ready(make_run: MakeRun) -> None:
    phases = [
        PhaseRecord("initialize", "R", None, 0.0, 0.5, Outcome.COMPLETED),
        PhaseRecord("start", "R", 1, 1.0, 1.0, Outcome.COMPLETED),
        PhaseRecord("ready", "R", 1, 2.0, 3.0, Outcome.COMPLETED),
        PhaseRecord("stop", "R", None, 9.5, 1.5, Outcome.FAILED),
    ]
    steps = [step(1, 1.0, 7.0), step(2, 7.0, 9.0, "ask")]
    curves = read_curves(make_run(host_rows(10), steps=steps, phases=phases))
    assert [(bar.start_s, bar.end_s) for bar in curves.bars] == [(5.0, 7.0), (7.0, 9.0)]
    assert [(one.name, one.start_s, one.end_s) for one in curves.phases] == [
        *(("initialize", 0.0, 0.5), ("start", 1.0, 2.0), ("ready", 2.0, 5.0), ("stop", 9.5, 11.0))
    ]
    assert curves.length_s == 11.0


def test_resources_have_lines_of_their_own_and_the_host_is_none(make_run: MakeRun) -> None:
    rows = [
        owned(n / 10, str(pid), n * 0.05, 1000, resource)
        for n in range(100)
        for resource, pid in (("Redis", 1), ("Redis", 2), ("host", 3), ("SQLite", 4))
    ]
    folder = make_run(host_rows(10, cpu_user_system=2.0), rows)
    lines = panel(folder, "CPU").lines
    assert [line.name for line in lines] == ["host", "Redis", "SQLite"]
    assert np.nanmax(lines[1].most) == pytest.approx(1.0)
    assert np.nanmax(panel(folder, "memory").lines[1].most) == 2000


@pytest.mark.parametrize("samples", [0, 3])
def test_too_few_samples_make_no_curve(make_run: MakeRun, samples: int) -> None:
    with pytest.raises(RecordError, match=f"{samples} samples make no curves"):
        read_curves(make_run(host_rows(1)[:samples]))


def test_missing_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        read_curves(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"timestamp,cpu_user_system\n" + b"x,y\n" * 9,
        b"timestamp\n" + b"9" * 200_000 + b"\n",
        b"\xff\xfe\x00" * 1000,
        b"timestamp,cpu_user_system\n" + b"nan,inf\n" * 9,
        b"",
    ],
)
def test_hostile_curves_are_an_error_in_a_sentence(make_run: MakeRun, content: bytes) -> None:
    folder = make_run(host_rows(1))
    (folder / "metrics.csv").write_bytes(content)
    with pytest.raises(RecordError):
        read_curves(folder)


def test_empty_cells_are_gaps(make_run: MakeRun) -> None:
    rows = host_rows(10, cpu_user_system=1.0)
    for row in rows[20:40]:
        row["cpu_user_system"] = ""
    (host,) = panel(make_run(rows), "CPU").lines
    assert np.isnan(host.mean[25])
    assert host.mean[60] == pytest.approx(1.0)


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
