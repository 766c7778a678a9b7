"""KROWN's results as records."""

import csv
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchyard.results import krown_scan
from benchyard.results.krown import KrownResults, krown_runs, read_results
from benchyard.results.metrics_csv import COUNTERS, LEVELS
from benchyard.results.record import RunRecord, StepRecord

WriteMetrics = Callable[..., Path]
SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "krown-samples"
UNKNOWN = "so how long it took is unknown"
ROWS = [(1, 0.1, 5), (1, 0.2, 7), (2, 0.3, 6), (2, 0.6, 9)]


def read(path: Path) -> KrownResults:
    """Read the results of a case, by one of its tables."""
    return read_results("case", path.parents[1])


def only(path: Path) -> RunRecord:
    [(_, record)] = read(path).runs
    return record


def metadata_of(path: Path) -> Path:
    return path.parents[2] / "metadata.json"


def lengths(steps: tuple[StepRecord, ...]) -> list[list[float]]:
    return [step.durations_s for step in steps]


@pytest.mark.parametrize("version", [2, 3])
def test_a_step_lasts_from_first_to_last_sample(write_metrics: WriteMetrics, version: int) -> None:
    [(folder, record)] = read(write_metrics(*ROWS, version=version)).runs
    assert (folder.name, record.run, record.collector["made_by"]) == ("run_1", 1, "KROWN")
    assert lengths(record.steps) == [[0.2], [0.3]]
    used = record.steps[1].measured[0].used
    assert (used["host_cpu_user_s"], used["host_disk_busy_time_s"]) == (30, 0.03)
    levels = {name: {"min": 5, "max": 7} for name in LEVELS}
    assert record.steps[0].sampled == {"samples": 2, "levels": levels}


def test_it_is_said_how_wrong_the_lengths_are(write_metrics: WriteMetrics) -> None:
    [warning] = read(write_metrics(*((1, n / 10, 5) for n in range(1, 11)))).warnings
    assert "up to 0.2 s (two intervals) too short" in warning


def test_defect_06_steps_with_too_few_samples_have_no_length(write_metrics: WriteMetrics) -> None:
    record = only(write_metrics((1, 0.1, 5), (3, 0.2, 5), (4, 0.3, 5), (4, 0.4, 5)))
    assert lengths(record.steps) == [[0.1], [], [], [0.1]]
    assert [step.sampled["samples"] for step in record.steps] == [1, 0, 1, 2]
    assert record.steps[1].reason == "KROWN took too few samples of it to tell its length"
    assert record.steps[0].reason is None


def test_the_row_that_krown_makes_up_alone_is_no_step(write_metrics: WriteMetrics) -> None:
    assert lengths(only(write_metrics((2, 0.1, 5), (2, 0.2, 5))).steps) == [[], [0.1]]


