"""Publishing to several sinks by their names, and the two steps after a case."""

import pickle
from pathlib import Path

import pytest

from benchyard.core.errors import InputError, SinkUnavailableError
from benchyard.core.places import archive_of, spool_of
from benchyard.publish import service
from benchyard.publish.archive import LocalArchive
from benchyard.publish.compression import Compression
from benchyard.publish.routes import folder_name, route, routes, with_backlog
from benchyard.publish.service import (
    archive_uploaded,
    check_sinks,
    document_of_run,
    publish_all,
    spool_run,
    upload_runs,
)
from benchyard.publish.sinks.contract import DocumentKind, Sink
from benchyard.publish.sinks.sending import RetryPolicy
from benchyard.publish.spool import kind_of
from benchyard.results.events import load
from tests.benchyard.publish.conftest import names, raising, write
from tests.benchyard.publish.fake_sinks import Failing, FolderSink, NotingSink
from tests.benchyard.publish.runs import finished_run

HASTY = RetryPolicy(retries=1, first_s=0.001)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, FolderSink]:
    """Have stand-ins for sinks under some names."""
    made = {
        name: FolderSink(tmp_path / "sinks" / name, name=name) for name in ("local", "datastore")
    }
    made["azure-tables"] = NotingSink(tmp_path / "sinks" / "azure", name="azure-tables")

    def opened(wanted: str) -> Sink:
        if wanted not in made:
            raise InputError(f"there is no sink '{wanted}'")
        return made[wanted]

    monkeypatch.setattr(service, "open_sink", opened)
    return made


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path / "results")


# -- after a case
def test_runs_go_to_every_sink_and_to_its_archive(
    fakes: dict[str, FolderSink], run: Path, tmp_path: Path
) -> None:
    other = finished_run(tmp_path / "results", 2)
    unfinished = finished_run(tmp_path / "results", 3, done=False)
    uploaded = upload_runs([run, other, unfinished], ["local", "datastore"])
    assert pickle.loads(pickle.dumps(uploaded)) == uploaded  # noqa: S301 - our own
    for sink, outcome in zip(("local", "datastore"), uploaded, strict=True):
        assert len(outcome.confirmed) == 2
        assert len(names(spool_of(sink))) == 2
    for sink, outcome in zip(("local", "datastore"), archive_uploaded(uploaded), strict=True):
        assert outcome.sink == sink
        assert outcome.is_clean
        assert len(outcome.published) == 2
        assert outcome.confirmed == ()
        assert names(spool_of(sink)) == []
        assert len(names(archive_of(sink))) == 2
        assert fakes[sink].closed == 2


def test_a_sink_that_is_down_keeps_its_runs_waiting_and_no_other_sinks(
    fakes: dict[str, FolderSink], run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "AFTER_A_CASE", HASTY)
    fakes["local"].before = Failing(SinkUnavailableError("it is down"))
    uploaded = upload_runs([run], ["local", "datastore"])
    down, up = archive_uploaded(uploaded)
    assert down.error == "it is down"
    assert [left.name for left in down.waiting] == names(spool_of("local"))
    assert up.is_clean
    fakes["local"].before = lambda _: None
    (later,) = archive_uploaded(upload_runs([run], ["local"]))
    assert len(later.published) == 1


def test_without_credentials_the_run_waits_in_the_spool(
    fakes: dict[str, FolderSink], run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes["datastore"], "check", raising(InputError("no credentials; log in")))
    (outcome,) = upload_runs([run], ["datastore"])
    assert outcome.error == "no credentials; log in"
    assert [left.name for left in outcome.waiting] == names(spool_of("datastore"))
    assert fakes["datastore"].stored == []


def test_a_spool_that_cannot_be_written_is_told(
    fakes: dict[str, FolderSink], run: Path, home: Path
) -> None:
    write(home, "a file")
    (outcome,) = archive_uploaded(upload_runs([run], ["local"]))
    assert outcome.error is not None
    assert "Not a directory" in outcome.error
    assert str(home) in outcome.error
    assert fakes["local"].closed


def test_a_damaged_record_is_told_and_the_others_are_published(
    fakes: dict[str, FolderSink], run: Path, tmp_path: Path
) -> None:
    damaged = finished_run(tmp_path / "results", 2)
    write(damaged / "run.json", "{")
    (outcome,) = archive_uploaded(upload_runs([damaged, run], ["local"]))
    assert [left.name for left in outcome.waiting] == [str(damaged)]
    assert len(outcome.published) == 1
    assert len(fakes["local"].stored) == 1


