"""A store that cannot be used: one sentence each, and nothing lost."""

import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from benchyard.core.errors import BenchyardError, InputError, SinkUnavailableError
from benchyard.publish.sinks import open_reader, open_sink
from benchyard.publish.sinks.local import store
from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.sink import LocalSink
from benchyard.publish.sinks.local.store import SCHEMA, connect_to_write
from tests.benchyard.publish.conftest import disk_of, mount
from tests.benchyard.publish.sinks.local.conftest import day, document, spooled

ONE = document({"load": 1.0})


def change(file: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


def refusals(file: Path) -> list[str]:
    """Return what checking, storing and reading say, and look that none of them changes a thing."""
    before = file.read_bytes() if file.is_file() else None
    said: list[str] = []
    sink, reader = LocalSink(file), LocalReader(file)
    for wanted, act in (
        (SinkUnavailableError, sink.check),
        (SinkUnavailableError, lambda: sink.store(spooled(ONE))),
        (BenchyardError, lambda: list(reader.tests())),
    ):
        with pytest.raises(wanted) as caught:
            act()
        said.append(str(caught.value))
    sink.close()
    reader.close()
    assert (file.read_bytes() if file.is_file() else None) == before
    assert all("\n" not in text and file.name in text for text in said), said
    return said


@pytest.mark.parametrize("version", [SCHEMA.version - 1, SCHEMA.version + 1])
def test_another_version_is_refused(file: Path, sink: LocalSink, version: int) -> None:
    sink.store(spooled(ONE))
    sink.close()
    change(file, f"PRAGMA user_version = {version}")
    for text in refusals(file):
        assert f"is a local store of version {version}, and this Benchyard knows" in text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"all my results\n" * 100, "this is no SQLite database; move it away"),
        (None, "is a database, but no local store of Benchyard"),
    ],
)
def test_another_programs_file_is_refused(file: Path, content: bytes | None, why: str) -> None:
    file.parent.mkdir()
    if content is None:
        change(file, "CREATE TABLE tests (name TEXT)")
    else:
        file.write_bytes(content)
    assert all(why in text for text in refusals(file))


def test_a_file_where_a_folder_must_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    check, store, _ = refusals(tmp_path / "a" / "results.sqlite")
    assert check.endswith("is no folder; name another file")
    assert store.endswith("Not a directory") or "File exists" in store


@pytest.mark.parametrize("part", ["", "-wal", "-shm", "-journal"])
def test_a_pipe_is_not_waited_for(file: Path, sink: LocalSink, part: str) -> None:
    sink.store(spooled(ONE))
    sink.close()
    beside = file.with_name(file.name + part)
    beside.unlink(missing_ok=True)
    os.mkfifo(beside)
    for text in refusals(file):
        assert "something else than a file" in text
        assert "benchyard publish" in text


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET start = 9223372036854775807",
        "UPDATE documents SET start = 'soon'",
        "UPDATE documents SET number = 'x', start = x'ff'",
        "UPDATE test_names SET test = x'ff00'",
        "UPDATE test_names SET test = CAST(x'ff00' AS TEXT)",
        "UPDATE timings SET timing = 'fast'",
        "UPDATE timings SET suspect = x'ff'",
        "UPDATE documents SET origin = 99",
        "DROP TABLE origins",
        "DROP TABLE documents",
    ],
)
def test_values_that_were_never_stored_are_damage(
    file: Path, sink: LocalSink, reader: LocalReader, statement: str
) -> None:
    sink.store(spooled(ONE))
    sink.close()
    change(file, statement)

    def use() -> None:
        reading = (reader.tests(), reader.starts("words"), reader.timings("words", "load"))
        assert all(map(list, reading))
        sink.store(spooled(document({"load": 1.0}, start=1)))

    with pytest.raises(SinkUnavailableError, match=r"results\.sqlite: .*move it away"):
        use()


def test_a_name_that_is_no_unicode_is_not_there(sink: LocalSink, reader: LocalReader) -> None:
    sink.store(spooled(ONE))
    assert list(reader.timings("\udcff", "load")) == []


