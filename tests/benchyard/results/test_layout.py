"""Where results lie, how a run begins and ends in them, and what may be removed."""

import os
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchyard.core.model import Case, Json, point_suffix
from benchyard.results import layout
from benchyard.results.campaigns import Cleaned, clean, removable
from benchyard.results.folders import DONE, MARK, SUMMARY_FILES, WORK, Results, RunFolder
from benchyard.results.layout import (
    begin_run,
    finish_run,
    point_slug,
    restore_replaced,
    results_folder,
    work_folder,
)


def execute(results: Path, run: int, content: str = "") -> Path:
    """Make a finished run."""
    folder = begin_run(results, run)
    (folder / "run.json").write_text(content or f'{{"run": {run}}}')
    finish_run(folder)
    return folder


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def case(folder: Path, **point: Json) -> Case:
    return Case(folder, "urn:x", "x", "", (), point=point)


# -- a run begins and ends


def test_defect_32_a_run_replaces_itself_alone_and_only_once_it_is_done(tmp_path: Path) -> None:
    for run in (1, 2):
        execute(tmp_path, run)
    folder = begin_run(tmp_path, 1)
    assert (tmp_path / "run_1.replaced" / "run.json").read_text() == '{"run": 1}'
    assert [*Results(tmp_path).done()] == [2]
    (folder / "run.json").write_text('{"is": "new"}')
    finish_run(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run_1", "run_2"]
    assert tree(folder) == [MARK, DONE, "run.json"]
    assert (folder / "run.json").read_text() == '{"is": "new"}'
    assert (tmp_path / "run_2" / "run.json").read_text() == '{"run": 2}'
    (folder / DONE).unlink()
    execute(tmp_path, 1, '{"is": "again"}')
    assert [*Results(tmp_path).done()] == [1, 2]
    assert (folder / "run.json").read_text() == '{"is": "again"}'


def test_the_work_folder_goes_with_the_end_of_the_run(tmp_path: Path) -> None:
    folder = begin_run(tmp_path, 1)
    (folder / WORK / "own").mkdir(parents=True)
    (folder / "log.txt").touch()
    finish_run(folder)
    assert tree(folder) == [MARK, DONE, "log.txt"]


def test_a_forced_run_that_never_ended_gives_the_old_one_back(tmp_path: Path) -> None:
    execute(tmp_path, 1, '{"is": "old"}')
    execute(tmp_path, 2, '{"is": "other"}')
    begin_run(tmp_path, 1)
    (begin_run(tmp_path, 1) / "log.txt").touch()
    assert restore_replaced(tmp_path) == [1]
    assert [*Results(tmp_path).done()] == [1, 2]
    assert (tmp_path / "run_1" / "run.json").read_text() == '{"is": "old"}'
    assert restore_replaced(tmp_path) == []


def test_a_forced_run_that_ended_keeps_the_new_one(tmp_path: Path) -> None:
    """The lab died between the checkpoint and the removal of the old run."""
    execute(tmp_path, 1, '{"is": "new"}')
    (tmp_path / "run_1.replaced").mkdir()
    (tmp_path / "run_1.replaced" / DONE).touch()
    assert restore_replaced(tmp_path) == []
    assert tree(tmp_path) == ["run_1", f"run_1/{MARK}", f"run_1/{DONE}", "run_1/run.json"]


def test_only_our_own_names_are_restored(tmp_path: Path) -> None:
    for name in ("run_x.replaced", "run_01.replaced", "mine.replaced"):
        (tmp_path / name).mkdir()
    assert restore_replaced(tmp_path) == []
    assert restore_replaced(tmp_path / "absent") == []
    assert len(list(tmp_path.iterdir())) == 3


def test_the_checkpoint_is_written_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begin_run(tmp_path, 1)
    (folder / "run.json").write_text("x")
    (folder / "link").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")

    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(layout, "sync_file", full)
        with pytest.raises(OSError, match="No space"):
            finish_run(folder)
    assert not RunFolder(folder).is_done
    finish_run(folder)
    assert (folder / ".done").is_file(), "links and pipes are no hindrance"


# -- removing


def test_defect_28_and_29_clean_removes_only_what_is_ours(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for run in (1, 2):
        execute(results, run)
    begin_run(results, 1)  # leaves run_1.replaced
    foreign = ["notes.txt", "run_x", "run_3.txt", "running", "state.json", "run_5.replaced.bak"]
    for name in foreign:
        (results / name).touch()
    (results / "app-state").mkdir()
    (results / "run_9").touch()  # a file: not a run of ours
    (tmp_path / "bank_statement.csv").touch()
    for name in SUMMARY_FILES:
        (results / name).touch()
    expected = ["run_1", "run_2", "run_1.replaced", *SUMMARY_FILES]
    assert [path.name for path in removable(results)] == expected
    assert [path.name for path in clean(results).gone] == expected
    assert sorted(p.name for p in results.iterdir()) == sorted([*foreign, "app-state", "run_9"])
    assert (tmp_path / "bank_statement.csv").exists()


def test_clean_follows_no_links(tmp_path: Path) -> None:
    other = tmp_path / "other"
    execute(other, 1)
    results = tmp_path / "results"
    execute(results, 2)
    (results / "run_1").symlink_to(other / "run_1")
    (results / "run_2" / "link").symlink_to(other)
    (results / "summary.json").symlink_to(other / "run_1" / "run.json")
    clean(results)
    assert tree(other) == ["run_1", f"run_1/{MARK}", f"run_1/{DONE}", "run_1/run.json"]
    assert tree(results) == ["run_1", "run_2", "run_2/link", "summary.json"]


@pytest.mark.parametrize("place", ["absent", "file"])
def test_clean_of_nothing_removes_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    assert clean(tmp_path / place) == Cleaned()
    assert (tmp_path / "file").exists()


# -- where programs work


def test_programs_work_in_the_run_s_folder_but_for_those_of_a_point(tmp_path: Path) -> None:
    points = [tmp_path / "results" / point / "run_1" for point in ("a=1", "a=2", "b=1")]
    places = {work_folder(folder) for folder in points}
    assert len(places) == 3
    assert {place.parent for place in places} == {tmp_path / "results" / WORK}
    assert not [place for place in places if "=" in str(place.relative_to(tmp_path))]
    assert work_folder(tmp_path / "results" / "run_1") == tmp_path / "results" / "run_1" / WORK


@pytest.mark.parametrize("name", ["results", "results/a=1"])
def test_what_a_killed_lab_left_goes_with_the_next_try_or_clean(tmp_path: Path, name: str) -> None:
    results = tmp_path / name
    of_another = work_folder(tmp_path / "results" / "b=1" / "run_1")
    of_another.mkdir(parents=True)

    def killed(run: int) -> Path:
        work = work_folder(begin_run(results, run))
        (work / "shared").mkdir(parents=True)
        return work

    work = killed(1)
    finish_run(begin_run(results, 1))
    assert not work.exists()

    work = killed(1)  # while it did a finished run again
    assert restore_replaced(results) == [1]
    assert not work.exists()

    work = killed(2)
    clean(results)
    assert not work.exists()
    assert of_another.exists()
    clean(tmp_path / "results" / "b=1")
    assert tree(tmp_path) == ["results"]


# -- results folders and points


def test_results_lie_in_the_case_or_elsewhere_at_the_same_place(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "cases", tmp_path / "out"
    here = case(root / "group" / "a")
    assert results_folder(here, root, None) == root / "group" / "a" / "results"
    assert results_folder(here, root, elsewhere) == elsewhere / "group" / "a"
    assert results_folder(case(root / "a", n=1), root, elsewhere) == elsewhere / "a" / "n=1"
    assert results_folder(case(root / "a", n=1), root, None) == root / "a" / "results" / "n=1"


def test_cases_of_one_folder_name_outside_of_the_root_share_nothing(tmp_path: Path) -> None:
    folders = [
        results_folder(case(tmp_path / place / "same"), tmp_path / "cases", tmp_path / "out")
        for place in ("a", "b", os.fsdecode(b"\xff"))
    ]
    assert len(set(folders)) == 3
    assert all(folder.parent == tmp_path / "out" for folder in folders)


SAFE = set(string.ascii_letters + string.digits + "._=,+-~")
VALUES = (
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
POINTS = st.dictionaries(st.sampled_from(["a", "b", "run_1", "_x"]), VALUES, min_size=1, max_size=3)


@settings(deadline=None)
@given(point=POINTS)
def test_a_slug_is_a_safe_name_of_one_folder(point: dict[str, Json]) -> None:
    slug = point_slug(point)
    assert set(slug) <= SAFE
    assert 0 < len(slug) <= 100
    assert not slug.startswith(".")
    assert removable(Path("/nowhere") / slug) == []


@settings(deadline=None)
@given(points=st.lists(POINTS, min_size=2, max_size=6, unique_by=point_suffix))
def test_points_of_two_names_never_share_a_folder(points: list[dict[str, Json]]) -> None:
    assert len({point_slug(point) for point in points}) == len(points)


@settings(deadline=None)
@given(value=st.text(min_size=1))
def test_no_value_can_be_written_like_the_slug_of_another(value: str) -> None:
    taken = point_slug({"x": value})
    imitation = {"x": taken.removeprefix("x=")}
    assert point_slug(imitation) != taken or imitation == {"x": value}
