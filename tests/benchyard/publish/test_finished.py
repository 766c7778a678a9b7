"""Finished runs are put into the spools."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchyard.core.errors import RecordError
from benchyard.publish.archive import LocalArchive
from benchyard.publish.compression import Compression
from benchyard.publish.finished import Lies, SpooledRun, document_of_run, spool_run
from benchyard.publish.publisher import publish
from benchyard.publish.sinks.contract import Kind
from benchyard.publish.spool import kind_of
from benchyard.publish.testresults import parse
from benchyard.results.events.lines import load
from tests.benchyard.publish.conftest import names, write
from tests.benchyard.publish.fake_sinks import FolderSink
from tests.benchyard.publish.runs import finished_run

Spool = Callable[[Path], SpooledRun | None]


@pytest.fixture
def to(tmp_path: Path) -> LocalArchive:
    return LocalArchive(tmp_path / "archive")


@pytest.fixture
def put_run(spool: Path, to: LocalArchive) -> Spool:
    return lambda run: spool_run(run, Kind.RESULTS, spool, to)


def test_a_finished_run_is_put_once(put_run: Spool, spool: Path, tmp_path: Path) -> None:
    run = finished_run(tmp_path / "results")
    first = put_run(run)
    assert first is not None
    assert first.lies is Lies.PUT
    assert names(spool) == [first.name]
    assert put_run(run) == SpooledRun(first.name, Lies.WAITING)
    assert parse((spool / first.name).read_bytes()).test == "words"


def test_a_run_that_is_not_finished_is_not_put(put_run: Spool, spool: Path, tmp_path: Path) -> None:
    assert put_run(finished_run(tmp_path / "results", done=False)) is None
    assert put_run(tmp_path / "absent") is None
    assert names(spool) == []


def test_two_runs_are_two_documents(put_run: Spool, spool: Path, tmp_path: Path) -> None:
    for number in (1, 2, 1):
        put_run(finished_run(tmp_path / f"results{len(names(tmp_path))}", number))
    assert len(names(spool)) == 2


@pytest.mark.parametrize("how", Compression)
def test_what_was_archived_or_rejected_is_not_put_again(
    put_run: Spool, spool: Path, tmp_path: Path, to: LocalArchive, how: Compression
) -> None:
    run = finished_run(tmp_path / "results")
    name, _ = document_of_run(run, Kind.RESULTS)
    (spool / "rejected").mkdir()
    rejected = write(spool / "rejected" / f"{name}{how.ending}", "broken")
    assert put_run(run) == SpooledRun(name, Lies.REJECTED)
    rejected.unlink()
    to.prepare()
    write(to.folder / f"{name}{how.ending}", "archived")
    assert put_run(run) == SpooledRun(name, Lies.ARCHIVED)
    assert names(spool) == ["rejected"]


def test_published_and_put_again_adds_nothing(
    put_run: Spool, spool: Path, tmp_path: Path, to: LocalArchive, sink: FolderSink
) -> None:
    run = finished_run(tmp_path / "results")
    put_run(run)
    assert publish(spool, sink, to).is_clean
    again = put_run(run)
    assert again is not None
    assert again.lies is Lies.ARCHIVED
    assert names(spool) == []


def test_a_sink_of_events_gets_events(spool: Path, tmp_path: Path, to: LocalArchive) -> None:
    run = finished_run(tmp_path / "results")
    put = spool_run(run, Kind.EVENTS, spool, to)
    assert put is not None
    assert kind_of(put.name) is Kind.EVENTS
    results, _ = document_of_run(run, Kind.RESULTS)
    assert put.name == results.removesuffix(".json") + ".events.jsonl"
    events = [event.name for event in load((spool / put.name).read_bytes())]
    assert "run-start" in events
    assert "attempt-end" in events


def test_a_damaged_record_is_an_error(put_run: Spool, tmp_path: Path) -> None:
    run = finished_run(tmp_path / "results")
    write(run / "run.json", "{")
    with pytest.raises(RecordError, match="not a readable record"):
        put_run(run)
