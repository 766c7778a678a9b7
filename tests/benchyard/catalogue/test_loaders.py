import shutil
from collections import Counter
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchyard.catalogue import explain
from benchyard.catalogue.entry import Entry
from benchyard.catalogue.explain import LIMIT_BYTES, LoaderPool
from benchyard.core.errors import RecordError

PATIENCE_S = 30
#: Above what the pool itself needs for an entry.
SIZE = 100_000


class Loaded:
    """A text, with the size that it says itself."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.size_bytes = SIZE * (10 if text == "large" else 1)


class Texts:
    """Reads the texts of a folder, and notes how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loads: Counter[str] = Counter()
        self.may_go_on = Event()
        self.may_go_on.set()
        self.begun = Event()
        monkeypatch.setattr(explain, "read_job", self.read)

    def pool(self, limit_bytes: int = LIMIT_BYTES) -> Any:
        return LoaderPool(limit_bytes)

    @contextmanager
    def loading(self, pool: Any, entry: Entry, callers: int = 1) -> Generator[list[Future[Any]]]:
        """Let several callers wait for one entry as long as the block runs."""
        self.may_go_on.clear()
        with ThreadPoolExecutor(callers) as threads:
            answers = [threads.submit(pool.get, entry) for _ in range(callers)]
            assert self.begun.wait(PATIENCE_S)
            yield answers
            self.may_go_on.set()
            assert {answer.result(PATIENCE_S).text for answer in answers} == {"slow"}

    def read(self, folder: Path, before: Any) -> Any:
        self.loads[folder.name] += 1
        if folder.name == "slow":
            self.begun.set()
            assert self.may_go_on.wait(PATIENCE_S)
        text = "".join(file.read_text() for file in sorted(folder.iterdir()))
        if text == "bug":
            raise ZeroDivisionError(text)
        if text == "bad":
            raise RecordError(f"{folder.name} is bad")
        return Loaded(f"{before.text}|{text[1:]}" if text[0] == "+" else text)


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> Texts:
    return Texts(monkeypatch)


def written(folder: Path, *names: str) -> list[Entry]:
    for name in names:
        (folder / name).mkdir()
        (folder / name / "text").write_text(name)
    return [Entry(name, "text", folder, name, 0, 0) for name in names]


def write(entry: Entry, text: str, name: str = "text") -> None:
    (entry.place / name).write_text(text)


def test_an_entry_is_loaded_once_until_its_file_changes(tmp_path: Path, texts: Texts) -> None:
    (one,) = written(tmp_path, "one")
    pool = texts.pool()
    assert pool.get(one) is pool.get(one)
    write(one, "+more")
    assert pool.get(one).text == "one|more"
    write(one, "b", name="b")
    assert pool.get(one).text == "b+more"
    assert texts.loads["one"] == 3


def test_what_was_not_asked_for_longest_goes_first(tmp_path: Path, texts: Texts) -> None:
    a, b, c, d = written(tmp_path, "a", "b", "c", "d")
    pool = texts.pool(3 * SIZE + SIZE // 2)
    for one in (a, b, c, a, d):
        pool.get(one)
    write(c, "changed")
    pool.reload()
    assert pool.ids == ["c", "a", "d"]
    assert 3 * SIZE < pool.size_bytes <= 3 * SIZE + SIZE // 2


def test_what_is_too_large_is_given_and_not_kept(tmp_path: Path, texts: Texts) -> None:
    small, large = written(tmp_path, "small", "large")
    pool = texts.pool(5 * SIZE)
    pool.get(small)
    assert pool.get(large).text == "large"
    assert pool.ids == ["small"]


def test_one_of_eight_threads_loads_and_others_do_not_wait(tmp_path: Path, texts: Texts) -> None:
    slow, quick = written(tmp_path, "slow", "quick")
    pool = texts.pool()
    pool.get(quick)
    write(quick, "changed")
    with texts.loading(pool, slow, 8) as answers:
        assert pool.get(quick).text == "changed"
        write(quick, "again")
        pool.reload()
        assert not any(answer.done() for answer in answers)
        assert texts.loads == {"slow": 1, "quick": 3}
    assert texts.loads["slow"] == 1


@pytest.mark.parametrize(
    ("text", "why"), [("bad", "one is bad"), ("bug", "ZeroDivisionError: bug")]
)
def test_a_failure_stays_until_a_change(tmp_path: Path, texts: Texts, text: str, why: str) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = texts.pool()
    pool.get(one)
    pool.get(other)
    write(one, text)
    pool.reload()
    with pytest.raises(RecordError, match=why):
        pool.get(one)
    assert texts.loads["one"] == 2
    assert pool.ids == ["other"]
    assert why in pool.failures["one"]
    write(one, "good again")
    assert pool.get(one).text == "good again"
    assert pool.failures == {}


def test_what_is_gone_is_forgotten(tmp_path: Path, texts: Texts) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = texts.pool()
    pool.get(one)
    pool.get(other)
    shutil.rmtree(one.place)
    pool.reload()
    assert (pool.ids, pool.failures) == (["other"], {})
    with pytest.raises(RecordError):
        pool.get(one)
    assert pool.failures == {}


def test_many_threads_keep_the_bounds(tmp_path: Path, texts: Texts) -> None:
    entries = written(tmp_path, *(f"f{number}" for number in range(20)))
    limit = 5 * SIZE + SIZE // 2
    pool = texts.pool(limit)

    def ask(start: int) -> None:
        for number in range(200):
            one = entries[(start * 7 + number) % len(entries)]
            assert pool.get(one).text == one.path
            if not start:
                pool.reload()

    with ThreadPoolExecutor(8) as threads:
        for answer in [threads.submit(ask, start) for start in range(8)]:
            answer.result(PATIENCE_S)
    pool.get(entries[0])
    assert len(pool.ids) == 5
    assert 5 * SIZE < pool.size_bytes <= limit
