"""Files of the lab's processes: temporary folders, and what programs say, without secrets.

Temporary folders do not outlive their process for long: the next one removes them.

A program writes what it says into a file itself, unless this process knows secrets: then it writes
into a pipe, and a thread of ours takes them out on the way to the disk. So nothing has to be
cleaned up that a kill -9 could prevent, and no memory depends on how much is said. A pipe holds
1 MiB where the kernel lets us, so that a program seldom waits for the thread.
"""

import contextlib
import fcntl
import os
import select
import tempfile
import threading
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from benchyard.core.errors import CommandFailedError
from benchyard.core.files import remove_tree
from benchyard.core.redaction import Stream, known_forms
from benchyard.process.labels import owner_is_alive, this_owner

_START = ".benchyard-temporary_"


@contextmanager
def temporary_folder(beside: Path | None = None) -> Generator[Path]:
    """Make a folder that is removed after the block, unless it was renamed.

    Its name tells the owner, as labels of processes do. Folders of killed processes are removed
    first, here and in the system's folder for temporary files.

    Args:
        beside: The folder that it is made in; the system's for temporary files if left out.

    Raises:
        OSError: If it cannot be made.
    """
    system = Path(tempfile.gettempdir())
    for folder in (*_abandoned(system), *_abandoned(beside or system)):
        with suppress(OSError):
            remove_tree(folder)
    owner = this_owner().replace(":", "_")
    folder = Path(tempfile.mkdtemp(prefix=f"{_START}{owner}_", dir=beside or system))
    try:
        yield folder
    finally:
        remove_tree(folder)


def _abandoned(place: Path) -> Iterator[Path]:
    """Yield this user's temporary folders whose process has ended."""
    for folder in place.glob(f"{_START}*"):
        owner = ":".join(folder.name.removeprefix(_START).split("_")[:3])
        with suppress(OSError):
            if folder.lstat().st_uid == os.geteuid() and not owner_is_alive(owner):
                yield folder


_PIPE = 1 << 20
_PIECE = 1 << 16


@contextmanager
def kept_output(path: Path) -> Generator["IO[bytes] | int"]:
    """Open a new file for what a child says; give what the child gets as its stream.

    At the end everything that was said until then is in the file. What a daemon of the child says
    later follows.

    Raises:
        CommandFailedError: If the disk does not take it.
    """
    forms = known_forms()
    if not forms:
        with path.open("wb") as file:
            yield file
        return
    kept = _CensoredPipe(path, forms)
    try:
        yield kept.given
    finally:
        kept.settle()


class _CensoredPipe:
    """A pipe, and the thread that empties it into a file."""

    def __init__(self, path: Path, forms: Collection[str]) -> None:
        self._path = path
        self._stream = Stream(forms)
        self._file = path.open("wb", buffering=0)
        self._heard, self.given = os.pipe()
        os.set_blocking(self._heard, False)
        with contextlib.suppress(OSError):  # more than this user may have
            fcntl.fcntl(self.given, fcntl.F_SETPIPE_SZ, _PIPE)
        self._lock = threading.Lock()
        self._problem: OSError | None = None
        self._ended = False
        # A daemon that goes on writing must not keep the lab from ending.
        self._thread = threading.Thread(target=self._follow, name="kept output", daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Bring to the disk what was said so far; what is held back for its like is no secret."""
        os.close(self.given)
        with self._lock:
            ended = self._ended or self._drain(_PIPE)
            self._write(self._stream.finish())
        if ended:
            self._thread.join()
        if self._problem is not None:
            raise CommandFailedError(f"{self._path}: {self._problem.strerror}")

    def _follow(self) -> None:
        poll = select.poll()
        poll.register(self._heard, select.POLLIN)
        while not self._ended:
            poll.poll()
            with self._lock:
                if self._drain(_PIECE):
                    self._write(self._stream.finish())
                    os.close(self._heard)
                    self._file.close()
                    self._ended = True

    def _drain(self, most: int) -> bool:
        """Take about ``most`` bytes of what is there; tell whether nobody can write any more."""
        while most > 0:
            try:
                piece = os.read(self._heard, _PIECE)
            except BlockingIOError:
                return False
            if not piece:
                return True
            self._write(self._stream.feed(piece))
            most -= len(piece)
        return False

    def _write(self, piece: bytes) -> None:
        rest = memoryview(piece)
        try:
            # After a failure the pipe is emptied all the same: its writer must not hang.
            while rest and self._problem is None:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._problem = error
