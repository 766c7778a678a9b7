from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats.contract import Found, Listing
from benchyard.catalogue.loaders import LoaderPool
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
    """A format that reads text files, and notes how often."""

    name = "text"

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.may_go_on = Event()
        self.may_go_on.set()
        self.begun = Event()

    def detect(self, listing: Listing) -> Iterable[str]:
        return listing.files

    def describe(self, found: Found) -> Entry | None:
        return entry(found.place)

    def load(self, entry: Entry) -> Any:
        self.loads[entry.path] += 1
        if entry.path.startswith("slow"):
            self.begun.set()
            assert self.may_go_on.wait(PATIENCE_S)
        text = entry.place.read_text()
        if text == "bug":
            raise ZeroDivisionError(text)
        if text == "bad":
            raise RecordError(f"{entry.place.name} is bad")
        return Loaded(text)


def entry(path: Path) -> Entry:
    return Entry(path.name, "text", path.parent, path.name, 0, 0)


def written(folder: Path, *names: str) -> list[Entry]:
    for name in names:
        (folder / name).write_text(name)
    return [entry(folder / name) for name in names]


def test_an_entry_is_loaded_once_until_its_file_changes(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "one")
    texts = Texts()
    pool = LoaderPool([texts])
    first = pool.get(one)
    assert pool.get(one) is first
    one.place.write_text("changed")
    assert pool.get(one).text == "changed"
    assert texts.loads["one"] == 2


def test_what_was_not_asked_for_longest_goes_first(tmp_path: Path) -> None:
    a, b, c, d = written(tmp_path, "a", "b", "c", "d")
    pool = LoaderPool([Texts()], limit_bytes=3 * SIZE + SIZE // 2)
    for one in (a, b, c, a, d):
        pool.get(one)
    assert pool.ids == ["c", "a", "d"]
    assert 3 * SIZE < pool.size_bytes <= 3 * SIZE + SIZE // 2


def test_a_reload_changes_no_place(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a", "b")
    pool = LoaderPool([Texts()])
    pool.get(a)
    pool.get(b)
    a.place.write_text("changed")
    pool.reload()
    assert pool.ids == ["a", "b"]


def test_what_is_too_large_is_given_and_not_kept(tmp_path: Path) -> None:
    small, large = written(tmp_path, "small", "large")
    pool = LoaderPool([Texts()], limit_bytes=5 * SIZE)
    pool.get(small)
    assert pool.get(large).text == "large"
    assert pool.ids == ["small"]


def test_sizes_that_are_not_told_are_counted(tmp_path: Path) -> None:
    class Plain(Texts):
        def load(self, entry: Entry) -> Any:
            return [entry.path * 1000 for _ in range(30)] + list(range(1000, 2000))

    (one,) = written(tmp_path, "one")
    pool = LoaderPool([Plain()])
    pool.get(one)
    assert 30_000 < pool.size_bytes < 200_000


def test_eight_threads_load_an_entry_once(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "slow")
    texts = Texts()
    texts.may_go_on.clear()
    pool = LoaderPool([texts])
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
    pool = LoaderPool([texts], limit_bytes=1)
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
    pool = LoaderPool([texts])
    pool.get(quick)
    quick.place.write_text("changed")
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
    one.place.write_text(text)
    texts = Texts()
    pool = LoaderPool([texts])
    for _ in range(2):
        with pytest.raises(RecordError, match=why):
            pool.get(one)
    assert texts.loads["one"] == 1
    assert pool.ids == []
    assert why in pool.failures["one"]
    one.place.write_text("good again")
    assert pool.get(one).text == "good again"
    assert pool.failures == {}


def test_what_was_good_and_fails_is_dropped(tmp_path: Path) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = LoaderPool([Texts()])
    pool.get(one)
    pool.get(other)
    one.place.write_text("bad")
    pool.reload()
    assert pool.ids == ["other"]
    assert pool.failures == {"one": "one is bad"}


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    one, other = written(tmp_path, "one", "other")
    pool = LoaderPool([Texts()])
    pool.get(one)
    pool.get(other)
    one.place.unlink()
    pool.reload()
    assert (pool.ids, pool.failures) == (["other"], {})
    with pytest.raises(RecordError):
        pool.get(one)
    assert pool.failures == {}


def test_an_unknown_format_is_told(tmp_path: Path) -> None:
    (one,) = written(tmp_path, "one")
    with pytest.raises(RecordError, match="no format 'text' is known"):
        LoaderPool([]).get(one)


def test_a_format_that_can_reads_on(tmp_path: Path) -> None:
    class Growing(Texts):
        def reload(self, entry: Entry, before: Any) -> Any:
            return Loaded(before.text + "|" + entry.place.read_text())

    (one,) = written(tmp_path, "one")
    pool = LoaderPool([Growing()])
    pool.get(one)
    one.place.write_text("more")
    assert pool.get(one).text == "one|more"


def test_a_folder_changes_with_any_of_its_files(tmp_path: Path) -> None:
    class Folders(Texts):
        def load(self, entry: Entry) -> Any:
            return Loaded("".join(sorted(file.read_text() for file in entry.place.iterdir())))

    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "a").write_text("a")
    pool = LoaderPool([Folders()])
    assert pool.get(entry(folder)).text == "a"
    (folder / "b").write_text("b")
    assert pool.get(entry(folder)).text == "ab"
    (folder / "a").write_text("longer")
    assert pool.get(entry(folder)).text == "blonger"


def test_many_threads_keep_the_bounds(tmp_path: Path) -> None:
    entries = written(tmp_path, *(f"f{number}" for number in range(20)))
    limit = 5 * SIZE + SIZE // 2
    pool = LoaderPool([Texts()], limit_bytes=limit)

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
