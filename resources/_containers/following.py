"""What a container says: its two streams into two files, and waited for while they come."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from benchyard.core.errors import CommandFailedError
from benchyard.core.redaction import Stream, known_forms
from benchyard.process.children import tail
from benchyard.run.judging import USUAL, Limits
from benchyard.run.searching import Search

#: Pieces of output as the engine hands them over: stdout or None, stderr or None.
Pieces = Iterable[tuple[bytes | None, bytes | None]]


class Follower:
    """Writes what comes to files, and lets others wait for what it says; thread-safe.

    Args:
        stdout: Where standard output goes; appended to.
        stderr: The same for standard error; the same file to have both in one.
    """

    def __init__(self, stdout: Path, stderr: Path) -> None:
        self.stdout = stdout
        self.stderr = stderr
        forms = known_forms()
        self._redactors = [Stream(forms), Stream(forms)] if forms else []
        self._search: Search | None = None
        self._looking = False
        #: Why the files are not whole, if so.
        self.problem: str | None = None

    def follow(self, pieces: Pieces) -> None:
        """Take all that comes until the stream ends.

        Files that cannot be written to are no error here: ``refuse_lost`` tells.

        Raises:
            OSError: If the stream breaks.
        """
        try:
            with ExitStack() as files:
                out = self._opened(files, self.stdout)
                err = out if self.stdout == self.stderr else self._opened(files, self.stderr)
                for said, complained in pieces:
                    for number, (file, piece) in enumerate(((out, said), (err, complained))):
                        if piece:
                            self._take(number, file, piece)
                for redactor, file in zip(self._redactors, (out, err), strict=False):
                    if file is not None and self.problem is None:
                        _write(file, redactor.finish())
        except OSError as error:
            self.problem = self.problem or f"the engine broke off ({error})"
            raise
        finally:
            self._looking = False
            if self._search is not None:
                self._search.finish()

    def refuse_lost(self) -> None:
        """See that all that came was kept.

        Raises:
            CommandFailedError: If it was not.
        """
        if self.problem is not None:
            raise CommandFailedError(f"what the program said could not be kept: {self.problem}")

    def _opened(self, files: ExitStack, path: Path) -> IO[bytes] | None:
        try:
            return files.enter_context(path.open("ab", buffering=0))
        except OSError as error:
            self._lose(path, error)
            return None

    def _take(self, number: int, file: IO[bytes] | None, piece: bytes) -> None:
        if file is not None and self.problem is None:
            try:
                _write(file, self._redactors[number].feed(piece) if self._redactors else piece)
            except OSError as error:
                # The stream is read on: nobody must wait for us to take what he says.
                self._lose(Path(file.name), error)
        if self._looking and self._search is not None:
            self._looking = self._search.feed(number, piece)

    def _lose(self, path: Path, error: OSError) -> None:
        self.problem = f"{path}: {error.strerror}"

    def expect(self, pattern: str, limits: Limits = USUAL) -> None:
        """Look for a pattern from now on; call it before the stream begins.

        Raises:
            CommandFailedError: If nothing can be started that looks for it.
        """
        self.forget()
        self._search, self._looking = Search(pattern, limits), True

    def forget(self) -> None:
        """Look for no pattern any more."""
        if self._search is not None:
            self._search.give_up()

    def wait(self, deadline: float) -> bool:
        """Wait for the pattern; False if the stream ended without it or the time is over.

        Args:
            deadline: On the monotonic clock, in seconds.

        Raises:
            NotReadyError: If looking for it takes too long, or fails.
        """
        return self._search is not None and self._search.wait(deadline)

    def said(self) -> str:
        """Return the end of what came, for an error."""
        return tail(self.stderr) or tail(self.stdout) or "nothing"


def _write(file: IO[bytes], piece: bytes) -> None:
    """Write all of it: a raw file takes what fits, and says how much that was."""
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]
