"""The archive in a folder."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError, SinkUnavailableError
from benchyard.publish.archive import Kept, LocalArchive
from benchyard.publish.claims import ClaimedFile, claimed
from benchyard.publish.compression import Compression, decompress
from benchyard.publish.routes import Route, open_archive
from tests.benchyard.publish.conftest import names, raising, write

Hold = Callable[..., ClaimedFile]


@pytest.fixture
def archive(tmp_path: Path) -> LocalArchive:
    made = LocalArchive(tmp_path / "deep" / "archive")
    made.prepare()
    return made


def keep(archive: LocalArchive, held: ClaimedFile) -> Kept:
    return archive.keep(held, held.content())


def test_no_second_copy_of_a_file_is_written(archive: LocalArchive, hold: Hold) -> None:
    held = hold("a.json", '{"a": 1}')
    assert held.path.samefile(keep(archive, held).where)


def test_damaged_files_folders_and_links_in_the_archive_are_other_content(
    archive: LocalArchive, hold: Hold, tmp_path: Path
) -> None:
    write(archive.folder / "a.json.gz", "no gz at all")
    (archive.folder / "a~2.json").mkdir()
    (archive.folder / "a~3.json").symlink_to(tmp_path / "absent")
    (archive.folder / "a~4.json").symlink_to(write(tmp_path / "other.json", "mine"))
    assert keep(archive, hold("a.json", "content")).where == str(archive.folder / "a~5.json")
    assert not (tmp_path / "absent").exists()
    assert (tmp_path / "other.json").read_text() == "mine"


@given(st.lists(st.binary(max_size=8), max_size=8))
def test_whatever_comes_under_one_name_is_kept(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    for content in contents:
        path = write(folder.with_name(folder.name + "-spool.json"), content)
        with claimed(path) as held:
            assert isinstance(held, ClaimedFile)
            keep(LocalArchive(folder, Compression.GZ), held)
        path.unlink()
    kept = [decompress((folder / name).read_bytes(), Compression.GZ) for name in names(folder)]
    assert sorted(kept) == sorted(set(contents))


def test_the_name_may_be_taken_while_it_is_written(
    archive: LocalArchive, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    link: Callable[..., None] = os.link
    quicker = iter(["same", "other"])

    def after_another(*where: Path, **how: object) -> None:
        content = next(quicker, None)
        if content == "same":
            write(archive.folder / "a.json", "other content")
        link(*where, **how)

    monkeypatch.setattr(os, "link", after_another)
    assert keep(archive, hold("a.json", "content")).where == str(archive.folder / "a~2.json")
    assert (archive.folder / "a.json").read_text() == "other content"


def test_a_name_that_is_refused_for_ever_is_an_error(
    archive: LocalArchive, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    link: Callable[..., None] = os.link

    def refused(first: Path, second: Path, **how: bool) -> None:
        if not second.name.startswith("."):
            raise FileExistsError
        link(first, second, **how)

    monkeypatch.setattr(os, "link", refused)
    with pytest.raises(SinkUnavailableError, match="cannot be found"):
        keep(archive, hold())


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP])
def test_where_it_cannot_be_linked_it_is_copied(
    archive: LocalArchive, hold: Hold, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    held = hold("a.json", "content")
    os.utime(held.path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr(os, "link", raising(OSError(number, os.strerror(number))))
    kept = Path(keep(archive, held).where)
    assert kept.read_text() == "content"
    assert kept.stat().st_mtime == 1_700_000_000, "the order of time is kept"
    assert names(archive.folder) == ["a.json"]


# -- the archive is not the spool


@pytest.mark.parametrize("place", [".", "rejected", "../spool", "../alias"])
def test_the_spool_is_no_archive(spool: Path, place: str) -> None:
    (spool.parent / "alias").symlink_to(spool)
    with pytest.raises(InputError, match="cannot be the archive"):
        open_archive(Route("local", spool, str(spool / place)))


def test_the_spool_by_another_path_is_noticed_by_the_file(spool: Path, hold: Hold) -> None:
    """As with a bind mount or a second mount of a share."""
    with pytest.raises(InputError, match="is the spool itself"):
        keep(LocalArchive(spool), hold())
    assert names(spool) == ["a.json"]


@pytest.mark.parametrize("form", ["{}", "file://{}", "local://{}"])
def test_forms_of_a_local_archive(tmp_path: Path, form: str) -> None:
    archive = open_archive(Route("local", tmp_path / "spool", form.format(tmp_path / "archive")))
    assert isinstance(archive, LocalArchive)
    assert archive.folder == tmp_path / "archive"