def test_nothing_published_yet(file: Path, reader: LocalReader) -> None:
    with pytest.raises(InputError, match=r"there is no local store .* yet"):
        list(reader.tests())
    assert not file.parent.exists()
    file.parent.mkdir()
    file.touch()
    with pytest.raises(InputError, match="is empty: nothing was published to it yet"):
        list(reader.tests())


@pytest.mark.parametrize("name", ["a?mode=ro", "a#b%20", "ä ö", os.fsdecode(b"a\xff"), "a'b"])
def test_any_name_of_a_file(tmp_path: Path, name: str) -> None:
    sink, reader = open_sink(f"local:{tmp_path / name}"), open_reader(f"local:{tmp_path / name}")
    sink.check()
    assert list(tmp_path.iterdir()) == []
    sink.store(spooled(ONE))
    sink.check()
    assert (tmp_path / name).is_file()
    assert list(reader.tests()) == ["words"]
    reader.close()
    sink.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_commit_is_on_disk_when_it_returns(file: Path) -> None:
    connection = connect_to_write(file)
    pragmas = ("journal_mode", "synchronous")
    found = [connection.execute(f"PRAGMA {name}").fetchone() for name in pragmas]
    connection.close()
    assert found == [("wal",), (2,)]  # 2 is FULL: the log is synced at every commit


def test_a_store_that_another_keeps_locked(
    file: Path, sink: LocalSink, reader: LocalReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    sink.store(spooled(ONE))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SinkUnavailableError, match="another program has kept the local store"):
        sink.store(spooled(document({"load": 2.0}, start=1)))
    assert list(reader.starts("words")) == [day(0)]
    other.execute("ROLLBACK")
    other.close()
    sink.store(spooled(document({"load": 2.0}, start=1)))
    assert list(reader.starts("words")) == [day(1), day(0)]


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    """Mount a disk of 1 MB."""
    with disk_of(tmp_path, "1m") as folder:
        yield folder


def fill(sink: LocalSink) -> int:
    """Store until that fails; return how many documents were confirmed."""
    for number in range(1000):
        noise = os.urandom(20_000).hex()
        try:
            sink.store(spooled(document({"load": 1.0}, start=number, runMode=noise)))
        except SinkUnavailableError:
            return number
    raise AssertionError("the disk is not full yet")


@pytest.mark.requires("mount")
def test_a_disk_that_is_really_full(disk: Path) -> None:
    file = disk / "results.sqlite"
    sink, reader = LocalSink(file), LocalReader(file)
    stored = fill(sink)
    assert stored > 3
    assert len(list(reader.starts("words"))) == stored
    with pytest.raises(SinkUnavailableError, match="the disk is full"):
        sink.store(spooled(document({"load": 1.0}, start=stored, runMode=os.urandom(99999).hex())))
    mount("-o", "remount,size=4m", disk)
    sink.store(spooled(document({"load": 1.0}, start=stored)))
    assert len(list(reader.timings("words", "load"))) == stored + 1
    sink.close()
    reader.close()


@pytest.mark.requires("mount")
def test_a_read_only_disk_is_read_and_not_written(disk: Path, tmp_path: Path) -> None:
    made = LocalSink(tmp_path / "results.sqlite")
    made.store(spooled(ONE))
    made.close()
    file = disk / "results.sqlite"
    shutil.copy(tmp_path / "results.sqlite", file)
    mount("-o", "remount,ro", disk)
    reader, sink = LocalReader(file), LocalSink(file)
    assert list(reader.starts("words")) == [day(0)]
    with pytest.raises(SinkUnavailableError, match="cannot be written to; name another file"):
        sink.check()
    with pytest.raises(SinkUnavailableError, match=r"cannot be written to|cannot be opened"):
        sink.store(spooled(document({"load": 1.0}, start=1)))
    with pytest.raises(SinkUnavailableError, match="cannot be written to; name another file"):
        LocalSink(disk / "other" / "results.sqlite").check()
    reader.close()
    sink.close()
