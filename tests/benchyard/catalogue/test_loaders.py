import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.loaders import LIMIT_BYTES, LoaderPool
from benchyard.catalogue.repeated import Repeated
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

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.may_go_on = Event()
        self.may_go_on.set()
        self.begun = Event()

    def pool(self, limit_bytes: int = LIMIT_BYTES) -> Any:
        return LoaderPool(limit_bytes, self.read)

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


def written(folder: Path, *names: str) -> list[Entry]:
    for name in names:
        (folder / name).mkdir()
        (folder / name / "text").write_text(name)
    return [Entry(name, "text", folder, name, 0, 0) for name in names]


def write(entry: Entry, text: str, name: str = "text") -> None:
    (entry.place / name).write_text(text)


def test_an_entry_is_loaded_once_until_its_file_changes(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "one")
    texts = Texts()
    pool = texts.pool()
    first = pool.get(one)
    assert pool.get(one) is first
    write(one, "changed")
    assert pool.get(one).text == "changed"
    assert texts.loads["one"] == 2


def test_what_was_not_asked_for_longest_goes_first(tmp_path: Path) -> None:
    a, b, c, d = written(tmp_path, "a", "b", "c", "d")
    pool = Texts().pool(3 * SIZE + SIZE // 2)
    for one in (a, b, c, a, d):
        pool.get(one)
    assert pool.ids == ["c", "a", "d"]
    assert 3 * SIZE < pool.size_bytes <= 3 * SIZE + SIZE // 2


def test_a_reload_changes_no_place(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a", "b")
    pool = Texts().pool()
    pool.get(a)
    pool.get(b)
    write(a, "changed")
    pool.reload()
    assert pool.ids == ["a", "b"]


def test_what_is_too_large_is_given_and_not_kept(tmp_path: Path) -> None:
    small, large = written(tmp_path, "small", "large")
    pool = Texts().pool(5 * SIZE)
    pool.get(small)
    assert pool.get(large).text == "large"
    assert pool.ids == ["small"]


def test_eight_threads_load_an_entry_once(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "slow")
    texts = Texts()
    texts.may_go_on.clear()
    pool = texts.pool()
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(pool.get, one) for _ in range(8)]
        assert texts.begun.wait(PATIENCE_S)
        texts.may_go_on.set()
        assert len({id(answer.result(PATIENCE_S)) for answer in answers}) == 1
    assert texts.loads["slow"] == 1


def test_nobody_waits_for_another_entry(tmp_path: Path) -> None:
    slow, quick = written(tmp_path, "slow", "quick")
    texts = Texts()
    texts.may_go_on.clear()
    pool = texts.pool(1)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(pool.get, slow)
        assert texts.begun.wait(PATIENCE_S)
        assert pool.get(quick).text == "quick"
        texts.may_go_on.set()
        assert answer.result(PATIENCE_S).text == "slow"


def test_a_reload_waits_for_no_load(tmp_path: Path) -> None:
    slow, quick = written(tmp_path, "slow", "quick")
    texts = Texts()
    texts.may_go_on.clear()
    pool = texts.pool()
    pool.get(quick)
    write(quick, "changed")
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(pool.get, slow)
        assert texts.begun.wait(PATIENCE_S)
        pool.reload()
        assert not answer.done()
        assert texts.loads == {"slow": 1, "quick": 2}
        texts.may_go_on.set()
        assert answer.result(PATIENCE_S).text == "slow"


@pytest.mark.parametrize(
    ("text", "why"), [("bad", "one is bad"), ("bug", "ZeroDivisionError: bug")]
)
def test_a_failure_is_kept_until_the_file_changes(tmp_path: Path, text: str, why: str) -> None:
    (one,) = written(tmp_path, "one")
    write(one, text)
    texts = Texts()
    pool = texts.pool()
    for _ in range(2):
        with pytest.raises(RecordError, match=why):
            pool.get(one)
    assert texts.loads["one"] == 1
    assert pool.ids == []
    assert why in pool.failures["one"]
    write(one, "good again")
    assert pool.get(one).text == "good again"
    assert pool.failures == {}


def test_what_was_good_and_fails_is_dropped(tmp_path: Path) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = Texts().pool()
    pool.get(one)
    pool.get(other)
    write(one, "bad")
    pool.reload()
    assert pool.ids == ["other"]
    assert pool.failures == {"one": "one is bad"}


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = Texts().pool()
    pool.get(one)
    pool.get(other)
    shutil.rmtree(one.place)
    pool.reload()
    assert (pool.ids, pool.failures) == (["other"], {})
    with pytest.raises(RecordError):
        pool.get(one)
    assert pool.failures == {}


def test_it_reads_on_when_any_file_of_a_folder_changes(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "one")
    pool = Texts().pool()
    pool.get(one)
    write(one, "+more")
    assert pool.get(one).text == "one|more"
    write(one, "b", name="b")
    assert pool.get(one).text == "b+more"


def test_many_threads_keep_the_bounds(tmp_path: Path) -> None:
    entries = written(tmp_path, *(f"f{number}" for number in range(20)))
    limit = 5 * SIZE + SIZE // 2
    pool = Texts().pool(limit)

    def ask(start: int) -> None:
        for number in range(200):
            one = entries[(start * 7 + number) % len(entries)]
            assert pool.get(one).text == one.path

    reloading = Repeated("reload", pool.reload)
    reloading.start(0.001)
    with ThreadPoolExecutor(8) as threads:
        for answer in [threads.submit(ask, start) for start in range(8)]:
            answer.result(PATIENCE_S)
    reloading.stop()
    pool.get(entries[0])
    assert len(pool.ids) == 5
    assert 5 * SIZE < pool.size_bytes <= limit