def test_metadata_names_the_steps_also_those_without_samples(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    steps = [{"@id": f"urn:{n}", "name": f"Load {n}", "resource": "No"} for n in (1, 2, 3)]
    metadata_of(path).write_text(json.dumps({"steps": steps}))
    record = only(path)
    told = [{"@id": s.id, "name": s.name, "resource": s.resource} for s in record.steps]
    assert told == steps
    assert lengths(record.steps) == [[0.2], [0.3], []]


def test_defect_11_runs_keep_numbers_and_unfinished_are_told(write_metrics: WriteMetrics) -> None:
    for run in (2, 3, 10):
        path = write_metrics(*ROWS, run=run, done=run != 3)
    found = read(path)
    assert [record.run for _, record in found.runs] == [2, 10]
    assert [record.run for record in found.unfinished] == [3]
    assert "KROWN did not finish run 3: no .done; left out" in found.warnings


def test_without_any_done_all_runs_count(write_metrics: WriteMetrics) -> None:
    for run in (1, 2):
        path = write_metrics(*ROWS, run=run, done=False)
    found = read(path)
    assert [record.run for _, record in found.runs] == [1, 2]
    assert found.warnings[0].startswith("no run has a .done")


def test_a_run_killed_before_its_first_flush_has_no_lengths(write_metrics: WriteMetrics) -> None:
    write_metrics(*ROWS)
    killed = write_metrics(run=2)
    killed.write_bytes(b"")
    found = read(killed)
    assert [lengths(record.steps) for _, record in found.runs] == [[[0.2], [0.3]], [[], []]]
    assert "run 2: metrics.csv holds no samples" in found.warnings


def test_what_went_backwards_is_unknown_and_told(write_metrics: WriteMetrics) -> None:
    path = write_metrics((1, 0.1, 5), (1, 0.2, 5), (2, 0.5, 5), (2, 0.4, 5))
    lines = path.read_text().splitlines()
    lines[3] = lines[3].replace("0.2,3,20,", "0.2,3,-1,")
    path.write_text("\n".join([*lines, ""]))
    found = read(path)
    [first, second] = found.runs[0][1].steps
    used = first.measured[0].used
    assert (used["host_cpu_user_s"], used["host_cpu_system_s"]) == (None, 20)
    assert second.durations_s == []
    told = {"cpu_user went backwards in step 1", f"the clock went backwards in step 2, {UNKNOWN}"}
    assert {f"run 1: {text}" for text in told} <= {*found.warnings}


def test_case_info_tells_of_the_host(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    path.with_name("case-info.txt").write_text(
        "===> CASE <===\nName: x\nTimestamp: 2024-06-06T13:48:00+00:00\n\tHostname: box\nCPU\n"
    )
    record = only(path)
    assert (record.started_at, record.environment["host"]) == ("2024-06-06T13:48:00+00:00", "box")


def test_runs_with_a_record_are_not_krowns(write_metrics: WriteMetrics, tmp_path: Path) -> None:
    path = write_metrics(*ROWS)
    write_metrics(*ROWS, run=2).with_name("run.json").write_text("{}")
    results = path.parents[1]
    for name in ("run_03", "run_4"):
        (results / name).mkdir()
    assert krown_runs(results) == [(1, path.parent)]
    assert krown_runs(tmp_path / "nowhere") == []


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="there are no samples of KROWN's here")
def test_real_results_are_what_krowns_own_statistics_are() -> None:
    folders = sorted(SAMPLES.rglob("results"))
    assert len(folders) == 6
    for folder in folders:
        [(run, record)] = read_results("case", folder).runs
        with (run / "metrics.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for step in record.steps:
            of_step = [row for row in rows if row["step"] == str(step.index)]
            first, last = of_step[0], of_step[-1]
            took = round(float(last["timestamp"]) - float(first["timestamp"]), 4)
            assert step.durations_s == [took]
            used = step.measured[0].used
            for column, (names, scale) in COUNTERS.items():
                amount = round(float(last[column]) - float(first[column]), 4)
                ours = sum(used[name] or 0 for name in names) * scale
                assert ours == pytest.approx(amount, abs=1e-9), column
            # Krown's least of step 1 is its made-up zero.
            memory = [int(row["memory_ram"]) for row in of_step if row["memory_ram"] != "0"]
            assert step.sampled["samples"] == len(memory)
            levels: Any = step.sampled["levels"]
            assert levels["memory_ram"] == {"min": min(memory), "max": max(memory)}


def unknown(path: Path) -> dict[int, str]:
    """Return why each step has no length, by its number."""
    return {s.index: str(s.reason) for s in only(path).steps if not s.durations_s}


def test_of_a_file_cut_off_the_last_step_has_no_length(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    path.write_bytes(path.read_bytes()[:-30])
    found = read(path)
    reason = f"a row at the edge of step 2 is damaged or cut off, {UNKNOWN}"
    assert unknown(path) == {2: reason}
    assert f"run 1: {reason}" in found.warnings
    assert any("1 damaged row of metrics.csv is left out" in text for text in found.warnings)


def test_a_damaged_row_amid_a_step_leaves_its_length_alone(write_metrics: WriteMetrics) -> None:
    damaged = [(-3, 0.15, 5), (1, 0.16, "x"), (0, 0.17, 5)]
    found = read(write_metrics(*ROWS[:1], *damaged, *ROWS[1:]))
    assert lengths(found.runs[0][1].steps) == [[0.2], [0.3]]
    assert any("2 damaged rows of metrics.csv are left out" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1, 0.1, 5), (1, 9e3, 5), (1, 0.3, 5), (2, 0.4, 5), (2, 0.5, 5)], {1}),
        ([(1, 0.1, 5), (1, 9e3, 5), (2, 0.4, 5), (2, 0.5, 5), (3, 0.6, 5), (3, 0.7, 5)], {1, 2}),
        ([(1, 0.1, 5), (2, 0.2, 5), (1, 0.3, 5), (2, 0.4, 5), (3, 0.5, 5), (3, 0.6, 5)], {1, 2}),
        ([(1, 0.1, 5), (1, "1e300", 5), (2, 0.2, 5), (2, 0.3, 5)], {1, 2}),
        ([(1, 0.1, 5), (1, "-5", 5), (1, 0.2, 5), (2, 0.2, 5), (2, 0.3, 5)], set[int]()),
    ],
)
def test_a_length_that_the_samples_do_not_tell_is_unknown_and_told(
    write_metrics: WriteMetrics, rows: list[tuple[object, ...]], expected: set[int]
) -> None:
    path = write_metrics(*rows)
    reasons = unknown(path)
    assert set(reasons) == expected
    told = read(path).warnings
    assert all(f"run 1: {reason}" in told for reason in reasons.values())
    assert not any("-" in text.partition("up to ")[2][:1] for text in told)


