import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchyard.catalogue import watch as module
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
from benchyard.catalogue.watch import silent_root
from benchyard.results.layout import begin_run
from tests.benchyard.catalogue.making import put_run
from tests.conftest import eventually


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    put_run(tmp_path / "lab" / "sort" / "results")
    return tmp_path / "lab"


@pytest.fixture
def catalogue(lab: Path) -> Iterator[Catalogue]:
    with Catalogue([lab], lab.parent / "index.sqlite", look=False).watching() as watched:
        yield watched
    watched.close()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; so long only on a host that does much else."""
    assert eventually(holds, 30.0), "it never happened"


def total(catalogue: Catalogue) -> int:
    return catalogue.page(EntryQuery()).total


def test_what_comes_and_goes_is_seen(lab: Path, catalogue: Catalogue) -> None:
    wait_until(lambda: total(catalogue) == 1)
    put_run(lab / "sort" / "results", 2)
    wait_until(lambda: total(catalogue) == 2)
    put_run(lab / "new" / "case" / "results")
    wait_until(lambda: total(catalogue) == 3)
    put_run(lab / "new" / "case" / "results", 2)
    wait_until(lambda: total(catalogue) == 4)
    shutil.rmtree(lab / "sort")
    wait_until(lambda: total(catalogue) == 2)
    assert (catalogue.freshness.watched, catalogue.freshness.note) == (True, "")


def test_a_run_is_followed_to_its_end(lab: Path, catalogue: Catalogue) -> None:
    begin_run(lab / "sort" / "results", 2)
    wait_until(lambda: total(catalogue) == 2)
    put_run(lab / "sort" / "results", 2)
    wait_until(lambda: catalogue.page(EntryQuery(outcomes=("completed",))).total == 2)


def test_names_that_are_no_utf8_end_nothing(
    lab: Path, catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    wait_until(lambda: total(catalogue) == 1)
    odd = lab / os.fsdecode(b"\xff\xfe")
    put_run(odd / "results")  # nobody can watch this folder
    put_run(lab / "sort" / "results", 2)
    wait_until(lambda: total(catalogue) == 3)
    (lab / "sort" / os.fsdecode(b"\xe9")).touch()  # and an event of this name is none
    put_run(lab / "sort" / "results", 3)
    wait_until(lambda: total(catalogue) == 4)
    assert (catalogue.freshness.watched, catalogue.freshness.note, caplog.text) == (True, "", "")


def test_nothing_changes_where_nothing_happens(catalogue: Catalogue) -> None:
    wait_until(lambda: catalogue.freshness.watched)
    generation = catalogue.generation
    time.sleep(2.5)  # longer than what is new takes to settle
    assert catalogue.generation == generation


def test_it_stops_with_its_thread(lab: Path) -> None:
    before = threading.active_count()
    catalogue = Catalogue([lab], lab.parent / "index.sqlite")
    with catalogue.watching():
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert not catalogue.freshness.watched
    catalogue.close()


def test_where_the_kernel_cannot_watch_it_is_told_and_looked_at_again(
    lab: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def too_many(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", too_many)
    with (
        caplog.at_level(logging.WARNING),
        Catalogue([lab], lab.parent / "index.sqlite", look=False).watching() as catalogue,
    ):
        wait_until(lambda: "watch limit reached" in catalogue.freshness.note)
        assert not catalogue.freshness.watched
        put_run(lab / "sort" / "results", 2)
        wait_until(lambda: total(catalogue) == 2)
    assert "folders are looked at again and again" in caplog.text
    catalogue.close()


def test_a_silent_file_system_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:40 / /mnt/lab rw - nfs4 server:/lab rw\n"
    )
    monkeypatch.setattr(module, "_MOUNTS", mounts)
    assert silent_root([Path("/mnt/lab/results")]) == Path("/mnt/lab/results")
    assert silent_root([Path("/mnt/laboratory")]) is None


def test_a_failed_look_is_told_and_tried_again(lab: Path, caplog: pytest.LogCaptureFixture) -> None:
    failures = [RuntimeError("odd")]

    class Odd(Catalogue):
        def refresh(self, stopped: Callable[[], bool] = lambda: False) -> None:
            if failures:
                raise failures.pop()
            super().refresh(stopped)

    with (
        caplog.at_level(logging.WARNING),
        Odd([lab], lab.parent / "index.sqlite", look=False).watching() as catalogue,
    ):
        wait_until(lambda: total(catalogue) == 1)
    assert "odd" in caplog.text
    catalogue.close()
