"""Which runs lie in a results folder, in which state; and that no name is written twice."""

import re
from pathlib import Path

import pytest

from benchyard.results import folders
from benchyard.results.folders import DONE, Results, RunFolder, run_number

ROOT = Path(__file__).parents[3]


def make(results: Path, number: int, record: str | None = "{}", *, done: bool = True) -> RunFolder:
    run = Results(results).run(number)
    run.path.mkdir(parents=True)
    if record is not None:
        run.record.write_text(record)
    if done:
        run.checkpoint.touch()
    return run


def test_a_run_is_done_with_its_checkpoint(tmp_path: Path) -> None:
    run = make(tmp_path, 1, done=False)
    assert run.path == tmp_path / "run_1"
    assert (run.is_done, run.is_marked, run.has_failed) == (False, False, True)
    run.checkpoint.touch()
    assert (run.is_done, run.is_marked, run.has_failed) == (True, True, False)
    assert Results(tmp_path).done() == {1: run}


def test_runs_are_numbers_in_ascending_order(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        make(tmp_path, number)
    make(tmp_path, 3, None, done=False)
    for name in ("run_0", "run_01", "run_x", "run_4x", "run_", "xrun_5", "run_6.replaced"):
        (tmp_path / name).mkdir()
        (tmp_path / name / DONE).touch()
        assert run_number(name) is None
    (tmp_path / "run_7").touch()
    (tmp_path / "run_8").symlink_to("run_1")
    assert [*Results(tmp_path).runs()] == [1, 2, 3, 10]
    assert [*Results(tmp_path).done()] == [1, 2, 10]
    assert [run.number for run in Results(tmp_path).done().values()] == [1, 2, 10]
    assert [*Results(tmp_path).runs(linked=True)] == [1, 2, 3, 8, 10]


@pytest.mark.parametrize("record", [None, "", "{", '{"format": "benchyard-run"', "\0" * 40])
def test_a_run_without_a_whole_record_is_not_done(tmp_path: Path, record: str | None) -> None:
    make(tmp_path, 1, record)
    results = Results(tmp_path)
    assert ([*results.done()], [*results.marked()], [*results.failed()]) == ([], [1], [])


def test_a_run_that_was_recorded_and_is_not_done_has_failed(tmp_path: Path) -> None:
    make(tmp_path, 1)
    make(tmp_path, 2, None, done=False)
    make(tmp_path, 3, "", done=False)
    assert [*Results(tmp_path).failed()] == [3]
    assert [*Results(tmp_path).recorded()] == [1, 3]


@pytest.mark.parametrize("place", ["absent", "file", "file/below"])
def test_results_that_are_not_there_have_no_runs(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    assert Results(tmp_path / place).runs() == {}


def test_a_folder_that_is_no_run_has_no_number(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="notes"):
        _ = RunFolder(tmp_path / "notes").number


def test_no_other_module_writes_the_name_of_a_file() -> None:
    names = {folders.RUN_FILE, folders.METRICS_FILE, folders.EVENTS_FILE, folders.SUMMARY_FILE}
    names |= {folders.TRIES_FILE, folders.LOG_FILE, folders.RESOURCES_FILE, folders.DONE}
    written = re.compile("|".join(re.escape(f'"{name}"') for name in names))
    files = [f for room in ("benchyard", "tasks", "flows") for f in (ROOT / room).rglob("*.py")]
    found = {str(f.relative_to(ROOT)) for f in files if written.search(f.read_text())}
    assert found == {"benchyard/results/folders.py"}
