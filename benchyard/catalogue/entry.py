"""An entry of the catalogue: one thing that was found below a root."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.core.model import Json

#: Format of runs that Benchyard made.
RUN = "run"
#: Format of runs that KROWN made.
KROWN_RUN = "krown-run"
#: Formats whose entries are the runs of a case.
RUNS = (RUN, KROWN_RUN)
#: Format of a folder that cannot be listed.
FOLDER = "folder"


def identified(path: Path, kind: str = "") -> str:
    """Return the id of what lies at an absolute path.

    Args:
        kind: Tells several things at one place apart.
    """
    return digest(os.fsencode(path) + b"\0" * bool(kind) + kind.encode())


def digest(content: bytes) -> str:
    """Return 16 hexadecimal digits of what is told apart by its content."""
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A step of one run.

    Args:
        index: Its position in the case, from 1.
        step: Its id.
        measure: Whether it counts in statistics.
        median_s: Of its measured repetitions (s); None if it did not complete.
        attempts: How often its command was tried.
        suspect: Whether something disturbed it.
    """

    index: int
    step: str
    name: str
    measure: bool
    outcome: str
    median_s: float | None
    attempts: int
    suspect: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One run, file or folder of results.

    What is not known is None or empty.

    Args:
        id: 16 hexadecimal digits. A run that has a record keeps it wherever it is moved; a copy of
            such a run, and all else, keeps it as long as it stays where it is.
        format: Name of its format, such as ``run``.
        root: The folder that was searched.
        path: Where it lies below the root, with ``/``; ``.`` is the root itself.
        created_s: Seconds since the epoch.
        updated_s: Seconds since the epoch.
        title: What people call it: of a run, its case's title with the point of the matrix.
        broken: Why it cannot be read; empty is right.
        under_way: Whether it is still being written.
        case: Name of its case, without the point.
        point: Of the matrix.
        run: Its number.
        outcome: As in its record.
        started_s: Seconds since the epoch.
        duration_s: Seconds.
        host: Name of the testbed.
        host_quality: How far it spoke against the numbers: ``quiet``, ``noisy`` or ``suspect``.
        commit: Of the case's repository.
        versions: Resource to version.
        tags: Of its case.
        counts: What it contains, such as ``steps``, ``attempts``, ``suspect``.
        parameters: Matrix point and parameters of steps (``STEP.NAME``), for filters.
        steps: As its format describes them; lists leave them out (``Catalogue.steps_of``).
        identity: Of a run that is described: 16 hexadecimal digits of its record, which become its
            id unless another place has the same record.
        results: Id of its case (``CaseEntry.id``) as the index knows it; empty of what is no run.
    """

    id: str
    format: str
    root: Path
    path: str
    created_s: float
    updated_s: float
    title: str = ""
    broken: str = ""
    under_way: bool = False
    case: str = ""
    point: Mapping[str, Json] = field(default_factory=dict[str, Json])
    run: int | None = None
    outcome: str | None = None
    started_s: float | None = None
    duration_s: float | None = None
    host: str = ""
    host_quality: str = ""
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    tags: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    steps: tuple[StepEntry, ...] = ()
    identity: str = ""
    results: str = ""

    @property
    def place(self) -> Path:
        """The file or folder itself."""
        return self.root / self.path


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case, or a point of its matrix, with runs in one results folder.

    Args:
        id: 16 hexadecimal digits, of the campaign's first run that has a record: it stays the same
            wherever the campaign is moved.
        path: Of its results folder below the root.
        runs: Number of its runs, finished or not.
        failed: How many of them did not complete.
        newest_s: When the newest began, in seconds since the epoch.
        hosts: Names of the testbeds, sorted.
    """

    id: str
    root: Path
    path: str
    title: str
    case: str
    point: Mapping[str, Json]
    tags: tuple[str, ...]
    runs: int
    failed: int
    newest_s: float | None
    hosts: tuple[str, ...]

    @property
    def results(self) -> Path:
        """The folder with the runs."""
        return self.root / self.path


@dataclass(frozen=True, slots=True)
class StepOfRun:
    """A step of one run of a case, with what tells the run.

    Args:
        entry: Id of the run.
        run: Its number.
        versions: Resource to version.
    """

    entry: str
    run: int | None
    started_s: float | None
    host: str
    commit: str
    versions: Mapping[str, str]
    step: StepEntry
