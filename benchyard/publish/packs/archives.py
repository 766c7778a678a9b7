"""The two forms of a pack's file, ``.zip`` and ``.tar.zst``: the same content is the same bytes."""

import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from benchyard.core import zstandard
from benchyard.core.errors import InputError, WrongFileError
from benchyard.core.files import inside, opened, shown
from benchyard.core.outputs import writing
from benchyard.core.wording import quote
from benchyard.publish.packs.manifest import (
    LARGEST,
    MANIFEST,
    Manifest,
    read_manifest,
    read_packed_manifest,
)

#: Of the names of packs: what ends in another one is read all the same.
ENDINGS = (".zip", ".zst")
#: The earliest date that a ZIP can hold.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PIECE = 1 << 20
#: Bytes that a TAR may spend on a member beside its content: headers, long names, padding.
_AROUND = 32_768
#: What the readers of both forms raise for damaged files.
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zstandard.ZstdError, zlib.error, EOFError),
    *(RuntimeError, ValueError, NotImplementedError),
)

_NONE = f"it holds no {MANIFEST}: benchyard pack makes what can be read here"
#: Name to where the content is: a file, or the content itself.
Contents = Mapping[str, Path | bytes]


# -- writing


def write_archive(path: Path, manifest: Manifest, contents: Contents) -> None:
    """Write a pack; the form is that of the name's ending.

    Args:
        contents: Of every file of the manifest.

    Raises:
        InputError: If a file has changed since its digest was taken.
        OSError: If the disk is full or not writable; the old file is then as it was.
    """
    names = sorted(manifest.stored.values())
    write = _write_zip if path.suffix.lower() == ".zip" else _write_tar
    with writing(path) as stream:
        write(stream, manifest, contents, names)


def _write_zip(stream: IO[bytes], manifest: Manifest, contents: Contents, names: list[str]) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_zip_info(MANIFEST, executable=False), manifest.to_bytes())
        for name in names:
            file = manifest.files[name]
            info = _zip_info(name, executable=file.executable)
            info.file_size = file.bytes  # more than 2 GiB need longer fields
            with (
                _checked(name, contents[name], file.sha256) as content,
                archive.open(info, "w") as member,
            ):
                shutil.copyfileobj(content, member, _PIECE)


def _zip_info(name: str, *, executable: bool) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _NO_DATE)
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, _UNIX
    info.external_attr = (0o100755 if executable else 0o100644) << 16
    return info


