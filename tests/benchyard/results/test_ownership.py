"""Nothing that somebody else made is removed, replaced or moved away from its run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.results import ownership
from benchyard.results.campaigns import clean, refuse_unremovable, removable, set_aside
from benchyard.results.folders import MARK, SUMMARY_FILES
from benchyard.results.layout import (
    begin_run,
    finish_run,
    refuse_foreign,
    restore_replaced,
)
from benchyard.results.ownership import (
    foreign_in,
    is_own_run,
    make_run,
    passing,
    remove_run,
)
from benchyard.results.record import FORMAT
from tests.conftest import tree

KROWNS = Path(__file__).parents[4] / "shared" / "krown-samples"


def record(folder: Path, *outputs: str) -> None:
    """Write as much of a record as tells whose files are whose."""
    listed = [{"path": name} for name in outputs]
    document: dict[str, Any] = {"format": FORMAT, "outputs": listed, "resources": {"Process": {}}}
    (folder / "run.json").write_text(json.dumps(document))


def execute(results: Path, run: int, *outputs: str) -> Path:
    """Make a finished run."""
    folder = begin_run(results, run, ["process"])
    for name in outputs:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("made")
    record(folder, *outputs)
    finish_run(folder)
    return folder


def foreign(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    return path


def traits(path: Path) -> tuple[int, int, str]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, path.read_text()


# -- whose folder


def test_a_run_is_ours_from_its_first_moment(tmp_path: Path) -> None:
    make_run(tmp_path / "run_1", ["process"])
    assert is_own_run(tmp_path / "run_1")
    assert foreign_in(tmp_path / "run_1") == []
    assert [path.name for path in tmp_path.iterdir()] == ["run_1"]


def test_what_a_killed_lab_was_making_or_removing_goes_with_the_next_run(tmp_path: Path) -> None:
    for name in (".making-run_1", ".removing-run_2", ".removing-run_3.replaced"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.txt").touch()
    (tmp_path / ".removing-mine").mkdir()
    assert len(passing(tmp_path)) == 3
    begin_run(tmp_path, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".removing-mine", "run_1"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".done", ""),
        (".done", "2026-11-20T10:00:00.123+00:00\n"),
        (".done", "2024-06-06T15:55:59\n"),
        ("run.json", json.dumps({"format": FORMAT})),
        ("log.txt", "2026-11-20 10:00:00,123 INFO begun"),
        ("log.txt", "[2024-06-06 15:55:51] begun"),
        ("metrics.csv", "name,run,index,step,timestamp,version,cpu_user\n"),
        (".work/own/x", ""),
    ],
)
def test_runs_of_older_versions_and_krown_are_known(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(content)
    assert is_own_run(tmp_path)


@pytest.mark.skipif(not KROWNS.is_dir(), reason="KROWN's samples are not here")
def test_krowns_own_results_are_known_whole() -> None:
    runs = sorted(KROWNS.rglob("run_*"))
    assert runs
    for run in runs:
        assert is_own_run(run)
        assert foreign_in(run, [path.name for path in run.iterdir() if path.is_dir()]) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("thesis.tex", "x"),
        (".done", "tomorrow"),
        ("run.json", '{"speed": 7}'),
        ("log.txt", "dear diary"),
        ("metrics.csv", "a,b\n1,2\n"),
    ],
)
def test_what_others_made_under_our_names_stays(tmp_path: Path, name: str, content: str) -> None:
    folder = tmp_path / "run_1"
    foreign(folder / name).write_text(content)
    before = traits(folder / name)
    assert not is_own_run(folder)
    for act in (lambda: refuse_foreign(tmp_path, (1,)), lambda: begin_run(tmp_path, 1)):
        with pytest.raises(InputError, match="run_1 was not made by Benchyard"):
            act()
    assert removable(tmp_path) == []
    assert set_aside(tmp_path) is None
    clean(tmp_path)
    assert traits(folder / name) == before


def test_links_and_files_of_a_run_s_name_are_refused(tmp_path: Path) -> None:
    execute(tmp_path / "other", 1)
    (tmp_path / "run_1").symlink_to(tmp_path / "other" / "run_1")
    foreign(tmp_path / "run_2")
    foreign(tmp_path / "run_3.replaced" / "thesis.tex")
    for run in (1, 2, 3):
        with pytest.raises(InputError, match=f"run_{run}.* was not made by Benchyard"):
            begin_run(tmp_path, run)
    assert restore_replaced(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("name", SUMMARY_FILES)
def test_a_foreign_summary_is_refused_and_never_moved(tmp_path: Path, name: str) -> None:
    execute(tmp_path, 1)
    file = foreign(tmp_path / name)
    before = traits(file)
    with pytest.raises(InputError, match=f"{name} was not made by Benchyard, and would be"):
        refuse_foreign(tmp_path, ())
    set_aside(tmp_path)
    clean(tmp_path)
    assert traits(file) == before


# -- what is in it


def test_a_file_that_no_record_lists_is_foreign(tmp_path: Path) -> None:
    folder = execute(tmp_path, 1, "process/words.txt")
    assert foreign_in(folder) == []
    mine = [foreign(folder / name) for name in ("notes/a.txt", "process/b.txt", "thesis.tex")]
    assert foreign_in(folder) == [folder / "notes", *mine[1:]]


def test_before_there_is_a_record_all_in_a_resource_s_folder_is_the_run_s(tmp_path: Path) -> None:
    folder = begin_run(tmp_path, 1, ["process"])
    foreign(folder / "process" / "half.txt")
    foreign(folder / ".metrics.csv.4711.new")
    assert foreign_in(folder) == []
    assert foreign_in(folder, []) == []
    (folder / MARK).unlink()
    (folder / ".done").touch()
    assert foreign_in(folder) == [folder / "process"]
    assert foreign_in(folder, ["process"]) == []


def test_a_run_with_something_foreign_is_kept_whole(tmp_path: Path) -> None:
    folder = begin_run(tmp_path, 1)
    before = traits(foreign(folder / "thesis.tex"))
    said: list[str] = []
    begin_run(tmp_path, 1, say=said.append)
    [kept] = tmp_path.glob("run_1.kept-*")
    assert traits(kept / "thesis.tex") == before
    assert said == [f"{kept} holds what Benchyard did not make, and is kept as it was"]
    foreign(tmp_path / "run_1" / "more.tex")
    begin_run(tmp_path, 1)
    assert len(list(tmp_path.glob("run_1.kept-*"))) == 2


def test_what_force_replaces_is_kept_if_something_in_it_is_foreign(tmp_path: Path) -> None:
    before = traits(foreign(execute(tmp_path, 1) / "process" / "thesis.tex"))
    said: list[str] = []
    folder = begin_run(tmp_path, 1)
    record(folder)
    finish_run(folder, said.append)
    [kept] = tmp_path.glob("run_1.replaced.kept-*")
    assert traits(kept / "process" / "thesis.tex") == before
    assert len(said) == 1


def test_clean_leaves_what_is_foreign_in_its_place(tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = execute(results, 1, "process/words.txt")
    execute(results, 2)
    mine = [foreign(folder / "process" / "thesis.tex"), foreign(folder / "notes" / "a.txt")]
    before = [traits(path) for path in mine]
    cleaned = clean(results)
    assert [path.name for path in cleaned.gone] == ["run_1", "run_2"]
    assert list(cleaned.left) == [folder / "notes", mine[0]]
    assert [traits(path) for path in mine] == before
    assert {path for path in results.rglob("*") if path.is_file()} == {*mine}


def test_a_killed_removal_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = execute(tmp_path, 1, "process/words.txt")
    mine = foreign(folder / "thesis.tex")
    real, left = ownership.remove_tree, [3]

    def dies(path: Path) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        real(path)

    monkeypatch.setattr(ownership, "remove_tree", dies)
    with pytest.raises(KeyboardInterrupt):
        remove_run(folder)
    monkeypatch.undo()
    assert is_own_run(folder)
    assert remove_run(folder) == [mine]
    assert tree(tmp_path).keys() == {"run_1", "run_1/thesis.tex"}


def test_clean_through_a_link_leaves_the_link(tmp_path: Path) -> None:
    disk, results = tmp_path / "disk", tmp_path / "results"
    disk.mkdir()
    results.symlink_to(disk)
    execute(results, 1)
    clean(results)
    assert results.is_symlink()
    assert list(disk.iterdir()) == []


def test_the_unremovable_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = execute(tmp_path, 1, "process/words.txt")

    def access(path: Path, _mode: int) -> bool:
        return path.name != "process"

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(InputError, match="process cannot be written: nothing was removed"):
        refuse_unremovable([folder])
