"""The spool."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import SinkUnavailableError
from benchyard.publish.claims import ClaimedFile, claimed
from benchyard.publish.sinks.contract import DocumentKind
from benchyard.publish.spool import kind_of, listing, offer_again, put, reject
from tests.benchyard.publish.conftest import Fill, names, raising, write


# -- putting
def test_a_document_is_put_once(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    assert put(folder, "a.json", b"first")
    assert not put(folder, "a.json", b"second")
    assert (folder / "a.json").read_bytes() == b"first"
    assert names(folder) == ["a.json"]


def test_a_dangling_link_is_a_name_that_is_taken(spool: Path, tmp_path: Path) -> None:
    (spool / "a.json").symlink_to(tmp_path / "absent")
    assert not put(spool, "a.json", b"{}")
    assert not (tmp_path / "absent").exists()


def test_it_is_on_disk_before_it_has_its_name(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync: Callable[[int], None] = os.fsync
    link: Callable[..., None] = os.link

    def synced(descriptor: int) -> None:
        done.append("sync")
        fsync(descriptor)

    def named(*where: Path, **how: bool) -> None:
        done.append("name")
        link(*where, **how)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", named)
    put(spool, "a.json", b"{}")
    assert done == ["sync", "name", "sync"]


@pytest.mark.requires("mount")
def test_a_full_disk_leaves_nothing_half(small_disk: Path) -> None:
    put(small_disk, "a.json", b"a" * 8192)
    with pytest.raises(OSError, match="No space left on device"):
        put(small_disk, "b.json", b"b" * 100_000)
    assert names(small_disk) == ["a.json"]
    assert put(small_disk, "b.json", b"b")


# -- listing
def test_the_oldest_is_first_then_the_name(spool: Path, fill: Fill) -> None:
    fill("c.json", "a.json", "b.json.gz", "e.events.jsonl.zst")
    for name in ("a.json", "b.json.gz"):
        os.utime(spool / name, (1_700_000_000, 1_700_000_000))
    waiting = [one.name for one in listing(spool).waiting]
    assert waiting == ["a.json", "b.json.gz", "c.json", "e.events.jsonl.zst"]


def test_what_is_no_document_is_counted_and_left(spool: Path, tmp_path: Path, fill: Fill) -> None:
    fill("a.json", "notes.txt", "a.json~", "a.jsonl", ".hidden.json", ".a.json.new")
    (spool / "folder.json").mkdir()
    (spool / "folder.json" / "inside.json").touch()
    (spool / "link.json").symlink_to(write(tmp_path / "outside.json", "{}"))
    (spool / "dangling.json").symlink_to(tmp_path / "absent")
    os.mkfifo(spool / "pipe.json")
    (spool / "rejected").mkdir()
    (spool / "rejected" / "old.json").touch()
    found = listing(spool)
    assert [one.name for one in found.waiting] == ["a.json"]
    assert found.left_alone == 7


@given(st.text())
def test_any_name_is_of_a_kind_or_of_none(name: str) -> None:
    assert kind_of(name) in (DocumentKind.RESULTS, DocumentKind.EVENTS, None)
    assert kind_of(f"x{name}.events.jsonl.zst") is DocumentKind.EVENTS
    assert kind_of(f"x{name}.json") is DocumentKind.RESULTS
    assert kind_of(f".{name}.json") is None


# -- rejecting


Hold = Callable[..., ClaimedFile]


def test_another_of_the_same_name_does_not_replace_it(spool: Path, hold: Hold) -> None:
    reject(hold("a.json.gz", b"\0one"), "first")
    assert reject(hold("a.json.gz", b"\0two"), "second") == "a~2.json.gz"
    assert reject(hold("a.json.gz", b"\0one"), "first again") == "a.json.gz"
    rejected = spool / "rejected"
    assert (rejected / "a.json.gz").read_bytes() == b"\0one"
    assert (rejected / "a~2.json.gz").read_bytes() == b"\0two"
    assert (rejected / "a~2.json.gz.reason.txt").read_text() == "second\n"
    assert len(names(rejected)) == 4


def test_what_cannot_be_put_aside_is_not_lost(spool: Path, hold: Hold) -> None:
    name = "n" * 249 + ".json"
    with pytest.raises(SinkUnavailableError, match="File name too long"):
        reject(hold(name, "broken"), "it is broken")
    assert (spool / name).read_text() == "broken"
    (spool / "rejected").rmdir()
    write(spool / "rejected", "mine")
    with pytest.raises(SinkUnavailableError, match=r"rejected: File exists"):
        reject(hold("a.json", "broken"), "it is broken")
    assert names(spool) == ["a.json", name, "rejected"]
    assert (spool / "rejected").read_text() == "mine"


def test_reading_and_writing_need_no_library_of_a_sink() -> None:
    script = (
        "import sys; import benchyard.publish.service;"
        "wrong = {'fsspec', 'google.cloud', 'azure', 'prefect', 'matplotlib'};"
        "print(__import__('json').dumps(sorted(wrong & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert json.loads(done.stdout) == []


def rejected(spool: Path, name: str, content: str = "{}") -> Path:
    with claimed(write(spool / name, content)) as held:
        assert isinstance(held, ClaimedFile)
        return spool / "rejected" / reject(held, "for once")


def test_they_wait_again_and_their_reasons_go(spool: Path) -> None:
    rejected(spool, "a.json")
    rejected(spool, "b.json.gz")
    assert offer_again(spool) == ()
    assert names(spool) == ["a.json", "b.json.gz", "rejected"]
    assert names(spool / "rejected") == []


def test_another_file_of_that_name_that_waits_stays(spool: Path) -> None:
    path = rejected(spool, "a.json", "old")
    write(spool / "a.json", "new")
    [left] = offer_again(spool)
    assert left.name == "rejected/a.json"
    assert "another file of that name waits" in left.reason
    assert (spool / "a.json").read_text() == "new"
    assert path.read_text() == "old"


@pytest.mark.parametrize("killed", [True, False])
def test_who_was_killed_in_between_or_has_no_links_loses_nothing(
    spool: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    if not killed:
        monkeypatch.setattr(os, "link", raising(PermissionError(1, "Operation not permitted")))
    path = rejected(spool, "a.json", "mine")
    if killed:
        os.link(path, spool / "a.json")
    assert offer_again(spool) == ()
    assert (spool / "a.json").read_text() == "mine"
    assert names(spool / "rejected") == []


def test_the_other_kind_and_what_is_no_document_stay(spool: Path) -> None:
    rejected(spool, "a.json")
    rejected(spool, "a.events.jsonl")
    write(spool / "rejected" / "notes.txt", "mine")
    assert offer_again(spool, DocumentKind.RESULTS) == ()
    assert "a.json" in names(spool)
    assert {"a.events.jsonl", "notes.txt"} <= set(names(spool / "rejected"))


def test_what_another_publisher_has_is_left_to_it(spool: Path) -> None:
    path = rejected(spool, "a.json")
    with claimed(path):
        assert offer_again(spool) == ()
    assert path.exists()
