"""Entries appear, vanish, are cut off and replaced, while many list and load."""

import gc
import random
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import BenchyardError, NotFoundError
from tests.benchyard.catalogue.making import put_many, record

FORMAT_OF = {one.name: one for one in FORMATS}
READERS, CASES, SETTLED, NUMBERS = 8, 6, range(1, 6), range(6, 40)


class Fire:
    """Writers and readers of one lab.

    Args:
        lab: Where cases lie; runs ``SETTLED`` are never touched.
    """

    def __init__(self, lab: Path, catalogue: Catalogue) -> None:
        self._lab = lab.resolve()
        self._catalogue = catalogue
        self._stop = threading.Event()
        self._chance = random.Random(7)  # noqa: S311 - not a secret
        for case in range(CASES):
            put_many(self._results(case), SETTLED, host="settled")
        self._settled = set(self._lab.glob("*/results/*"))
        #: Places of what was there at any time.
        self._ever = set(self._settled)
        self.wrong: deque[str] = deque(maxlen=20)
        self.asked = self.changed = 0

    def _results(self, case: int) -> Path:
        return self._lab / f"case-{case}" / "results"

    def burn(self, seconds: float) -> None:
        """Change and ask for so long."""
        work: list[Callable[[], None]] = [self._change, *[self._ask] * READERS]
        threads = [threading.Thread(target=self._again, args=(one,)) for one in work]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self._stop.set()
        for thread in threads:
            thread.join()
        self._stop.clear()

    def _again(self, work: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                work()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
                self.wrong.append(f"{work.__name__}: {error!r}")

    def _change(self) -> None:
        results = self._results(self._chance.randrange(CASES))
        number = self._chance.choice(NUMBERS)
        run = results / f"run_{number}"
        self._ever.add(run)
        if not run.exists():
            put_many(results, [number], host=f"h{self._chance.randrange(9)}")
        else:
            self._chance.choice((self._remove, self._cut, self._replace, self._leave))(run)
        self.changed += 1

    def _remove(self, run: Path) -> None:
        shutil.rmtree(run)

    def _cut(self, run: Path) -> None:
        with (run / "run.json").open("r+b") as stream:
            stream.truncate(self._chance.randrange(500))

    def _replace(self, run: Path) -> None:
        number = int(run.name.removeprefix("run_"))
        (run / "new").write_text(str(record(number, host="new").to_json()).replace("'", '"'))
        (run / "new").replace(run / "run.json")

    def _leave(self, run: Path) -> None:
        (run / "run.json").unlink(missing_ok=True)
        (run / "run.json").write_text("")

    def _ask(self) -> None:
        self.asked += 1
        page = self._catalogue.page(EntryQuery(limit=1000, sort="path"))
        if len(page.entries) != page.total:
            self.wrong.append(f"{len(page.entries)} entries of {page.total}")
        places = {entry.place for entry in page.entries}
        if not places <= self._ever:
            self.wrong.append(f"never there: {places - self._ever}")
        if not self._settled <= places:
            self.wrong.append(f"lost: {self._settled - places}")
        self._ask_of_one(page.entries[self.asked % len(page.entries)])

    def _ask_of_one(self, entry: Entry) -> None:
        try:
            self._catalogue.entry(entry.id)
            FORMAT_OF[entry.format].load(entry)
        except NotFoundError:
            if entry.place in self._settled:
                self.wrong.append(f"settled, and not there: {entry.path}")
        except BenchyardError as error:
            if entry.host == "settled":
                self.wrong.append(f"settled, and not read: {error}")
        if sum(case.runs for case in self._catalogue.cases()) < len(self._settled):
            self.wrong.append("cases without their runs")


def used() -> tuple[int, int, int]:
    """Return files, threads and bytes of this process."""
    gc.collect()
    process = psutil.Process()
    return process.num_fds(), threading.active_count(), process.memory_info().rss


def told(catalogue: Catalogue) -> list[Entry]:
    return list(catalogue.page(EntryQuery(limit=None, sort="path")).entries)


def stand_the_fire(tmp_path: Path, seconds: float) -> None:
    lab = tmp_path / "lab"
    before = used()
    catalogue = Catalogue([lab], tmp_path / "index.sqlite", look=False)
    fire = Fire(lab, catalogue)
    catalogue.refresh()
    with catalogue.watching():
        fire.burn(seconds / 4)
        warm = used()
        fire.burn(seconds * 3 / 4)
        files, threads, memory = used()
        assert files <= warm[0] + 9  # connections that eight readers may keep
        assert threads == warm[1]
        assert memory <= warm[2] + 60_000_000
    assert not fire.wrong
    assert fire.asked > READERS
    assert fire.changed > READERS
    catalogue.refresh()
    fresh = Catalogue([lab], tmp_path / "fresh.sqlite")
    assert told(catalogue) == told(fresh)
    assert catalogue.cases() == fresh.cases()
    for one in (catalogue, fresh):
        one.close()
    assert used()[:2] == before[:2]


@pytest.mark.slow
def test_the_catalogue_stands_seconds_of_fire(tmp_path: Path) -> None:
    stand_the_fire(tmp_path, 10)


@pytest.mark.long
def test_the_catalogue_stands_minutes_of_fire(tmp_path: Path) -> None:
    stand_the_fire(tmp_path, 300)
