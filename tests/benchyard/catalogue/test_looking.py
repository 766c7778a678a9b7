import fcntl
import gc
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchyard.catalogue.catalogue import Catalogue, index_of
from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats import FORMATS
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.catalogue.query import EntryQuery
from benchyard.results.attempts import note_began
from benchyard.results.campaigns import set_aside
from benchyard.results.layout import begin_run
from benchyard.results.record import record_text
from tests.benchyard.catalogue.making import put_many, put_run

LONG_AGO = 1_600_000_000


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    folder = tmp_path / "lab"
    for run in (1, 2, 3):
        put_run(folder / "sort" / "results", run)
    settle(folder)
    return folder


@pytest.fixture
def catalogue(lab: Path) -> Catalogue:
    return looked(lab)


def looked(lab: Path) -> Catalogue:
    return Catalogue([lab], lab.parent / "index.sqlite")


def entries(catalogue: Catalogue) -> dict[str, Entry]:
    return {e.path: e for e in catalogue.page(EntryQuery(limit=None, sort="path")).entries}


def only(catalogue: Catalogue) -> Entry:
    [entry] = entries(catalogue).values()
    return entry


def settle(folder: Path) -> None:
    """Make all below a folder old enough to be told from what is written now."""
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)


# -- what is new, changed and gone


def test_new_runs_are_seen_and_others_not_read_again(
    lab: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def noted(folder: Path) -> bytes:
        read.append(folder)
        return record_text(folder)

    monkeypatch.setattr("benchyard.catalogue.formats.run.record_text", noted)
    new = put_run(lab / "sort" / "results", 4)
    catalogue.refresh()
    assert read == [new.resolve()]
    assert len(entries(catalogue)) == 4


def test_what_vanished_is_forgotten(lab: Path, catalogue: Catalogue) -> None:
    shutil.rmtree(lab / "sort" / "results" / "run_2")
    catalogue.refresh()
    assert list(entries(catalogue)) == ["sort/results/run_1", "sort/results/run_3"]
    shutil.rmtree(lab)
    catalogue.refresh()
    assert entries(catalogue) == {}
    assert catalogue.cases() == []


def test_a_record_that_is_written_over_is_read_again(lab: Path, catalogue: Catalogue) -> None:
    put_run(lab / "sort" / "results", 2, host="another")
    catalogue.refresh()
    assert entries(catalogue)["sort/results/run_2"].host == "another"


def test_a_change_in_the_same_moment_is_not_missed(lab: Path, catalogue: Catalogue) -> None:
    record = put_run(lab / "sort" / "results", 1) / "run.json"
    catalogue.refresh()
    before = record.stat()
    content = record.read_bytes()
    with record.open("r+b") as stream:
        stream.write(content.replace(b"bench-01", b"bench-77"))
    os.utime(record, ns=(before.st_atime_ns, before.st_mtime_ns))
    catalogue.refresh()
    assert entries(catalogue)["sort/results/run_1"].host == "bench-77"


def test_a_case_that_was_moved_is_found_where_it_is(lab: Path, catalogue: Catalogue) -> None:
    (lab / "sort").rename(lab / "merge")
    (lab / "other").mkdir()
    catalogue.refresh()
    assert [path.split("/")[0] for path in entries(catalogue)] == ["merge"] * 3
    assert [case.path for case in catalogue.cases()] == ["merge/results"]


def test_folders_that_were_swapped_are_told_apart(lab: Path) -> None:
    put_run(lab / "copy" / "results", 1, host="copying")
    settle(lab)
    catalogue = looked(lab)
    (lab / "sort").rename(lab / "x")
    (lab / "copy").rename(lab / "sort")
    (lab / "x").rename(lab / "copy")
    settle(lab)
    catalogue.refresh()
    assert [one.host for one in entries(catalogue).values()] == ["bench-01"] * 3 + ["copying"]


def test_a_folder_in_place_of_a_file_and_the_reverse(lab: Path, catalogue: Catalogue) -> None:
    results = lab / "sort" / "results"
    shutil.rmtree(results / "run_1")
    (results / "run_1").write_text("a file")
    catalogue.refresh()
    assert len(entries(catalogue)) == 2
    (results / "run_1").unlink()
    put_run(results, 1)
    catalogue.refresh()
    assert len(entries(catalogue)) == 3


def test_files_of_a_far_year_keep_nothing_out(lab: Path) -> None:
    run = lab / "sort" / "results" / "run_2"
    for place in (run / "run.json", run, lab):
        os.utime(place, (2**34, 2**34))
    catalogue = looked(lab)
    assert {entry.run for entry in entries(catalogue).values()} == {1, 2, 3}
    generation = catalogue.generation
    catalogue.refresh()
    assert catalogue.generation == generation


_DEEP = ['"parameters": {"x": ' + '{"a": ' * n + "1" + "}" * n for n in (300, 600, 990, 2_000)]


@pytest.mark.parametrize(
    ("old", "new"),
    [*(('"parameters": {', deep) for deep in _DEEP), ('"index": 1', f'"index": {2**70}')],
)
def test_an_extreme_record_keeps_nothing_out(lab: Path, old: str, new: str) -> None:
    record = lab / "sort" / "results" / "run_2" / "run.json"
    record.write_text(record.read_text().replace(old, new))
    assert new in record.read_text()
    found = entries(looked(lab)).values()
    assert {entry.run for entry in found} == {1, 2, 3}
    assert {entry.run for entry in found if entry.broken} <= {2}
    assert "index" not in old or any(entry.broken for entry in found)


def test_links_are_not_followed(lab: Path, tmp_path: Path) -> None:
    put_run(tmp_path / "elsewhere" / "results")
    (lab / "linked").symlink_to(tmp_path / "elsewhere")
    (lab / "sort" / "results" / "run_9").symlink_to(tmp_path / "elsewhere" / "results" / "run_1")
    (lab / "sort" / "round").symlink_to(lab)
    assert len(entries(looked(lab))) == 3


def test_what_the_lab_makes_or_removes_is_no_run(lab: Path) -> None:
    results = lab / "sort" / "results"
    for name in (".making-run_4", ".removing-run_1", "run_2.replaced", "run_1.kept-2026", "run_0"):
        shutil.copytree(results / "run_1", results / name)
    assert len(entries(looked(lab))) == 3


def test_names_that_are_no_unicode_are_listed(lab: Path) -> None:
    odd = os.fsdecode(b"b\xff\xfed\n<b>")
    put_run(lab / odd / "results", name="odd", host="h\x00st\ud800")
    catalogue = looked(lab)
    [entry] = catalogue.page(EntryQuery(cases=("odd",))).entries
    assert entry.path == f"{odd}/results/run_1"
    assert entry.place.is_dir()
    assert catalogue.entry(entry.id) == entry
    assert [case.path for case in catalogue.cases(EntryQuery(cases=("odd",)))] == [f"{odd}/results"]


# -- what cannot be read


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"format": "benchyard-run", "ver', "not a readable record"),
        ('{"format": "benchyard-run", "version": 99}', "read it with the Benchyard that wrote it"),
    ],
)
def test_a_damaged_record_is_listed_with_the_reason(
    lab: Path, catalogue: Catalogue, content: str, why: str
) -> None:
    (lab / "sort" / "results" / "run_2" / "run.json").write_text(content)
    catalogue.refresh()
    [entry] = catalogue.page(EntryQuery(broken=True)).entries
    assert (entry.path, entry.run, entry.case) == ("sort/results/run_2", 2, "sort")
    assert why in entry.broken
    assert catalogue.page(EntryQuery(broken=False)).total == 2
    put_run(lab / "sort" / "results", 2)
    catalogue.refresh()
    assert catalogue.page(EntryQuery(broken=True)).total == 0


