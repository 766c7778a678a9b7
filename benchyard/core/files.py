"""Files that survive a power cut: written beside, synced, renamed."""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchyard.core.errors import InputError, WrongFileError
from benchyard.core.model import Json


@contextmanager
def writing_atomically(path: Path) -> Generator[IO[bytes]]:
    """Replace ``path`` by what the block writes, once it ends well; for content without a bound.

    Raises:
        OSError: If the disk is full or not writable; the old file is then as it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        error.filename = str(path)  # a write that fails does not say where, or names the other file
        raise
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by ``content``: a reader sees the old file or the new one, whole.

    Names of files may be no Unicode: such bytes become escapes.

    Raises:
        OSError: If the disk is full or not writable; the old file is then as it was.
    """
    with writing_atomically(path) as stream:
        stream.write(
            content.encode(errors="backslashreplace") if isinstance(content, str) else content
        )


def write_json(path: Path, value: Json) -> None:
    """Write ``value`` atomically as indented JSON; NaN and infinity are refused.

    Names of files may be no Unicode: such bytes become escapes that JSON reads back.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode(errors="backslashreplace"))


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk."""
    sync_file(folder)


def sync_file(path: Path) -> None:
    """Sync a file's content, or a folder's entries, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below ``folder`` in sorted order; links are not followed."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_tree(folder: Path) -> None:
    """Remove a folder, or what else is there; a link to a folder is removed, not followed."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)


def refuse_taken(folder: Path) -> None:
    """Refuse a folder to be made, unless nothing is there, or an empty folder.

    Raises:
        InputError: If something is there.
    """
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{shown(folder)}: something is there already; name a new folder")


#: Bytes of the largest document that is read whole: its values take thirty times as many.
LARGEST = 64 * 1024**2
_ADDRESS = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")
#: What is no file and looks like one: to open or read it blocks, or never ends.
_SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def special(path: Path) -> str | None:
    """Return what kind of special file a path leads to; None for files and folders.

    Raises:
        OSError: If nothing is there.
    """
    return _SPECIAL.get(stat.S_IFMT(path.stat().st_mode))


def opened(path: Path) -> IO[bytes]:
    """Open a regular file for reading; pipes, devices and sockets are refused at once.

    Raises:
        WrongFileError: If it is no file.
        OSError: If it cannot be read.
    """
    stream = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 - the caller closes it
    what = _SPECIAL.get(stat.S_IFMT(os.fstat(stream.fileno()).st_mode))
    if what is not None:
        stream.close()
        raise WrongFileError(errno.EINVAL, f"is {what}, not a file", str(path))
    return stream


def content(path: Path, most: int = LARGEST) -> bytes:
    """Read a file as ``opened`` opens it.

    Args:
        most: Bytes that it may have; a larger one is not read.

    Raises:
        WrongFileError: If it is no file, or larger.
        OSError: If it cannot be read.
    """
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        text = b"" if size > most else stream.read(most + 1)
    if max(size, len(text)) > most:
        raise WrongFileError(errno.EFBIG, f"has more than {most:,} bytes", str(path))
    return text


def _open_at_once(path: str, flags: int) -> int:
    """Open a named pipe without waiting for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def inside(folder: Path, name: str) -> Path | None:
    """Return where ``name`` lies, symlinks resolved, or None if that is outside ``folder``."""
    base = folder.resolve()
    # Not Path.resolve(), which raises RuntimeError for a link that leads to itself.
    target = Path(os.path.realpath(base / name))
    return target if target.is_relative_to(base) else None


def is_address(text: str) -> bool:
    """Tell whether a text is an address such as ``s3://lab``: as a path, the folder ``s3:``."""
    return _ADDRESS.match(text) is not None


def shown(path: Path) -> str:
    """Return a path relative to the current folder if it lies below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