def _write_tar(stream: IO[bytes], manifest: Manifest, contents: Contents, names: list[str]) -> None:
    with (
        zstandard.ZstdFile(stream, "wb") as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        listed = manifest.to_bytes()
        archive.addfile(_tar_info(MANIFEST, len(listed), executable=False), BytesIO(listed))
        for name in names:
            file = manifest.files[name]
            with _checked(name, contents[name], file.sha256) as content:
                info = _tar_info(name, file.bytes, executable=file.executable)
                archive.addfile(info, cast("IO[bytes]", content))


def _tar_info(name: str, size: int, *, executable: bool) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o755 if executable else 0o644
    return info


class Digesting:
    """A stream that digests what is read of it.

    Args:
        left: Bytes that it gives at most; None for all.
    """

    def __init__(self, stream: IO[bytes], left: int | None = None) -> None:
        self._stream = stream
        self._left = left
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes."""
        if self._left is not None:
            size = self._left if size < 0 else min(size, self._left)
        piece = self._stream.read(size)
        self._digest.update(piece)
        self._left = None if self._left is None else self._left - len(piece)
        return piece

    @property
    def sha256(self) -> str:
        """Digest of what was read so far."""
        return self._digest.hexdigest()


@contextmanager
def _checked(name: str, content: Path | bytes, sha256: str) -> Generator[Digesting]:
    stream = BytesIO(content) if isinstance(content, bytes) else opened(content)
    with stream:
        digesting = Digesting(stream)
        yield digesting
        if digesting.sha256 != sha256 or stream.read(1):
            raise InputError(f"{name} changed while it was packed; pack again")


# -- reading


#: Names and contents of the members of a pack beside its manifest, each once.
Members = Iterator[tuple[str, IO[bytes]]]
PackSource = tuple[Manifest, Members]


@contextmanager
def reading_pack(path: Path) -> Generator[PackSource]:
    """Read a pack, an archive of either form or what was unpacked of one; nothing is trusted.

    Raises:
        InputError: If it is none, or damaged; also while its members are read.
    """
    try:
        if path.is_dir():
            manifest = _folder_manifest(path)
            # What stays half read keeps its file open, unless it is closed.
            with closing(_folder_members(path, manifest)) as members:
                yield manifest, members
        else:
            with opened(path) as stream:
                read = _reading_zip if zipfile.is_zipfile(stream) else _reading_tar
                yield from read(stream, os.fstat(stream.fileno()).st_size)
    except WrongFileError:
        raise
    except InputError as error:
        raise InputError(f"{shown(path)}: {error}") from error
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # of the disk, not of what was read
            raise
        told = quote(str(error) or type(error).__name__)
        raise InputError(f"{shown(path)} is no pack, or damaged: {told}") from error


def _reading_zip(stream: IO[bytes], size: int) -> Iterator[PackSource]:
    with zipfile.ZipFile(stream) as archive, closing(_zip_members(archive)) as members:
        if MANIFEST not in archive.namelist():
            raise InputError(_NONE)
        with archive.open(MANIFEST) as listed:
            manifest = read_packed_manifest(listed, size)
        yield manifest, members


def _zip_members(archive: zipfile.ZipFile) -> Generator[tuple[str, IO[bytes]]]:
    for info in archive.infolist():
        if info.filename != MANIFEST and not info.is_dir():
            with archive.open(info) as stream:
                yield info.filename, stream


class _Limited:
    """A stream that is refused beyond a number of bytes: a few may be made to claim terabytes."""

    def __init__(self, stream: zstandard.ZstdFile, left: int) -> None:
        self._stream = stream
        self.left = left

    def read(self, size: int) -> bytes:
        """Read the next bytes."""
        piece = self._stream.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise InputError("it holds more than its manifest says")
        return piece


def _reading_tar(packed: IO[bytes], size: int) -> Iterator[PackSource]:
    packed.seek(0)
    limited = _Limited(zstandard.ZstdFile(packed), LARGEST + _AROUND)
    with tarfile.open(fileobj=cast("IO[bytes]", limited), mode="r|") as archive:
        first = archive.next()
        stream = archive.extractfile(first) if first and first.name == MANIFEST else None
        if stream is None:
            raise InputError(f"it does not begin with {MANIFEST}")
        manifest = read_packed_manifest(stream, size)
        limited.left = manifest.total_bytes + _AROUND * (len(manifest.files) + 1)
        yield manifest, _tar_members(archive)


def _tar_members(archive: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    while (info := archive.next()) is not None:
        # Anything but a plain file (a link, a device, one with holes) has no place in a pack.
        stream = archive.extractfile(info) if info.isreg() and not info.issparse() else None
        if stream is None:
            raise InputError(f"'{quote(info.name)}' in it is no plain file")
        yield info.name, stream


def _folder_manifest(folder: Path) -> Manifest:
    if not (folder / MANIFEST).is_file():
        raise InputError(_NONE)
    with opened(folder / MANIFEST) as stream:
        return read_manifest(stream.read(LARGEST + 1))


def _folder_members(folder: Path, manifest: Manifest) -> Generator[tuple[str, IO[bytes]]]:
    for name in sorted(manifest.stored.values()):
        if inside(folder, name) != folder.resolve() / name:
            raise InputError(f"'{quote(name)}' in it is a link")
        with opened(folder / name) as stream:
            yield name, stream