def test_a_record_of_another_run_or_none_is_broken(lab: Path) -> None:
    results = lab / "sort" / "results"
    shutil.copytree(results / "run_1", results / "run_8")
    (results / "run_2" / "run.json").unlink()
    found = entries(looked(lab))
    assert "it is of run 1" in found["sort/results/run_8"].broken
    assert "run.json is missing" in found["sort/results/run_2"].broken


def test_a_record_that_is_a_pipe_is_broken_and_nobody_waits(tmp_path: Path) -> None:
    run = tmp_path / "lab" / "run_1"
    run.mkdir(parents=True)
    (run / ".done").touch()
    os.mkfifo(run / "run.json")
    assert only(looked(tmp_path / "lab")).broken


def test_a_folder_that_may_not_be_listed_is_listed() -> None:
    with TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        base = Path(name)
        put_run(base / "lab" / "sort" / "results")
        (base / "lab" / "closed").mkdir(mode=0o000)
        (base / "open").mkdir()
        for folder in (base, base / "open"):
            folder.chmod(0o777)
        printed = subprocess.check_output(
            [sys.executable, "-c", _CLOSED, name], text=True, timeout=60
        )
    assert printed.splitlines() == [
        "folder closed closed: Permission denied 2",
        "0",
    ]


_CLOSED = """
import os, sys
from pathlib import Path
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.query import EntryQuery
if os.getuid() == 0:
    os.seteuid(65534)
catalogue = Catalogue([Path(sys.argv[1], "lab")], Path(sys.argv[1], "open", "index.sqlite"))
[entry] = catalogue.page(EntryQuery(broken=True)).entries
print(entry.format, entry.path, entry.broken, catalogue.page(EntryQuery()).total)
os.seteuid(os.getuid())
Path(sys.argv[1], "lab", "closed").chmod(0o755)
catalogue.refresh()
print(catalogue.page(EntryQuery(broken=True)).total)
"""


