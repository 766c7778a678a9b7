"""Searches output for a pattern while it comes; no pattern can block the measuring process.

A regular expression may take for ever and blocks every thread of its process meanwhile, so a
process of its own searches. This module is its program, too.
"""

import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from benchyard.core.errors import NotReadyError
from benchyard.process.children import pipe, spawn
from benchyard.run.judging import USUAL, SearchLimits, program

#: So much of a line without an end (bytes) is remembered for patterns that come in parts.
_REMEMBERED = 65_536
#: Of a piece: number of its stream, and bytes.
_HEAD = struct.Struct("<BI")


class Search:
    """Looks for a pattern until it is found, or the output ends.

    One thread may hand output over while another waits.

    Args:
        pattern: A regular expression.
        limits: Of looking at one piece.

    Raises:
        CommandFailedError: If the process cannot be started.
    """

    def __init__(self, pattern: str, limits: SearchLimits = USUAL) -> None:
        self._pattern, self._limits = pattern, limits
        self._found = False
        self._problem: str | None = None
        self._over = threading.Event()
        self._child = spawn(
            program(__name__, str(limits.search_seconds)),
            folder=Path("/"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        threading.Thread(target=self._attend, name="search", daemon=True).start()
        self.feed(0, os.fsencode(pattern))

    def _attend(self) -> None:
        try:
            with pipe(self._child.stdout) as said:
                self._found = said.read() == b"+"
            ended = self._child.wait()
            if ended.exit_status == -signal.SIGPROF:
                self._problem = (
                    f"the pattern takes more than {self._limits.search_seconds:.2g} s; let its "
                    f"repetitions not overlap: '{self._pattern}'"
                )
            elif ended.exit_status:
                how = ended.describe()
                self._problem = f"the process that looks for '{self._pattern}' failed: {how}"
        finally:
            self.finish()
            self._over.set()

    def feed(self, number: int, piece: bytes) -> bool:
        """Hand over what a stream said; return whether more is wanted."""
        stream = pipe(self._child.stdin)
        try:
            stream.write(_HEAD.pack(number, len(piece)) + piece)
            stream.flush()
        except (OSError, ValueError):  # it has ended, or was given up
            return False
        return True

    def finish(self) -> None:
        """Tell that no more will come."""
        with suppress(OSError, ValueError):
            pipe(self._child.stdin).close()

    def give_up(self) -> None:
        """Look no further."""
        if not self._over.is_set():
            self._child.kill()

    def wait(self, deadline: float) -> bool:
        """Wait for the pattern; False if the output ended without it or the time is over.

        Args:
            deadline: On the monotonic clock, in seconds.

        Raises:
            NotReadyError: If looking for it takes too long, or fails.
        """
        if not self._over.wait(max(0.0, deadline - time.monotonic())):
            self.give_up()
            return False
        if self._problem is not None:
            raise NotReadyError(self._problem)
        return self._found


# -- the process


class Looking:
    """Looks at pieces of streams, one after the other."""

    def __init__(self, pattern: bytes) -> None:
        self._wanted = re.compile(pattern, re.MULTILINE)
        self._seen: dict[int, bytes] = {}

    def finds(self, number: int, piece: bytes) -> bool:
        """Tell whether the pattern is in the last line of a stream with this piece."""
        seen = self._seen.get(number, b"") + piece
        # Lines that are whole need not be looked at again.
        self._seen[number] = seen[-_REMEMBERED:].rpartition(b"\n")[2]
        return self._wanted.search(seen) is not None


def main() -> None:
    """Look at what comes on stdin, after the pattern, and print a plus where it is found."""
    pieces = _pieces(sys.stdin.buffer)
    _, pattern = next(pieces)
    looking = Looking(pattern)
    for number, piece in pieces:
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
        found = looking.finds(number, piece)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if found:
            sys.stdout.write("+")
            return


def _pieces(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        number, size = _HEAD.unpack(head)
        yield number, stream.read(size)