def test_a_step_that_no_case_has_makes_no_records(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS, (300_000_000, 0.7, 5))
    assert len(only(path).steps) == 2
    metadata_of(path).write_text(json.dumps({"steps": [{"name": name} for name in "abc"]}))
    assert lengths(only(write_metrics(*ROWS, (4, 0.7, 5))).steps) == [[0.2], [], []]


@pytest.mark.parametrize("metadata", ["{", '{"steps": 3}', "[" * 100_000, "\0"])
def test_names_that_cannot_be_read_are_told(write_metrics: WriteMetrics, metadata: str) -> None:
    path = write_metrics(*ROWS)
    assert not any("names" in text for text in read(path).warnings)
    metadata_of(path).write_text(metadata)
    found = read(path)
    assert "metadata.json does not tell the steps" in found.warnings[0]
    assert [step.name for step in found.runs[0][1].steps] == ["step 1", "step 2"]


def test_another_version_is_refused_and_other_runs_are_read(write_metrics: WriteMetrics) -> None:
    write_metrics(*ROWS)
    path = write_metrics(*ROWS, run=2, version=9)
    write_metrics(*ROWS, run=3).write_text("step,timestamp\r\n1,0.5\r\n")
    found = read(path)
    assert [record.run for _, record in found.runs] == [1]
    assert "its version is 9, and only 2 and 3 are known" in str(found.unreadable[2])
    assert "its version is not told" in str(found.unreadable[3])


def no_table(path: Path) -> None:
    path.write_text("not,metrics\n")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def endless_line(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0" * (2 << 20))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (no_table, ".* no header .* move its run away"),
        (folder, "Is a directory"),
        (pipe, ".* is a named pipe, not a file"),
        (endless_line, "it has a line of more than 1,048,576 bytes"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_read(
    write_metrics: WriteMetrics, spoil: Callable[[Path], None], why: str
) -> None:
    paths = [write_metrics(*ROWS, run=run) for run in (1, 2, 3)]
    spoil(paths[1])
    found = read(paths[1])
    assert [record.run for _, record in found.runs] == [1, 3]
    assert re.search(f"run_2/metrics.csv: .*{why}", str(found.unreadable[2]))


def test_rows_that_alternate_between_steps_are_no_table(
    write_metrics: WriteMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each row would be kept in memory."""
    path = write_metrics(*((1 + n % 2, n / 10, 5) for n in range(1, 40)))
    monkeypatch.setattr(krown_scan, "_MOST_PARTS", 30)
    [error] = read(path).unreadable.values()
    assert "its step changes more than 30 times" in str(error)


def test_without_a_readable_run_nothing_is_said_of_done(write_metrics: WriteMetrics) -> None:
    path = write_metrics(*ROWS)
    path.write_bytes(b"\xff" * 300_000)
    found = read(path)
    assert (found.runs, found.warnings, list(found.unreadable)) == ((), (), [1])
