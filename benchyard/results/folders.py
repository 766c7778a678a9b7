"""What lies in a results folder: the name of every file, and which runs are there in which state.

``Results`` is the folder with the runs of one case, ``RunFolder`` that of one run. What earlier
campaigns left beside them is named in ``benchyard.results.campaigns``.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.files import opened

# -- in the folder of a run

RUN_FILE = "run.json"
#: Without this file, which is written last of all, a run did not happen.
DONE = ".done"
#: Says of a run's folder that Benchyard made it, and which folders in it are those of resources.
MARK = ".benchyard"
EVENTS_FILE = "events.jsonl"
LOG_FILE = "log.txt"
CASE_INFO = "case-info.txt"
METRICS_FILE = "metrics.csv"
RESOURCES_FILE = "resources.csv"
#: What the sampler writes while the run goes on; gone after it.
RAW_FILE = "samples.raw"
#: In the names of profiles that steps leave among a resource's files, behind the step's label.
PROFILE = "profile"
#: Where the programs of a run work while it goes on.
WORK = ".work"
#: Files that Benchyard writes in the folder of a run.
RUN_FILES = (
    *(MARK, DONE, RUN_FILE, EVENTS_FILE, CASE_INFO, LOG_FILE),
    *(METRICS_FILE, RESOURCES_FILE, RAW_FILE),
)

# -- beside the runs

SUMMARY_FILE = "summary.json"
#: Its member ``format``, which tells it from others of its name.
SUMMARY_FORMAT = "benchyard-summary"
SUMMARY_TABLE = "summary.csv"
STATS_FILE = "stats.csv"
AGGREGATED_FILE = "aggregated.csv"
TRIES_FILE = "tries.jsonl"
#: What people say of changes; theirs, so it is never removed.
ANNOTATIONS_FILE = "annotations.jsonl"
#: Files that Benchyard writes beside the runs of a case.
SUMMARY_FILES = (SUMMARY_FILE, SUMMARY_TABLE, STATS_FILE, AGGREGATED_FILE, TRIES_FILE)
#: Held while anything in the folder is made, moved or removed; see ``testbed.hold_results``.
RESULTS_LOCK = ".benchyard.lock"

#: Ending of a run's folder that is kept until the run that replaces it is finished.
REPLACED = ".replaced"
_RUN = re.compile(r"run_([1-9][0-9]*)")


def run_number(name: str) -> int | None:
    """Return the number of the run whose folder has this name; None if it is no run's."""
    match = _RUN.fullmatch(name)
    return int(match[1]) if match else None


def run_folder(results: Path, run: int) -> Path:
    """Return the folder of one run."""
    return results / f"run_{run}"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run, finished or not."""

    path: Path

    @property
    def number(self) -> int:
        """The run's number, as the folder's name tells it.

        Raises:
            ValueError: If the folder is no run's.
        """
        return int(self.path.name.removeprefix("run_"))

    @property
    def record(self) -> Path:
        """What the run yielded; KROWN's runs have none."""
        return self.path / RUN_FILE

    @property
    def checkpoint(self) -> Path:
        """Says that the run was finished, and when."""
        return self.path / DONE

    @property
    def events(self) -> Path:
        """The record as performance events."""
        return self.path / EVENTS_FILE

    @property
    def log(self) -> Path:
        """What was logged while it went on."""
        return self.path / LOG_FILE

    @property
    def case_info(self) -> Path:
        """The case and its host, for people, in KROWN's layout."""
        return self.path / CASE_INFO

    @property
    def metrics(self) -> Path:
        """The curves of the host, in KROWN's columns."""
        return self.path / METRICS_FILE

    @property
    def resources(self) -> Path:
        """The curves of the resources; there is none if nothing was sampled of them."""
        return self.path / RESOURCES_FILE

    @property
    def raw(self) -> Path:
        """What the sampler writes while the run goes on."""
        return self.path / RAW_FILE

    @property
    def is_marked(self) -> bool:
        """Whether it has its checkpoint, Benchyard's or KROWN's.

        Of a folder that nobody may look into it is assumed: its record cannot be read, which all
        who need it tell, and leave that one out.
        """
        try:
            return self.checkpoint.is_file()
        except PermissionError:
            return True

    @property
    def is_done(self) -> bool:
        """Whether the run was finished, and its record looks whole.

        Without its checkpoint it did not happen. Whether its record is a valid one only
        ``read_record`` tells; here it is neither missing, nor empty, nor cut off.
        """
        return self.is_marked and _looks_whole(self.record)

    @property
    def is_recorded(self) -> bool:
        """Whether it was finished, or recorded although it failed."""
        return self.is_marked or self.record.is_file()

    @property
    def has_failed(self) -> bool:
        """Whether it was recorded and is not done."""
        return not self.is_marked and self.record.is_file()


def _looks_whole(record: Path) -> bool:
    try:
        with opened(record) as stream:
            first = stream.read(1)
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2))
            return first == b"{" and stream.read().rstrip().endswith(b"}")
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Results:
    """A folder with the runs of one case; each look at it sees what is there now.

    Runs come by number, ascending.
    """

    folder: Path

    @property
    def summary(self) -> Path:
        """What the finished runs say together."""
        return self.folder / SUMMARY_FILE

    @property
    def tries(self) -> Path:
        """What was tried, and when."""
        return self.folder / TRIES_FILE

    def run(self, number: int) -> RunFolder:
        """Return the folder of one run, which need not be there."""
        return RunFolder(run_folder(self.folder, number))

    def runs(self, *, linked: bool = False) -> dict[int, RunFolder]:
        """Return all runs, finished or not.

        Args:
            linked: Whether a link to a folder is one: only KROWN's are read from wherever they are.
        """
        try:
            entries = list(os.scandir(self.folder))
        except OSError:
            return {}
        found = {
            number: RunFolder(Path(entry.path))
            for entry in entries
            if (number := run_number(entry.name))
            and (entry.is_dir(follow_symlinks=False) or (linked and Path(entry.path).is_dir()))
        }
        return dict(sorted(found.items()))

    def done(self) -> dict[int, RunFolder]:
        """Return the finished runs whose record looks whole."""
        return {number: run for number, run in self.runs().items() if run.is_done}

    def marked(self) -> dict[int, RunFolder]:
        """Return the runs with a checkpoint, readable or not, KROWN's among them."""
        return {number: run for number, run in self.runs().items() if run.is_marked}

    def recorded(self) -> dict[int, RunFolder]:
        """Return the runs that were finished, or recorded although they failed."""
        return {number: run for number, run in self.runs().items() if run.is_recorded}

    def failed(self) -> dict[int, RunFolder]:
        """Return the runs that were recorded and are not done."""
        return {number: run for number, run in self.runs().items() if run.has_failed}