class _OddFormat:
    """Says of text files what no list can hold, and of others that reading them fails."""

    name = "odd"

    def detect(self, listing: FolderListing) -> Iterable[str]:
        return listing.files

    def describe(self, found: Candidate) -> Entry | None:
        if found.path.endswith(".txt"):
            return Entry(found.id, "odd", found.root, found.path, math.nan, math.inf)
        raise RuntimeError("no way")

    def load(self, entry: Entry) -> None:
        raise NotImplementedError


def test_a_format_that_fails_keeps_nothing_out(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lab / "a.txt").touch()
    (lab / "b.bin").touch()
    monkeypatch.setattr("benchyard.catalogue.catalogue.FORMATS", (*FORMATS, _OddFormat()))
    catalogue = looked(lab)
    broken = {e.path: e.broken for e in catalogue.page(EntryQuery(broken=True)).entries}
    assert broken["a.txt"].endswith("a.txt: nan is no time")
    assert broken["b.bin"].endswith("b.bin: RuntimeError: no way")
    assert catalogue.page(EntryQuery(broken=False)).total == 3


# -- what is under way


def test_a_run_under_way_is_told_until_it_ends(lab: Path, catalogue: Catalogue) -> None:
    results = lab / "sort" / "results"
    begin_run(results, 4)
    note_began(results, "sort[x=1]", 4, "2026-11-25T08:00:00+00:00", {})
    catalogue.refresh()
    [entry] = catalogue.page(EntryQuery(under_way=True)).entries
    assert (entry.run, entry.title, entry.case, entry.outcome) == (4, "sort[x=1]", "sort", None)
    assert (entry.started_s, entry.broken) == (1_795_593_600.0, "")
    assert catalogue.cases()[0].failed == 0
    put_run(results, 4)
    catalogue.refresh_around(())
    assert catalogue.page(EntryQuery(under_way=True)).total == 0
    assert entries(catalogue)["sort/results/run_4"].outcome == "completed"


def test_a_run_that_was_killed_is_broken(lab: Path, catalogue: Catalogue) -> None:
    begin_run(lab / "sort" / "results", 4)
    catalogue.refresh()
    entry = entries(catalogue)["sort/results/run_4"]
    assert (entry.under_way, entry.run) == (False, 4)
    assert "killed" in entry.broken


# -- the index


def test_what_was_known_is_told_before_the_first_look(lab: Path, catalogue: Catalogue) -> None:
    put_run(lab / "sort" / "results", 4)
    other = Catalogue([lab], lab.parent / "index.sqlite", look=False)
    assert other.page(EntryQuery()).total == 3
    assert catalogue.freshness.looked_s <= time.time()
    other.refresh()
    assert catalogue.page(EntryQuery()).total == 4  # both ask one file


_DROP_TABLES = """
PRAGMA writable_schema = ON;
DELETE FROM sqlite_master WHERE name LIKE 'entries%';
"""


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(
    "damage", [b"", b"nothing of use" * 9999, "PRAGMA user_version = 4711", _DROP_TABLES]
)
def test_an_index_that_is_damaged_or_of_another_version_is_made_anew(
    lab: Path, catalogue: Catalogue, damage: bytes | str, is_open: bool
) -> None:
    before = entries(catalogue)
    if not is_open:
        catalogue.close()
    index = lab.parent / "index.sqlite"
    if isinstance(damage, bytes):
        index.write_bytes(damage)
    else:
        with closing(sqlite3.connect(index)) as connection:
            connection.executescript(damage)
    assert entries(catalogue if is_open else looked(lab)) == before


