"""Housekeeping of a host: its spools, the room on its disks, and old runs that may be removed.

Only ``remove`` changes anything: it removes the runs that a report has named.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchyard.core import places
from benchyard.core.errors import InputError, TestbedBusyError
from benchyard.core.files import files_below
from benchyard.core.model import JsonObject
from benchyard.host.testbed import hold_results
from benchyard.publish.spool import REASON, REJECTED, listing
from benchyard.results.campaigns import is_earlier, refuse_unremovable, with_earlier
from benchyard.results.folders import Results, RunFolder
from benchyard.results.ownership import foreign_in, is_own_run, remove_run

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Policy:
    """Which old results may go.

    A run may go only if it is neither among the newest nor young.

    Args:
        keep_newest: So many of the newest runs of each case stay.
        younger_than_days: Runs younger than that stay.
    """

    keep_newest: int = 10
    younger_than_days: float = 90.0


@dataclass(frozen=True, slots=True)
class Old:
    """A run that may go.

    Args:
        folder: Of the run.
        days: Its age.
        size_bytes: What its files take on disk.
    """

    folder: Path
    days: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Spool:
    """What waits to be published to one sink.

    Args:
        sink: Name of the folder of the spool.
        waiting: How many documents wait.
        oldest_days: Age of the oldest one; None if none waits.
        rejected: How many can never be published.
    """

    sink: str
    waiting: int
    oldest_days: float | None
    rejected: int


@dataclass(frozen=True, slots=True)
class DiskState:
    """Room on the file system that a folder lies on.

    Args:
        folder: The folder.
        free_bytes: What users other than root may still write.
        free_share: Of the whole, 0 to 1.
    """

    folder: Path
    free_bytes: int
    free_share: float


@dataclass(frozen=True, slots=True)
class HousekeepingReport:
    """What a look at the lab found, and what was done about it.

    Args:
        spools: What waits, of each sink.
        disks: The room on each file system.
        old: The runs that the policy lets go.
        removed: Whether the old runs were removed, not only named.
        leftovers: What dead runs had left and was removed, in words.
        stuck: Flow runs that nobody seems to execute, in words.
        troubles: What could not be looked at or removed, in words.
    """

    spools: tuple[Spool, ...] = ()
    disks: tuple[DiskState, ...] = ()
    old: tuple[Old, ...] = ()
    removed: bool = False
    leftovers: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return it as JSON; sizes in bytes, ages in days."""
        return json.loads(json.dumps(asdict(self), default=str))


def spools(now: float | None = None) -> tuple[Spool, ...]:
    """Look at every spool of this host.

    Args:
        now: Seconds since 1970; this moment if left out.
    """
    at = time.time() if now is None else now
    found = sorted(places.spool_of("any").parent.glob("*"))
    return tuple(_spool(one, at) for one in found if one.is_dir() and not one.is_symlink())


def _spool(folder: Path, now: float) -> Spool:
    waiting = listing(folder).waiting
    oldest = min((one.modified_ns for one in waiting), default=None)
    days = None if oldest is None else max(0.0, now - oldest / 1e9) / _DAY
    found = (one for one in (folder / REJECTED).glob("*") if not one.name.endswith(REASON))
    return Spool(folder.name, len(waiting), days, sum(one.is_file() for one in found))


def disks(folders: Iterable[Path]) -> tuple[DiskState, ...]:
    """Return the room on each file system that the folders lie on; one folder for each."""
    seen: dict[int, DiskState] = {}
    for folder in folders:
        place = next(path for path in (folder, *folder.parents) if path.exists())
        usage = shutil.disk_usage(place)
        seen.setdefault(place.stat().st_dev, DiskState(place, usage.free, usage.free / usage.total))
    return tuple(seen.values())


def old_runs(results: Iterable[Path], policy: Policy, now: float | None = None) -> tuple[Old, ...]:
    """Return the runs that a policy lets go, oldest first.

    Runs without a record, such as KROWN's, stay; so does the newest done run of each case.

    Args:
        results: Folders with the runs of a case each.
        policy: Which runs may go.
        now: Seconds since 1970; this moment if left out.
    """
    at = time.time() if now is None else now
    found = [one for folder in results for one in _old_of_case(folder, policy, at)]
    return tuple(sorted(found, key=lambda one: (-one.days, str(one.folder))))


def _old_of_case(results: Path, policy: Policy, now: float) -> Iterator[Old]:
    places = [Results(place) for place in with_earlier(results)]
    done = {run for place in places for run in place.done().values()}
    failed = {run for place in places for run in place.failed().values()}
    aged = {run: _age_days(run, now) for run in done | failed}
    newest = sorted(aged, key=lambda run: (aged[run], -run.number))
    kept = {*newest[: policy.keep_newest], *[run for run in newest if run in done][:1]}
    for run in newest:
        aged_out = run not in kept and aged[run] > policy.younger_than_days
        ours = run.record.is_file() and is_own_run(run.path) and not foreign_in(run.path)
        if aged_out and ours:
            yield Old(run.path, aged[run], size_of(run.path))


def _age_days(run: RunFolder, now: float) -> float:
    """Return the age of a run, counted from when its record was written, at its end."""
    at = (run.record if run.record.exists() else run.path).stat().st_mtime
    return max(0.0, now - at) / _DAY


def size_of(folder: Path) -> int:
    """Return the bytes that the files below a folder take on disk; links are not followed."""
    # Source: stat(2), st_blocks counts units of 512 bytes.
    return sum(path.stat().st_blocks * 512 for path in files_below(folder))


def remove(old: Sequence[Old]) -> tuple[str, ...]:
    """Remove old runs; the summaries beside them stay.

    Returns:
        A sentence for each case whose runs could not be removed.
    """
    troubles: list[str] = []
    for results, folders in _by_case(old).items():
        try:
            with hold_results(results, "housekeeping", wait=False):
                refuse_unremovable(folders)
                for folder in folders:
                    remove_run(folder)
        except (InputError, TestbedBusyError) as error:
            troubles.append(str(error))
    return tuple(troubles)


def _by_case(old: Sequence[Old]) -> dict[Path, list[Path]]:
    found: dict[Path, list[Path]] = {}
    for folder in (one.folder for one in old):
        place = folder.parent
        found.setdefault(place.parent.parent if is_earlier(place) else place, []).append(folder)
    return found
