"""Rejected files, offered once more."""

import os
from pathlib import Path

import pytest

from benchyard.publish import again
from benchyard.publish.again import offer_again
from benchyard.publish.claiming import Claim, claimed
from benchyard.publish.sinks.contract import Kind
from benchyard.publish.spool import reject
from tests.benchyard.publish.conftest import names, write


def rejected(spool: Path, name: str, content: str = "{}") -> Path:
    with claimed(write(spool / name, content)) as held:
        assert isinstance(held, Claim)
        return spool / "rejected" / reject(held, "for once")


def test_they_wait_again_and_their_reasons_go(spool: Path) -> None:
    rejected(spool, "a.json")
    rejected(spool, "b.json.gz")
    assert offer_again(spool) == ()
    assert names(spool) == ["a.json", "b.json.gz", "rejected"]
    assert names(spool / "rejected") == []


def test_nothing_was_rejected(spool: Path) -> None:
    assert offer_again(spool) == ()
    assert offer_again(spool / "absent") == ()


def test_another_file_of_that_name_that_waits_stays(spool: Path) -> None:
    path = rejected(spool, "a.json", "old")
    write(spool / "a.json", "new")
    [left] = offer_again(spool)
    assert left.name == "rejected/a.json"
    assert "another file of that name waits" in left.reason
    assert (spool / "a.json").read_text() == "new"
    assert path.read_text() == "old"


def test_who_was_killed_in_between_loses_nothing(spool: Path) -> None:
    path = rejected(spool, "a.json", "mine")
    os.link(path, spool / "a.json")
    assert offer_again(spool) == ()
    assert (spool / "a.json").read_text() == "mine"
    assert names(spool / "rejected") == []


def test_where_there_are_no_links_it_is_renamed(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_descriptor: int, _target: Path) -> None:
        return None

    rejected(spool, "a.json", "mine")
    monkeypatch.setattr(again, "link_exclusively", none)
    assert offer_again(spool) == ()
    assert (spool / "a.json").read_text() == "mine"
    assert names(spool / "rejected") == []


def test_the_other_kind_and_what_is_no_document_stay(spool: Path) -> None:
    rejected(spool, "a.json")
    rejected(spool, "a.events.jsonl")
    write(spool / "rejected" / "notes.txt", "mine")
    assert offer_again(spool, Kind.RESULTS) == ()
    assert "a.json" in names(spool)
    assert {"a.events.jsonl", "notes.txt"} <= set(names(spool / "rejected"))


def test_what_another_publisher_has_is_left_to_it(spool: Path) -> None:
    path = rejected(spool, "a.json")
    with claimed(path):
        assert offer_again(spool) == ()
    assert path.exists()
