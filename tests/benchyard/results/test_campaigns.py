"""Campaigns are kept apart, whole, and whatever is killed when."""

import json
from pathlib import Path

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject, Outcome
from benchyard.results import campaigns
from benchyard.results.campaigns import (
    KROWN,
    chosen_campaigns,
    clean,
    earlier_campaigns,
    finish_moving,
    is_earlier,
    read_campaign,
    set_aside,
)
from benchyard.results.folders import DONE, SUMMARY_FILES, run_folder
from benchyard.results.record import RunRecord, write_record
from benchyard.results.subject import digest_of
from tests.conftest import tree


def finish(results: Path, *runs: int, host: str = "a", minute: int = 0) -> None:
    for run in runs:
        folder = run_folder(results, run)
        folder.mkdir(parents=True)
        when = f"2026-11-20T10:{minute:02d}:{run:02d}+00:00"
        subject: JsonObject = {"host": host, "digest": "sha256:" + host * 64}
        done = Outcome.COMPLETED
        record = RunRecord({"title": "c"}, run, done, when, when, 1.0, (), subject=subject)
        write_record(folder, record)
        (folder / DONE).write_text(when + "\n")


def krown(results: Path, run: int) -> None:
    folder = run_folder(results, run)
    folder.mkdir(parents=True)
    (folder / "metrics.csv").touch()
    (folder / DONE).write_text("2024-01-01T10:00:00")


def test_a_campaign_moves_whole_and_what_is_foreign_stays(tmp_path: Path) -> None:
    finish(tmp_path, 1, 2)
    for name in SUMMARY_FILES:
        (tmp_path / name).touch()
    (tmp_path / "thesis.tex").touch()
    before = {run: tree(run_folder(tmp_path, run)) for run in (1, 2)}

    place = set_aside(tmp_path)

    assert place is not None
    digest = digest_of({"host": "a"})[7:19]
    assert place == tmp_path / "earlier" / f"20261120T100001Z-{digest}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["earlier", "thesis.tex"]
    assert {run: tree(run_folder(place, run)) for run in (1, 2)} == before
    assert sorted(p.name for p in place.iterdir()) == sorted(["run_1", "run_2", *SUMMARY_FILES])
    assert is_earlier(place)
    assert set_aside(tmp_path) is None


def test_two_campaigns_of_one_second_both_stay(tmp_path: Path) -> None:
    for _ in range(3):
        finish(tmp_path, 1)
        set_aside(tmp_path)
    names = sorted(place.name for place in earlier_campaigns(tmp_path))
    assert [name[29:] for name in names] == ["", "-2", "-3"]


@pytest.mark.parametrize("moved", [0, 1, 2, 3])
def test_a_move_that_was_killed_is_finished(tmp_path: Path, moved: int) -> None:
    finish(tmp_path, 1, 2)
    (tmp_path / "summary.json").touch()
    whole = tree(tmp_path)
    killed_after(tmp_path, moved)

    finish_moving(tmp_path)

    [place] = earlier_campaigns(tmp_path)
    assert tree(place) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["earlier"]
    finish_moving(tmp_path)
    assert earlier_campaigns(tmp_path) == [place]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_what_stays_stays_although_the_move_was_killed(tmp_path: Path, moved: int) -> None:
    finish(tmp_path, 1, 2)
    finish(tmp_path, 3, minute=5)
    killed_after(tmp_path, moved, kept=(3,))

    assert sorted(read_campaign(tmp_path).records) == [3]
    finish_moving(tmp_path)

    [place] = earlier_campaigns(tmp_path)
    assert sorted(path.name for path in place.iterdir()) == ["run_1", "run_2"]
    assert sorted(read_campaign(tmp_path).records) == [3]


def killed_after(results: Path, moved: int, kept: tuple[int, ...] = ()) -> None:
    """Begin to move a campaign, and get no further than some files."""
    moving = results / "earlier" / ".moving-20261120T100001Z-aaaaaaaaaaaa"
    moving.mkdir(parents=True)
    (moving / ".kept.json").write_text(json.dumps(kept))
    for path in campaigns.campaign_files(results)[:moved]:
        path.rename(moving / path.name)


def test_a_campaign_is_chosen_by_the_beginning_of_its_date_or_digest(tmp_path: Path) -> None:
    finish(tmp_path, 1, host="b")
    older = set_aside(tmp_path)
    finish(tmp_path, 1, minute=5)
    newer = set_aside(tmp_path)
    finish(tmp_path, 1, minute=9)
    (tmp_path / "earlier" / "notes").mkdir()
    assert chosen_campaigns(tmp_path, None) == [tmp_path]
    assert chosen_campaigns(tmp_path, "all") == [tmp_path, newer, older]
    assert chosen_campaigns(tmp_path, "20261120T1000") == [older]
    assert chosen_campaigns(tmp_path, digest_of({"host": "a"})[7:10]) == [newer]
    with pytest.raises(InputError, match=r"has no earlier campaign 'x'; known: 2026"):
        chosen_campaigns(tmp_path, "x")
    with pytest.raises(InputError, match="known: there is none"):
        chosen_campaigns(tmp_path / "elsewhere", "x")


def test_a_record_that_cannot_be_read_is_no_finished_run(tmp_path: Path) -> None:
    finish(tmp_path, 1, 2)
    (run_folder(tmp_path, 1) / "run.json").write_text("{")
    there = read_campaign(tmp_path)
    assert sorted(there.records) == [2]
    assert list(there.unreadable) == [1]


def test_krowns_runs_never_count_and_are_set_aside_alone(tmp_path: Path) -> None:
    krown(tmp_path, 1)
    finish(tmp_path, 2)
    there = read_campaign(tmp_path)
    assert (sorted(there.records), there.krown, dict(there.unreadable)) == ([2], (1,), {})
    place = set_aside(tmp_path, keep=(2,))
    assert place is not None
    assert place.name.endswith(f"-{KROWN}")
    assert (run_folder(tmp_path, 2) / "run.json").is_file()
    assert not run_folder(tmp_path, 1).exists()


def test_clean_removes_all_campaigns_and_nothing_else(tmp_path: Path) -> None:
    results = tmp_path / "results"
    finish(results, 1)
    place = set_aside(results)
    assert place is not None
    (place / "notes.txt").touch()
    finish(results, 1, minute=1)
    clean(results)
    assert [p.name for p in results.rglob("*") if p.is_file()] == ["notes.txt"]
    (place / "notes.txt").unlink()
    finish(results, 1, minute=1)
    clean(results)
    assert not results.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"started_at": "9999-12-31T23:59:59-05:00"},
        {"started_at": "0001-01-01T00:00:00+14:00"},
        {"subject": {"host": "a"}},
        {"subject": {"digest": "../../../q"}},
    ],
)
def test_odd_records_of_others_are_set_aside(tmp_path: Path, changes: dict[str, object]) -> None:
    finish(tmp_path, 1)
    file = run_folder(tmp_path, 1) / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    place = set_aside(tmp_path)
    assert [place] == earlier_campaigns(tmp_path)
