"""Archives behind fsspec."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from benchyard.core.errors import BenchyardError, InputError, SinkUnavailableError
from benchyard.publish.archive import Archive, Kept, RemoteArchive
from benchyard.publish.claims import ClaimedFile
from benchyard.publish.compression import Compression, compress
from benchyard.publish.routes import Route, open_archive
from tests.benchyard.publish.conftest import names

Hold = Callable[..., ClaimedFile]
LocalFileSystem: Any = import_module("fsspec.implementations.local").LocalFileSystem
MemoryFileSystem: Any = import_module("fsspec.implementations.memory").MemoryFileSystem


class RenamingFileSystem(LocalFileSystem):
    """Something like SFTP: what is written is seen while it is written, and can be renamed."""

    protocol = "renaming"
    fails: str | None = None
    error: Exception = OSError("connection lost")

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix("renaming://")

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite") -> None:
        written = value[: len(value) // 2] if self.fails == "write" else value
        LocalFileSystem.pipe_file(self, path, written, mode)
        if self.fails == "write":
            raise self.error

    def mv(self, path1: str, path2: str) -> None:
        if self.fails == "move":
            raise self.error
        LocalFileSystem.mv(self, path1, path2)


@pytest.fixture(scope="module", autouse=True)
def renaming() -> None:
    import_module("fsspec").register_implementation("renaming", RenamingFileSystem, clobber=True)


@pytest.fixture(params=["local", "memory", "renaming"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory://bucket-{uuid4().hex}/deep/folder"
    kind = "renaming://" if request.param == "renaming" else ""
    return f"{kind}{tmp_path}/archive/folder"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda what: monkeypatch.setattr(RenamingFileSystem, "fails", what)


def opened(url: str, compression: Compression = Compression.NONE) -> Archive:
    archive = open_archive(Route("local", Path("/spool"), url, compression))
    archive.prepare()
    return archive


def keep(archive: Archive, held: ClaimedFile) -> Kept:
    return archive.keep(held, held.content())


@pytest.mark.parametrize("lies", Compression)
@pytest.mark.parametrize("wanted", Compression)
def test_a_file_is_archived_once(
    url: str, hold: Hold, lies: Compression, wanted: Compression
) -> None:
    archive = opened(url, wanted)
    assert not archive.has("a.json")
    held = hold(f"a.json{lies.ending}", compress(b"content", lies))
    ending = wanted.ending or lies.ending
    assert archive.planned(held, b"content") == f"{url}/a.json{ending}"
    assert keep(archive, held) == Kept(f"{url}/a.json{ending}", new=True)
    assert keep(archive, held) == Kept(f"{url}/a.json{ending}", new=False)
    assert held.path.exists(), "it stays in the spool"
    assert all(map(archive.has, ("a.json", "a.json.gz", "a.json.zst")))
    assert keep(opened(url), held) == Kept(f"{url}/a.json{ending}", new=False)


@pytest.mark.parametrize("ending", [".json", ".events.jsonl"])
def test_other_content_gets_another_name(url: str, hold: Hold, ending: str) -> None:
    archive = opened(url)
    keep(archive, held := hold(f"a{ending}", "one"))
    for number in (2, 3):
        other = hold(f"{number}.json", f"content {number}")
        renamed = ClaimedFile(held.path, other.descriptor, other.mark)
        assert archive.planned(renamed, renamed.content()) == f"{url}/a~{number}{ending}"
        assert keep(archive, renamed) == Kept(f"{url}/a~{number}{ending}", new=True)
        assert not keep(archive, renamed).new
    assert not keep(archive, held).new


@pytest.mark.parametrize("where", ["write", "move"])
def test_after_a_failure_nothing_half_has_the_name(
    tmp_path: Path, hold: Hold, failing: Callable[[str], None], where: str
) -> None:
    archive = opened(f"renaming://{tmp_path}/remote")
    failing(where)
    held = hold("a.json", "content")
    with pytest.raises(SinkUnavailableError) as caught:
        keep(archive, held)
    expected = f"archive renaming://{tmp_path}/remote: OSError: connection lost"
    assert str(caught.value) == expected
    assert names(tmp_path / "remote") == []
    failing("")
    assert keep(archive, held).new


def test_a_file_that_came_out_shorter_is_not_archived(
    tmp_path: Path, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = opened(f"renaming://{tmp_path}/remote")

    def size(*_: object) -> int:
        return 3

    monkeypatch.setattr(RenamingFileSystem, "size", size, raising=False)
    with pytest.raises(SinkUnavailableError, match="has 3 bytes there instead of 7"):
        keep(archive, hold("a.json", "content"))


def test_another_was_quicker(hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://bucket-{uuid4().hex}"
    archive = opened(url)
    real = MemoryFileSystem.pipe_file
    quicker = iter([b"other content"])

    def after_another(self: Any, path: str, value: bytes, mode: str = "overwrite") -> None:
        for content in quicker:
            real(self, path, content)
        real(self, path, value, mode)

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", after_another)
    assert keep(archive, hold("a.json", "content")) == Kept(f"{url}/a~2.json", new=True)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nothing://bucket", "nothing://bucket cannot be an archive: Protocol not known: nothing"),
        ("gs://bucket", "gs://bucket cannot be an archive: "),
    ],
)
def test_storage_that_there_is_not(url: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(url)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(SinkUnavailableError) as caught:
        opened("ftp://somebody:sesame-open@127.0.0.1:9/folder")
    assert str(caught.value).startswith("archive ftp://127.0.0.1:9/folder does not answer")
    assert "sesame" not in str(caught.value)


def test_a_secret_in_the_address_is_in_no_text(
    tmp_path: Path, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"renaming://user:p%40ssword@{tmp_path}/remote?signature=abcdef"
    archive = RemoteArchive(url)
    error = OSError("renaming://user:p%40ssword@h refused p@ssword, abcdef")
    monkeypatch.setattr(RenamingFileSystem, "error", error)
    monkeypatch.setattr(RenamingFileSystem, "fails", "write")
    with pytest.raises(BenchyardError) as caught:
        keep(archive, hold())
    for secret in ("p%40ssword", "p@ssword", "abcdef"):
        assert secret not in str(caught.value) + archive.shown
