"""A local store that is damaged somewhere, or is no file: one sentence, and never exit code 4."""

import os
import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchyard.cli import call
from benchyard.core.errors import SinkError
from benchyard.publish.sinks.local.sink import LocalSink
from benchyard.results.folders import Results
from tests.benchyard.publish.sinks.local.conftest import document, spooled
from tests.conftest import MakeCase, process

#: Damages of each file at even distances, and by chance.
EVENLY, BY_CHANCE = 50, 15
#: Files that SQLite looks for beside the store.
BESIDE = ("", "-wal", "-shm", "-journal")
ENTRIES = {f"step {number}": 0.5 + number / 8 for number in range(6)}


@dataclass(frozen=True)
class Kept:
    """The bytes of a store and of what SQLite has beside it."""

    parts: dict[str, bytes]

    def put(self, file: Path) -> None:
        for name in BESIDE:
            beside = file.with_name(file.name + name)
            beside.unlink(missing_ok=True)
            if name in self.parts:
                beside.write_bytes(self.parts[name])

    def damaged(self, part: str, at: int, bits: int) -> "Kept":
        content = bytearray(self.parts[part])
        content[at] ^= bits
        return Kept({**self.parts, part: bytes(content)})


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A store whose documents lie in its log, as a killed publisher leaves them."""
    file = tmp_path_factory.mktemp("made") / "store.sqlite"
    sink = LocalSink(file)
    for start in range(12):
        sink.store(spooled(document(ENTRIES, start=start, test=f"test {start % 2}")))
    parts = {name: file.with_name(file.name + name) for name in BESIDE}
    kept = Kept({name: part.read_bytes() for name, part in parts.items() if part.exists()})
    sink.close()
    return kept


@pytest.fixture(scope="module")
def closed(logged: Kept, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The same with all in one file."""
    file = tmp_path_factory.mktemp("closed") / "store.sqlite"
    logged.put(file)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return Kept({"": file.read_bytes()})


def reads(file: Path) -> Iterator[list[str]]:
    sink = f"local:{file}"
    yield ["history", "--sink", sink]
    yield ["history", "test 0", "--sink", sink]
    yield ["history", "test 1", "step 3", "--sink", sink, "--json"]


def wrong(file: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Read and write the store; return what went otherwise than it may."""
    found: list[str] = []
    for words in reads(file):
        code = call(words)
        said = capsys.readouterr()
        if code not in (0, 1, 2) or "Traceback" in said.err or (code and not said.err):
            found.append(f"{words[1:-2]}: {code}: {said.err}")
    sink = LocalSink(file)
    try:
        sink.check()
        sink.store(spooled(document(ENTRIES, start=99, test="test 1")))
    except SinkError as error:
        if file.name not in str(error):
            found.append(f"names no file: {error}")
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        found.append(f"storing: {error!r}")
    finally:
        sink.close()
    return found


Sweep = Callable[[Kept, Iterable[tuple[str, int, int]]], list[str]]


@pytest.fixture
def sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Sweep:
    """Return a function that turns bits at each of some places, and tells what went wrong."""
    file = tmp_path / "store.sqlite"

    def swept(kept: Kept, places: Iterable[tuple[str, int, int]]) -> list[str]:
        said: list[str] = []
        for part, at, bits in places:
            kept.damaged(part, at, bits).put(file)
            said += [f"{part or 'file'} byte {at} ^ {bits}: {one}" for one in wrong(file, capsys)]
        return said

    return swept


def places(kept: Kept, evenly: int | None, by_chance: int) -> Iterator[tuple[str, int, int]]:
    """Yield a file, a place in it and the bits to turn; every byte where none is to be even."""
    chance = random.Random(14)  # noqa: S311 - no secret
    for part, content in kept.parts.items():
        # An odd distance, so that every kind of field is met.
        for at in range(0, len(content), len(content) // evenly | 1 if evenly else 1):
            yield part, at, 0xFF
        for _ in range(by_chance):
            yield part, chance.randrange(len(content)), 1 << chance.randrange(8)
    # The headers of file, first page and log: little there is without a meaning.
    for part in kept.parts:
        yield from ((part, at, 0x01) for at in range(0, 112, 3))


@pytest.mark.parametrize("which", ["closed", "logged"])
@pytest.mark.parametrize(
    ("evenly", "by_chance"),
    [
        pytest.param(EVENLY, BY_CHANCE, marks=pytest.mark.slow),
        pytest.param(None, 1000, marks=pytest.mark.long),
    ],
)
def test_no_damaged_byte_is_an_internal_error(
    which: str, evenly: int | None, by_chance: int, request: pytest.FixtureRequest, sweep: Sweep
) -> None:
    kept: Kept = request.getfixturevalue(which)
    assert sweep(kept, places(kept, evenly, by_chance)) == []


@pytest.mark.slow
def test_a_page_that_has_lost_a_row_is_told(closed: Kept, sweep: Sweep) -> None:
    """An index may find a name that its table does not know any more, and SQLite says nothing."""
    pages = range(0, len(closed.parts[""]), 4096)
    assert sweep(closed, (("", page + at, 0xFF) for page in pages for at in range(25, 33, 2))) == []


@pytest.mark.slow
def test_a_store_that_was_cut_off_anywhere(
    closed: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, content = tmp_path / "store.sqlite", closed.parts[""]
    found: list[str] = []
    for length in [*range(0, 120, 7), *range(512, len(content), 1511)]:
        Kept({"": content[:length]}).put(file)
        found += [f"cut at {length}: {text}" for text in wrong(file, capsys)]
    assert found == []


def _garbage(store: Path) -> None:
    store.write_bytes(b"all my results\n" * 100)


def _another_programs(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE tests (name TEXT)")
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [_garbage, _another_programs, Path.mkdir, os.mkfifo])
def test_it_keeps_nobody_from_measuring(
    spoil: Callable[[Path], None],
    case_folder: MakeCase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    store = tmp_path / "store.sqlite"
    sink = f"local:{store}"
    spoil(store)
    case = case_folder("one", process("work", "true"))
    quick = ("--direct", "--runs", "1", "--cooldown", "0", "--publish", sink)

    assert call(["run", str(case), *quick]) == 0

    said = capsys.readouterr().err
    assert store.name in said
    assert "move it away" in said or "name another file" in said
    assert [*Results(case / "results").done()] == [1]
    [waits] = [*(tmp_path / "home" / "spool").glob("*/*.json")]
    store.rename(tmp_path / "away")
    assert call(["publish", "--sink", sink]) == 0
    assert not waits.exists()
    assert call(["history", "--sink", sink]) == 0
    assert "one" in capsys.readouterr().out