def test_an_index_lies_in_the_labs_folder_and_elsewhere_if_that_is_closed(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    Catalogue([lab]).close()
    assert index_of([lab]).parent == tmp_path / "home" / "catalogue"
    assert index_of([lab]).is_file()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    catalogue = Catalogue([lab])
    assert len(entries(catalogue)) == 3
    assert "cannot be used" in caplog.text
    assert [*(tmp_path / "elsewhere").iterdir()]
    catalogue.close()
    del catalogue
    gc.collect()
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_a_look_that_was_stopped_goes_on(lab: Path) -> None:
    put_many(lab / "sort" / "results", range(4, 30))
    catalogue = Catalogue([lab], lab.parent / "index.sqlite", look=False)
    catalogue.refresh(_after(10))
    some = catalogue.page(EntryQuery()).total
    assert 0 < some < 29
    assert catalogue.freshness.looked_s == 0
    catalogue.refresh()
    assert catalogue.page(EntryQuery()).total == 29


def _after(calls: int) -> Callable[[], bool]:
    left = iter(range(calls))
    return lambda: next(left, None) is None


@pytest.mark.slow
def test_a_first_look_that_was_killed_goes_on(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    for case in range(10):
        put_many(lab / f"case-{case}" / "results", range(1, 151))
    settle(lab)
    index = tmp_path / "index.sqlite"
    started = subprocess.Popen([sys.executable, "-c", _LOOK, str(lab), str(index)])
    reader = Catalogue([lab], index, look=False)
    while not reader.page(EntryQuery()).total and started.poll() is None:
        time.sleep(0.01)
    started.send_signal(signal.SIGKILL)
    started.wait()
    some = reader.page(EntryQuery()).total
    assert 0 < some <= 1500
    reader.refresh()
    assert reader.page(EntryQuery()).total == 1500
    assert entries(reader) == entries(Catalogue([lab], tmp_path / "other.sqlite"))


_LOOK = """
import sys
from pathlib import Path
from benchyard.catalogue.catalogue import Catalogue
Catalogue([Path(sys.argv[1])], Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_processes_that_look_at_once_do_not_hinder_each_other(lab: Path, tmp_path: Path) -> None:
    for case in range(3):
        put_many(lab / f"case-{case}" / "results", range(1, 101))
    index = tmp_path / "index.sqlite"
    command = [sys.executable, "-c", _LOOK, str(lab), str(index)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(one.communicate(timeout=60)[1], one.returncode) for one in started] == [(b"", 0)] * 3
    assert Catalogue([lab], index, look=False).page(EntryQuery()).total == 303


def test_who_stops_does_not_wait_for_another_that_looks(lab: Path, catalogue: Catalogue) -> None:
    with (lab.parent / "index.sqlite.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        other = Catalogue([lab], lab.parent / "index.sqlite", look=False)
        assert other.page(EntryQuery()).total == 3
        other.watch()
        other.close()
        put_run(lab / "sort" / "results", 4)
        catalogue.refresh(lambda: True)
    assert catalogue.page(EntryQuery()).total == 3
    catalogue.refresh()
    assert catalogue.page(EntryQuery()).total == 4


# -- ids


def test_ids_stay_when_a_campaign_is_set_aside_and_when_the_root_moves(
    lab: Path, catalogue: Catalogue, tmp_path: Path
) -> None:
    ids = {path: entry.id for path, entry in entries(catalogue).items()}
    [before] = catalogue.cases()
    moved = set_aside(lab / "sort" / "results")
    assert moved
    put_run(lab / "sort" / "results", 1, duration_s=9.0)
    catalogue.refresh()
    for path, known in ids.items():
        assert catalogue.entry(known).place == moved / Path(path).name
    assert catalogue.case(before.id).results == moved
    newest = entries(catalogue)["sort/results/run_1"]
    assert newest.id not in ids.values()
    assert newest.results not in ("", before.id)
    lab.rename(tmp_path / "elsewhere")
    again = Catalogue([tmp_path / "elsewhere"], tmp_path / "index2.sqlite")
    assert {entry.id for entry in entries(again).values()} == {*ids.values(), newest.id}
    assert {case.id for case in again.cases()} == {before.id, newest.results}


def test_ids_of_places_still_lead_to_what_lies_there(lab: Path, catalogue: Catalogue) -> None:
    results = lab.resolve() / "sort" / "results"
    entry = entries(catalogue)["sort/results/run_1"]
    assert entry.id != identified(results / "run_1")
    assert catalogue.entry(identified(results / "run_1")) == entry
    assert catalogue.case(identified(results)).id == entry.results
    assert catalogue.page(EntryQuery(results=(identified(results),))).total == 3
    assert len(catalogue.steps_of(identified(results))) == 3


def test_a_copy_has_its_own_id_until_the_original_is_gone(lab: Path, catalogue: Catalogue) -> None:
    ids = {entry.id for entry in entries(catalogue).values()}
    [case] = catalogue.cases()
    shutil.copytree(lab / "sort", lab / "sort-copy")
    catalogue.refresh()
    copies = {path: e.id for path, e in entries(catalogue).items() if "copy" in path}
    assert not ids & set(copies.values())
    assert len({one.id for one in catalogue.cases()}) == 2
    assert catalogue.case(case.id).path == "sort/results"
    # Whatever was seen first, the path that comes first has the id of the record.
    shutil.copytree(lab / "sort", lab / "a")
    catalogue.refresh()
    assert catalogue.case(case.id).path == "a/results"
    shutil.rmtree(lab / "sort")
    shutil.rmtree(lab / "a")
    catalogue.refresh()
    catalogue.refresh()
    assert catalogue.case(case.id).path == "sort-copy/results"
    assert {entry.id for entry in entries(catalogue).values()} == ids
