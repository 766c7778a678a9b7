"""The output of containers and their programs: connections, and two streams into two files."""

import socket
import struct
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from benchyard.core.errors import CommandFailedError
from benchyard.core.redaction import Stream, known_forms
from benchyard.process.children import tail
from resources._containers.engine import telling
from resources._files import remove_if_empty

#: Pieces of output as the engine hands them over: stdout or None, stderr or None.
Pieces = Iterable[tuple[bytes | None, bytes | None]]


class Follower:
    """Writes what comes to files.

    Args:
        stdout: Where standard output goes; appended to.
        stderr: The same for standard error.
    """

    def __init__(self, stdout: Path, stderr: Path) -> None:
        self.stdout = stdout
        self.stderr = stderr
        forms = known_forms()
        self._redactors = [Stream(forms), Stream(forms)] if forms else []
        #: Why the files are not whole, if so.
        self.problem: str | None = None

    def follow(self, pieces: Pieces) -> None:
        """Take all that comes until the stream ends.

        Files that cannot be written to are no error here: ``refuse_lost`` tells.

        Raises:
            OSError: If the stream breaks.
        """
        with ExitStack() as stack:
            files = self._opened(stack)
            try:
                for pair in pieces:
                    for number, (file, piece) in enumerate(zip(files, pair, strict=False)):
                        self._take(number, file, piece or b"")
            except OSError as error:
                self.problem = self.problem or f"the engine broke off ({error})"
                raise
            for file, redactor in zip(files, self._redactors, strict=False):
                self._write(file, redactor.finish())

    def refuse_lost(self) -> None:
        """Raise if not all output was kept.

        Raises:
            CommandFailedError: If it was not.
        """
        if self.problem is not None:
            raise CommandFailedError(f"what the program said could not be kept: {self.problem}")

    @property
    def output(self) -> Path | None:
        """The file with what came over standard output, if it is still there."""
        return self.stdout if self.stdout.exists() else None

    def remove_empty_files(self, kept: Path) -> None:
        """Remove the files in ``kept`` of streams that nothing came over."""
        remove_if_empty((self.stdout, self.stderr), kept)

    def said(self) -> str:
        """Return the end of what came, for an error."""
        return tail(self.stderr) or tail(self.stdout) or "nothing"

    def _opened(self, stack: ExitStack) -> list[IO[bytes]]:
        try:
            paths = (self.stdout, self.stderr)
            return [stack.enter_context(path.open("ab", buffering=0)) for path in paths]
        except OSError as error:
            self.problem = f"{error.filename}: {error.strerror}"
            return []

    def _take(self, number: int, file: IO[bytes], piece: bytes) -> None:
        self._write(file, self._redactors[number].feed(piece) if self._redactors else piece)

    def _write(self, file: IO[bytes], piece: bytes) -> None:
        rest = memoryview(piece)
        try:
            while rest and self.problem is None:
                # A raw file takes what fits, and says how much that was.
                rest = rest[file.write(rest) :]
        except OSError as error:
            # The stream is read on: a program must not wait until its output is taken.
            self.problem = f"{file.name}: {error.strerror}"


_HEADER = struct.Struct(">BxxxL")
_STDERR = 2
_MOST = 65_536


class Streams:
    """A connection to a program's streams, as the engine hands it over.

    ``docker`` reads it past the buffer that the HTTP headers came through: what came together with
    them would be lost. Source of the frames: Docker Engine API 1.41, ``ContainerAttach``.

    Args:
        opened: What the library calls the socket of an answer.
    """

    def __init__(self, opened: Any) -> None:
        self._response = opened._response  # noqa: SLF001 - the only way to it
        self._buffer = self._response.raw._fp.fp  # noqa: SLF001
        self._socket: Any = getattr(opened, "_sock", opened)
        # A program may be silent for as long as it likes.
        self._socket.settimeout(None)

    def pieces(self) -> Generator[tuple[bytes | None, bytes | None]]:
        """Yield what it says, stdout or stderr, until both are closed.

        Raises:
            OSError: If the engine broke off.
        """
        while header := self._buffer.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise ConnectionResetError("in the middle of what the program said")
            stream, left = _HEADER.unpack(header)
            while left:
                piece = self._buffer.read1(min(left, _MOST))
                if not piece:
                    raise ConnectionResetError("in the middle of what the program said")
                left -= len(piece)
                yield (None, piece) if stream == _STDERR else (piece, None)

    def send(self, content: bytes) -> None:
        """Write to its standard input.

        Raises:
            OSError: If it or the engine went away.
        """
        self._socket.sendall(content)

    def hang_up(self) -> None:
        """End all waiting for its output; called from another thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it."""
        self._response.close()
        self._buffer.close()
        self._socket.close()


#: Seconds between two looks at a program whose streams have ended.
PAUSE = 0.002


class Program(Streams):
    """A program that was started in a running container.

    Args:
        opened: What the library calls the socket of its streams.
    """

    def __init__(self, api: Any, identity: str, opened: Any) -> None:
        super().__init__(opened)
        self._api = api
        self._id = identity
        #: Its process id, as the engine counts; None as long as it is not known to have begun.
        self.pid: int | None = None

    def exit_code(self, still: Callable[[], bool] = lambda: True) -> int:
        """Wait for its end, which may come after its streams'; return how it ended.

        Args:
            still: Whether waiting makes sense.

        Raises:
            CommandFailedError: If it did not end and waiting makes no sense any more.
            EngineError: If the engine went away.
        """
        while True:
            with telling("nobody can tell how the program in the container ended"):
                told = self._api.exec_inspect(self._id)
            code, self.pid = told.get("ExitCode"), told.get("Pid") or None
            if not told.get("Running") and code is not None:
                return code
            if not still():
                raise CommandFailedError("the program was killed with its container")
            time.sleep(PAUSE)
