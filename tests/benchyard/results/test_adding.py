"""Campaigns from elsewhere are added each once, in the order of time, whatever is killed when."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.results import adding
from benchyard.results.adding import add_campaigns
from benchyard.results.campaigns import earlier_campaigns, read_campaign, with_earlier
from benchyard.results.record import RunRecord
from benchyard.results.subject import digested


def campaign(day: int, session: str = "", runs: int = 2, host: str = "ci") -> list[RunRecord]:
    """Return the runs of a campaign on one day of a month."""
    subject = digested({"host": host})
    return [
        RunRecord(
            {"title": "c"},
            run,
            Outcome.COMPLETED,
            f"2026-11-{day:02d}T00:{run:02d}:00+00:00",
            "",
            0.0,
            (),
            subject=subject,
            session={"id": session or f"s{day}"},
        )
        for run in range(1, runs + 1)
    ]


def days(results: Path) -> list[int]:
    """Return the day of each campaign, the newest first."""
    found = (read_campaign(place).newest for place in with_earlier(results))
    return [one.began.day for one in found if one is not None]


def test_campaigns_lie_in_the_order_of_time_however_they_come(tmp_path: Path) -> None:
    assert add_campaigns(tmp_path, [campaign(5), campaign(2), campaign(9)]) == 3
    assert days(tmp_path) == [9, 5, 2]
    assert add_campaigns(tmp_path, [campaign(7), campaign(12)]) == 2
    assert days(tmp_path) == [12, 9, 7, 5, 2]
    assert sorted(read_campaign(tmp_path).records) == [1, 2]


def test_what_is_there_is_not_added_again(tmp_path: Path) -> None:
    several = [campaign(5), campaign(2), campaign(9)]
    add_campaigns(tmp_path, several)
    assert add_campaigns(tmp_path, several) == 0
    assert days(tmp_path) == [9, 5, 2]


@pytest.mark.parametrize("day", [2, 9])
def test_another_campaign_of_the_same_moment_is_kept_beside(tmp_path: Path, day: int) -> None:
    add_campaigns(tmp_path, [campaign(2), campaign(9)])
    others = [campaign(day, "another")]
    assert add_campaigns(tmp_path, others) == 1
    assert add_campaigns(tmp_path, others) == 0
    assert sorted(days(tmp_path)) == sorted([2, 9, day])


def test_what_was_measured_here_is_set_aside_by_what_is_newer(tmp_path: Path) -> None:
    add_campaigns(tmp_path, [campaign(3, host="here")])
    (tmp_path / "notes.txt").write_text("mine")
    add_campaigns(tmp_path, [campaign(1), campaign(8)])
    assert days(tmp_path) == [8, 3, 1]
    assert (tmp_path / "notes.txt").exists()


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("killed_in", ["_write", "_raise", "set_aside"])
def test_a_killed_import_loses_nothing_and_the_next_one_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_in: str
) -> None:
    add_campaigns(tmp_path, [campaign(3)])
    several: Sequence[Sequence[RunRecord]] = [campaign(1), campaign(8)]
    with monkeypatch.context() as patched:
        patched.setattr(adding, killed_in, _killed)
        with pytest.raises(KeyboardInterrupt):
            add_campaigns(tmp_path, several)
    add_campaigns(tmp_path, several)
    assert days(tmp_path) == [8, 3, 1]
    assert not [*tmp_path.glob("earlier/.*")]


def test_records_are_as_those_of_a_lab(tmp_path: Path) -> None:
    odd = [replace(campaign(4)[0], warnings=("ümlaut",))]
    add_campaigns(tmp_path, [odd])
    document = json.loads((tmp_path / "run_1" / "run.json").read_bytes())
    assert (document["format"], document["warnings"]) == ("benchyard-run", ["ümlaut"])
    assert read_campaign(tmp_path).records[1] == odd[0]
    assert earlier_campaigns(tmp_path) == []
