"""Files that users name for output: regular files are replaced, all others are written into."""

import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path, PosixPath
from tempfile import TemporaryFile
from typing import IO

from benchyard.core.files import writing_atomically
from benchyard.core.wording import printable

_STDOUT = "-"
_MOST_LINKS = 40


class Output(PosixPath):
    """A file to write, opened before anything is measured; ``-`` is stdout.

    What is no regular file (a device, a named pipe, a descriptor such as ``/dev/stdout`` or that
    of a process substitution, a symbolic link) stays open until it is written. A failure to write
    is kept as ``error``, so that the other outputs of a command are written all the same.
    """

    error: OSError | None = None
    size: int | None = None
    _endings: tuple[str, ...] = ()
    _stream: IO[bytes] | None = None

    @classmethod
    def opened(cls, path: Path, endings: tuple[str, ...] = ()) -> "Output":
        """Open a file that is written into, or show that one can be made.

        Args:
            path: The file.
            endings: The formats to choose from; a name without an ending has the first.

        Raises:
            OSError: If it cannot be written, or is a named pipe that no program reads.
        """
        to_stdout = str(path) == _STDOUT or _own_descriptor(path) == 1
        output = cls(_STDOUT if to_stdout else path)
        output._endings = endings
        if to_stdout:
            output._stream = sys.stdout.buffer
        else:
            descriptor = _open(path)
            output._stream = None if descriptor is None else os.fdopen(descriptor, "wb")
        return output

    @property
    def is_stdout(self) -> bool:
        """Whether it is stdout."""
        return str(self) == _STDOUT

    @property
    def suffix(self) -> str:
        """The ending that decides the format."""
        own = super().suffix
        nameless = self._stream is not None and self._endings and own.lower() not in self._endings
        return self._endings[0] if nameless else own

    def close(self) -> None:
        """Close what is open: readers of a pipe see its end."""
        if self._stream is not None and not self.is_stdout:
            with suppress(OSError):  # told when it was written
                self._stream.close()

    @property
    def _begins_anew(self) -> bool:
        """Whether it is a regular file, if only by a link; all else is written on."""
        return not self.is_stdout and self.is_file() and _own_descriptor(self) is None

    def reopened(self) -> IO[bytes]:
        """Open it for one of several programs that write to it, one after the other."""
        if self._stream is None or self._begins_anew:
            return self.open("wb")
        return os.fdopen(os.dup(self._stream.fileno()), "wb")

    @contextmanager
    def writing(self) -> Generator[IO[bytes]]:
        """Write what the block writes, at the block's end; see ``writing``."""
        with TemporaryFile() as content:
            yield content
            self.size = content.seek(0, os.SEEK_END)
            content.seek(0)
            try:
                self._write(content)
            except OSError as error:
                error.filename = str(self)
                self.error = error

    def _write(self, content: IO[bytes]) -> None:
        if self._stream is None:
            with writing_atomically(self) as file:
                shutil.copyfileobj(content, file)
            return
        sys.stdout.flush()
        if self._stream.isatty():
            text = content.read().decode(errors="backslashreplace")
            self._stream.write(printable(text, but="\n\t").encode())
        else:
            if self._begins_anew:
                self._stream.truncate()
            shutil.copyfileobj(content, self._stream)
        self._stream.flush()


@contextmanager
def writing(path: Path) -> Generator[IO[bytes]]:
    """Write a file that a user names, once the block ends well.

    Raises:
        OSError: If a plain path cannot be written; an ``Output`` keeps the error.
    """
    with path.writing() if isinstance(path, Output) else writing_atomically(path) as stream:
        yield stream


def write(path: Path, content: str | bytes) -> None:
    """Write ``content`` as ``writing`` does; bytes of names that are no Unicode become escapes."""
    with writing(path) as stream:
        stream.write(
            content.encode(errors="backslashreplace") if isinstance(content, str) else content
        )


def failed(path: Path) -> bool:
    """Whether an output could not be written; the command's end says why."""
    return isinstance(path, Output) and path.error is not None


def size_of(path: Path) -> int:
    """Return how many bytes were written to an output."""
    size = path.size if isinstance(path, Output) else None
    return path.stat().st_size if size is None else size


def _open(path: Path) -> int | None:
    """Return a descriptor of what is written into; None for what is replaced or made."""
    own = _own_descriptor(path)
    if own is not None:
        if fcntl.fcntl(own, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "it is open for reading only", str(path))
        return os.dup(own)
    if _is_replaceable(path):
        return None
    create = 0 if path.exists() else os.O_CREAT
    try:
        found = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | create, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO and path.is_fifo():
            error.strerror = "a named pipe that no program reads"
        raise
    os.set_blocking(found, True)
    return found


def _is_replaceable(path: Path) -> bool:
    """Whether it is a regular file, or none, in a folder that takes another file.

    Raises:
        OSError: If there is no file, and none can be made.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return False
    try:
        TemporaryFile(dir=path.absolute().parent).close()
    except OSError:
        if not path.exists():
            raise
        return False
    return True


def _own_descriptor(path: Path) -> int | None:
    """Return N for ``/dev/fd/N``, ``/dev/stdout`` and links to these."""
    ours = os.path.realpath("/proc/self/fd")
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if str(path.parent) == ours:
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None
