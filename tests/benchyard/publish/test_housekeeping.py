"""What may go and what must stay; what waits; room on disks."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core import places
from benchyard.publish.housekeeping import (
    Policy,
    disks,
    old_runs,
    remove,
    size_of,
    spools,
)
from benchyard.results.layout import DONE, run_folder

DAY = 86_400
NOW = 1_000_000_000.0


def make_run(results: Path, run: int, days: float, *, done: bool = True, ours: bool = True) -> Path:
    folder = run_folder(results, run)
    folder.mkdir(parents=True)
    if ours:
        (folder / "run.json").write_text('{"format": "benchyard-run"}')
        os.utime(folder / "run.json", (NOW - days * DAY, NOW - days * DAY))
    if done:
        (folder / DONE).touch()
    os.utime(folder, (NOW - days * DAY, NOW - days * DAY))
    return folder


def numbers(results: Path, policy: Policy) -> list[int]:
    return [int(one.folder.name.removeprefix("run_")) for one in old_runs([results], policy, NOW)]


def test_a_run_may_go_only_if_it_is_neither_young_nor_among_the_newest(tmp_path: Path) -> None:
    for run, days in enumerate((400, 300, 200, 100, 10), start=1):
        make_run(tmp_path, run, days)
    assert numbers(tmp_path, Policy(keep_newest=2, younger_than_days=250)) == [1, 2]
    assert numbers(tmp_path, Policy(keep_newest=4, younger_than_days=250)) == [1]
    assert numbers(tmp_path, Policy(keep_newest=5, younger_than_days=0)) == []
    (tmp_path / "summary.json").write_text("{}")
    remove(old_runs([tmp_path, tmp_path / "nothing"], Policy(4, 250), NOW))
    assert sorted(path.name for path in tmp_path.glob("run_*")) == [f"run_{n}" for n in range(2, 6)]
    assert (tmp_path / "summary.json").exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    make_run(tmp_path, 1, 1)
    make_run(tmp_path, 2, 900, ours=False)
    other = tmp_path / "run_3.mine"
    other.mkdir()
    os.utime(other, (0, 0))
    elsewhere = make_run(tmp_path / "elsewhere", 4, 900)
    (tmp_path / "run_4").symlink_to(elsewhere)

    assert numbers(tmp_path, Policy(keep_newest=1, younger_than_days=0)) == []


@given(
    st.lists(st.tuples(st.floats(0, 1000), st.booleans()), max_size=12),
    st.integers(1, 6),
    st.floats(0, 500),
)
def test_for_any_history_enough_stays(
    tmp_path_factory: pytest.TempPathFactory,
    history: Sequence[tuple[float, bool]],
    newest: int,
    days: float,
) -> None:
    results = tmp_path_factory.mktemp("results")
    for run, (age, done) in enumerate(history, start=1):
        make_run(results, run, age, done=done)

    gone = set(numbers(results, Policy(newest, days)))

    left = [(age, done) for run, (age, done) in enumerate(history, 1) if run not in gone]
    assert len(left) >= min(newest, len(history))
    assert any(done for _, done in left) == any(done for _, done in history)
    assert all(history[run - 1][0] >= days for run in gone)


def test_sizes_are_of_files_alone_and_links_are_not_followed(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(b"x" * 1_000_000)
    run = tmp_path / "run"
    run.mkdir()
    (run / "link").symlink_to(big)
    (run / "small").write_bytes(b"x" * 4096)

    assert size_of(run) < 100_000
    assert size_of(tmp_path) >= 1_000_000


def test_spools_tell_what_waits_and_for_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.HOME, str(tmp_path))
    assert spools(NOW) == ()
    folder = places.spool_of("datastore")
    (folder / "rejected").mkdir(parents=True)
    for number, days in enumerate((3, 7)):
        file = folder / f"{number}.json"
        file.write_text("{}")
        os.utime(file, (NOW - days * DAY, NOW - days * DAY))
    (folder / "rejected" / "broken.json").write_text("?")
    (folder / "rejected" / "broken.json.reason.txt").write_text("why")

    (spool,) = spools(NOW)

    assert (spool.sink, spool.waiting, spool.rejected) == ("datastore", 2, 1)
    assert spool.oldest_days == pytest.approx(7)


def test_room_is_told_once_for_each_file_system(tmp_path: Path) -> None:
    (disk,) = disks([tmp_path, tmp_path / "not" / "there"])

    assert disk.folder == tmp_path
    assert 0 <= disk.free_share <= 1