def test_an_unknown_sink_is_told_before_anything_is_done(
    fakes: dict[str, FolderSink], run: Path
) -> None:
    with pytest.raises(InputError, match="no sink 'lokal'"):
        upload_runs([run], ["local", "lokal"])
    assert not spool_of("local").exists()
    assert fakes["local"].stored == []


def test_an_archive_that_fails_after_uploading_leaves_the_run_in_the_spool(
    fakes: dict[str, FolderSink], run: Path
) -> None:
    uploaded = upload_runs([run], ["local"])
    archive_of("local").rmdir()
    write(archive_of("local"), "a file")
    (outcome,) = archive_uploaded(uploaded)
    assert outcome.error == f"archive {archive_of('local')}: File exists"
    assert len(outcome.waiting) == 1
    assert len(names(spool_of("local"))) == 1
    assert len(fakes["local"].stored) == 1


def test_all_sinks_are_checked_before_anything_is_read(
    fakes: dict[str, FolderSink], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fakes["datastore"], "check", raising(InputError("no credentials; log in")))
    spool_of("local").mkdir(parents=True)
    write(spool_of("local") / "a.json", "{}")
    with pytest.raises(InputError, match="no credentials"):
        publish_all([route("local"), route("datastore")])
    assert fakes["local"].stored == []
    assert fakes["local"].closed == fakes["datastore"].closed == 1
    with pytest.raises(InputError, match="no credentials"):
        check_sinks(["datastore"])
    check_sinks(["local"])


def test_a_sink_that_takes_nothing_now_does_not_stop_the_others(
    fakes: dict[str, FolderSink], run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = SinkUnavailableError("results.sqlite: the local store is damaged")
    monkeypatch.setattr(fakes["local"], "check", raising(damaged))
    for sink in ("local", "datastore"):
        spool_of(sink).mkdir(parents=True)
        write(spool_of(sink) / "a.json", "{}")
    down, up = publish_all([route("local"), route("datastore")], runs=[run])
    assert down.error == str(damaged)
    assert [left.name for left in down.waiting] == ["a.json"]
    assert up.is_clean
    assert len(up.published) == 2
    assert fakes["local"].closed == fakes["datastore"].closed == 1


# -- routes
def test_another_local_store_has_folders_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = folder_name("local:other.sqlite")
    assert other == folder_name(f"local:{tmp_path}/other.sqlite")
    assert other != folder_name("local:third.sqlite")
    assert other.startswith("local-")
    assert "/" not in other
    assert folder_name("local") == folder_name("local:") == "local"


def test_without_a_sink_those_for_which_something_waits(tmp_path: Path) -> None:
    assert with_backlog() == ("local",)
    assert [one.sink for one in routes()] == ["local"]
    for sink in ("azure-tables", "datastore"):
        spool_of(sink).mkdir(parents=True)
        write(spool_of(sink) / "a.json", "{}")
    assert [one.sink for one in routes()] == ["datastore", "azure-tables"]
    assert [one.sink for one in routes((), tmp_path)] == ["local"]
    assert [one.sink for one in routes(("local", "local"))] == ["local"]


@pytest.mark.parametrize("sinks", [("local", "datastore"), ()])
def test_several_sinks_do_not_share_an_archive(sinks: tuple[str, ...]) -> None:
    for sink in ("azure-tables", "datastore"):
        spool_of(sink).mkdir(parents=True)
        write(spool_of(sink) / "a.json", "{}")
    with pytest.raises(InputError, match="--archivedir go"):
        routes(sinks, archivedir="memory://a")


@pytest.mark.parametrize("how", Compression)
def test_what_was_archived_or_rejected_is_not_put_again(
    spool: Path, run: Path, tmp_path: Path, how: Compression
) -> None:
    name, _ = document_of_run(run, DocumentKind.RESULTS)
    (spool / "rejected").mkdir()
    to = LocalArchive(tmp_path / "archive")
    rejected = write(spool / "rejected" / f"{name}{how.ending}", "broken")
    assert spool_run(run, DocumentKind.RESULTS, spool, to) is None
    rejected.unlink()
    to.prepare()
    write(to.folder / f"{name}{how.ending}", "archived")
    assert spool_run(run, DocumentKind.RESULTS, spool, to) is None
    assert names(spool) == ["rejected"]


def test_a_sink_of_events_gets_events(spool: Path, run: Path, tmp_path: Path) -> None:
    put = spool_run(run, DocumentKind.EVENTS, spool, LocalArchive(tmp_path / "archive"))
    assert put is not None
    assert kind_of(put) is DocumentKind.EVENTS
    results, _ = document_of_run(run, DocumentKind.RESULTS)
    assert put == results.removesuffix(".json") + ".events.jsonl"
    events = {event.name for event in load((spool / put).read_bytes())}
    assert {"run-start", "attempt-end"} <= events
