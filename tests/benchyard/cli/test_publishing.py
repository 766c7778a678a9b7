"""``benchyard publish``."""

import gzip
import io
import json
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from benchyard.cli import call
from benchyard.core.errors import SinkUnavailableError
from benchyard.core.places import archive_of, spool_of
from benchyard.publish import publisher, service
from benchyard.publish.sinks import open_reader
from benchyard.publish.sinks.contract import Sink
from benchyard.publish.spool import put
from benchyard.run.interrupts import at_first_ctrl_c
from tests.benchyard.cli.conftest import Cli
from tests.benchyard.publish.conftest import names, write
from tests.benchyard.publish.fake_sinks import Failing, FolderSink

DOCUMENT = {
    "name": "//some:test",
    "startTime": "1700000000",
    "entries": {"entry": [{"name": "BM_x", "iters": "1", "wallTime": 0.5}]},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(publisher, "SETTLED_S", 0.05)
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Lay out a folder like those that TensorFlow's tests write to."""
    made = tmp_path / "results"
    made.mkdir()
    write(made / "a.json", json.dumps(DOCUMENT))
    return made


@pytest.fixture
def publish(cli: Cli) -> Cli:
    return partial(cli, "publish")


@pytest.fixture
def sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderSink:
    """Have a stand-in for every sink."""
    made = FolderSink(tmp_path / "sink", name="local")

    def opened(_: str) -> Sink:
        return made

    monkeypatch.setattr(service, "open_sink", opened)
    return made


def test_a_plain_folder_of_results(publish: Cli, folder: Path, tmp_path: Path) -> None:
    write(folder / "readme.txt", "not a result")
    out, err = publish("--datadir", folder, "--archivedir", tmp_path / "old")
    assert err == ""
    assert out == "local: 1 published, 1 other file left alone\n"
    assert names(folder) == ["readme.txt"]
    assert names(tmp_path / "old") == ["a.json"]
    reader = open_reader("local")
    assert list(reader.tests()) == ["//some:test"]
    reader.close()
    (folder / "readme.txt").unlink()
    assert publish("--datadir", folder).out == "local: nothing waits\n"


def test_the_labs_own_folders(publish: Cli) -> None:
    put(spool_of("local"), "a.json", json.dumps(DOCUMENT).encode())
    out = publish("--compress", "zst").out
    assert out == "local: 1 published\n"
    assert names(archive_of("local")) == ["a.json.zst"]


def test_one_document_of_json(publish: Cli, folder: Path) -> None:
    write(folder / "b.json", '{"entries"')
    write(folder / "c.json", '["entries"]')
    out = publish("--datadir", folder, "--json", code=1).out
    (told,) = json.loads(out)["sinks"]
    assert told["published"] == ["a.json"]
    # Written within one tick of the clock, they are of one age.
    assert sorted(one["name"] for one in told["rejected"]) == ["b.json", "c.json"]
    assert told["waiting"] == []
    assert told["error"] is None


def test_a_sink_that_is_down(publish: Cli, folder: Path, sink: FolderSink) -> None:
    sink.before = Failing(SinkUnavailableError("the sink is down; start it"))
    out, err = publish("--datadir", folder, "--retries", "0", code=1)
    assert out == "local: 1 waiting\n"
    assert err == "local: the sink is down; start it\n"
    assert names(folder) == ["a.json"]


def test_retries_are_told(publish: Cli, folder: Path, sink: FolderSink) -> None:
    sink.before = Failing(SinkUnavailableError("it is down", 0.001), times=1)
    err = publish("--datadir", folder).err
    assert err == "a.json: it is down; again in 0.0 s\n"


def test_a_terminal_shows_how_far_it_is(
    folder: Path, sink: FolderSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    write(folder / "b.json", '{"entries": {}}')
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert call(["publish", "--datadir", str(folder)]) == 0
    assert "local" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()
    assert len(sink.stored) == 2


def test_ctrl_c_finishes_what_is_under_way(
    publish: Cli, folder: Path, sink: FolderSink, tmp_path: Path
) -> None:
    for name in ("b.json", "c.json"):
        write(folder / name, '{"entries": {}}')

    heard = threading.Event()

    def press(_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)  # as a terminal does it: to the process
        assert heard.wait(60)

    sink.before = press
    with at_first_ctrl_c(heard.set):
        out = publish("--datadir", folder, "--archivedir", tmp_path / "old", code=130).out
    assert out == "local: 1 published, 2 waiting; interrupted\n"
    assert len(names(tmp_path / "old")) == 1
    assert len(names(folder)) == 2


def test_what_waits_is_told_without_touching_it(publish: Cli, folder: Path, home: Path) -> None:
    out = publish("--datadir", folder, "--dry-run").out
    size = (folder / "a.json").stat().st_size
    assert f"local  a.json    {size}\n" in out
    assert f"1 document would go from {folder} to {home}/archive/local\n" in out
    out = publish("--datadir", folder, "--dry-run", "--json").out
    assert json.loads(out)["sinks"][0]["waiting"] == [{"name": "a.json", "bytes": size}]
    assert names(folder) == ["a.json"]
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--sink", "lokal"], "there is no sink 'lokal'"),
        (["--datadir", "/not/there"], "/not/there: there is no such folder"),
        (["--archivedir", "nothing://bucket"], "Protocol not known: nothing"),
        (["--compress", "bz2"], "'bz2' is not one of"),
        (["--retries", "-1"], "-1 is not in the range"),
        (["--sink", "local", "--sink", "datastore", "--archivedir", "x"], "go with one --sink"),
    ],
)
def test_what_cannot_be(publish: Cli, arguments: list[str], says: str) -> None:
    out, err = publish(*arguments, code=2)
    assert out == ""
    assert says in err


def test_the_user_s_own_files_are_not_moved(
    publish: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``publish --datadir .`` in a folder with a project in it."""
    foreign = {
        "package.json": '{"name": "mine", "version": "1.0.0"}',
        "tsconfig.json": '{"target": "es6", // a comment\n}',
        "metadata.json": '{"@id": "urn:x", "name": "case", "steps": []}',
        "empty.json": "",
        "log.events.jsonl": '{"time": 1}\n',
        "data.json.gz": "no gzip",
        "data.json.zst": "no zstd",
    }
    for name, content in foreign.items():
        write(folder / name, content)
    (folder / "good.json.gz").write_bytes(gzip.compress(json.dumps(DOCUMENT).encode()))
    damaged = "20261121T193000Z-example-first-0123456789ab.json"
    write(folder / damaged, "{")
    before = {name: (folder / name).stat() for name in foreign}
    monkeypatch.chdir(folder)

    out = publish("--datadir", ".", "--dry-run", "--json").out
    (told,) = json.loads(out)["sinks"]
    assert told["left_alone"] == len(foreign)
    out, err = publish("--datadir", ".", code=1)

    assert err.startswith(f"{damaged}: rejected: ")
    assert out == "local: 2 published, 1 rejected, 7 other files left alone\n"
    for name, was in before.items():
        now = (folder / name).stat()
        assert (now.st_ino, now.st_mtime_ns) == (was.st_ino, was.st_mtime_ns)
        assert (folder / name).read_text() == foreign[name]
    assert [path.name for path in (folder / "rejected").iterdir()] != []
