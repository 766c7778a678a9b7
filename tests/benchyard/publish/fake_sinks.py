"""Stand-ins for sinks: they write down what they are asked, and misbehave as they are told to."""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from benchyard.core.errors import DocumentRejectedError, SinkUnavailableError
from benchyard.publish.sinks.contract import DocumentKind, Spooled

Act = Callable[[Spooled], object]


def nothing(_: Spooled) -> None:
    """Do nothing."""


@dataclass
class FolderSink:
    """Keeps one file for each content, and a journal of all calls, in a folder.

    Args:
        before: Called before anything is kept; may raise.
        after: Called when all is kept, before it is confirmed; may raise.
    """

    folder: Path
    before: Act = nothing
    after: Act = nothing
    parallel: int = 1
    kind: DocumentKind = DocumentKind.RESULTS
    name: str = "fake"
    checked: int = 0
    closed: int = 0

    def check(self) -> None:
        self.checked += 1

    def store(self, spooled: Spooled) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._note(f"begin {spooled.name}")
        self.before(spooled)
        if b"reject me" in spooled.content:
            raise DocumentRejectedError("it says so itself")
        digest = hashlib.sha256(spooled.content).hexdigest()[:16]
        self._append(self.folder / "kept", f"{spooled.name} {digest} {spooled.archived_as}\n")
        self.after(spooled)
        self._note(f"end {spooled.name}")

    def close(self) -> None:
        self.closed += 1

    def _note(self, text: str) -> None:
        line = f"{time.monotonic_ns()} {os.getpid()} {threading.get_ident()} {text}\n"
        self._append(self.folder / "journal", line)

    def _append(self, path: Path, line: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line.encode(errors="surrogateescape"))
        os.close(descriptor)

    @property
    def stored(self) -> list[str]:
        """Names of what was kept, in order, every time."""
        path = self.folder / "kept"
        return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def pointers(self) -> list[str]:
        """Where each was said to be archived."""
        return [line.split()[2] for line in (self.folder / "kept").read_text().splitlines()]


@dataclass
class NotingSink(FolderSink):
    """Is told of archiving."""

    noted: list[str] = field(default_factory=list[str])
    deaf: bool = False

    def note_archived(self, spooled: Spooled, began: datetime, ended: datetime) -> None:
        assert began <= ended
        assert began.tzinfo is not None
        if self.deaf:
            raise SinkUnavailableError("the table is away")
        self.noted.append(spooled.name)


class Failing:
    """Raises the first so many times.

    Args:
        times: How often; None is always.
    """

    def __init__(self, error: Exception, times: int | None = None) -> None:
        self.error = error
        self.times = times
        self.calls = 0

    def __call__(self, _: Spooled) -> None:
        self.calls += 1
        if self.times is None or self.calls <= self.times:
            raise self.error
