"""What is told of another host before anything is executed there."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchyard import __version__
from benchyard.core.model import Json, Outcome
from benchyard.host.facts import environment
from benchyard.publish.packs.packages import differences_here, other_packages
from benchyard.results.folders import DONE
from benchyard.results.record import RunRecord, write_record
from benchyard.results.subject import digested

SUBJECT: dict[str, Json] = {
    "versions": {
        "PostgreSQL": {"version": "16.1", "image": "postgres@sha256:" + "a" * 64},
        "Process": {"version": "Linux"},
    },
    "programs": {"tool": "sha256:" + "1" * 64},
    "packages": {"numpy": "2.0"},
    "host": "there",
}


def packed(folder: Path, **changed: Any) -> Path:
    record = RunRecord(
        case={"name": "a", "title": "a", "point": {}},
        run=1,
        outcome=Outcome.COMPLETED,
        started_at="2026-11-25T00:00:00+00:00",
        ended_at="2026-11-25T00:00:01+00:00",
        duration_s=1.0,
        steps=(),
        environment=environment(),
        benchyard_version=__version__,
        subject=digested(SUBJECT),
    )
    run = folder / "run_1"
    run.mkdir()
    write_record(run, replace(record, **changed))
    (run / DONE).write_text("2026-11-25T00:00:01+00:00\n")
    return folder


def test_the_same_host_and_subject_differ_in_nothing(tmp_path: Path) -> None:
    assert differences_here("a", packed(tmp_path), digested(SUBJECT)) == []
    assert differences_here("a", tmp_path, None) == []


def test_another_host_is_told_fact_by_fact(tmp_path: Path) -> None:
    there = {**environment(), "host": "there", "memory_bytes": 1, "python": "CPython 2.7"}
    told = differences_here(
        "a", packed(tmp_path, environment=there, benchyard_version="0.0.1"), None
    )
    begins = [text.partition(":")[0] for text in told]
    assert begins == ["version of Benchyard", "host", "memory size", "Python"]


def test_another_subject_is_told_with_what_is_missing(tmp_path: Path) -> None:
    here: dict[str, Json] = {
        "versions": {"PostgreSQL": {}, "Process": {"version": "Hurd"}},
        "programs": {},
        "packages": {"numpy": "2.1"},
        "host": "here",
    }
    told = differences_here("a", packed(tmp_path), digested(here))
    assert "version of Process Linux and Hurd" in told
    assert "the program tool is not here" in told
    assert [text for text in told if text.startswith("the image of PostgreSQL is not here")]
    assert [text for text in told if text.startswith("numpy: baseline 2.0, candidate 2.1")]


def test_another_image_is_told(tmp_path: Path) -> None:
    image: Json = "postgres@sha256:" + "b" * 64
    other: dict[str, Json] = {"PostgreSQL": {"version": "16.1", "image": image}}
    told = differences_here("a", packed(tmp_path), digested({**SUBJECT, "versions": other}))
    assert told == ["another image of PostgreSQL"]


def test_packages_of_other_versions_are_told() -> None:
    absent, other = sorted(other_packages({"no-such-package": "1", "click": "0.1"}), reverse=True)
    assert absent == "no-such-package 1 and none"
    assert other.startswith("click 0.1 and ")


def test_runs_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    assert differences_here("a", tmp_path, None) == ["its runs cannot be read"]
