"""Campaigns: each a set of runs of one subject.

``results/`` holds the newest one. When another begins, everything that the lab wrote there moves to
``results/earlier/<UTC time>-<digest>/``: the time at which its first run began, and the beginning
of its subject's digest ("krown" for results of KROWN's). A move that was interrupted is finished
before anything else happens to the results.
"""

import os
import platform
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import content, remove_tree, shown, sync_folder, write_json
from benchyard.core.json_text import decoded
from benchyard.core.model import Json
from benchyard.results.folders import RESULTS_LOCK, WORK, Results, run_folder
from benchyard.results.krown import krown_runs
from benchyard.results.layout import campaign_files, left_works, own_runs
from benchyard.results.ownership import passing, remove_run
from benchyard.results.record import RunRecord, read_record
from benchyard.results.subject import Subject, SubjectChange, differences, digest_of, subject_of

EARLIER = "earlier"
#: How a campaign of KROWN's is called, in the place of a digest.
KROWN = "krown"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-([0-9a-f]{12}|krown)(-[0-9]+)?")
_MOVING = ".moving-"
#: In a folder that is being filled: numbers of the runs that stay where they are.
_KEPT = ".kept.json"
_DIGITS = 12
_TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class Campaign:
    """The runs in one folder that were finished, as far as their records can be read.

    Args:
        folder: ``results/``, or a folder in ``results/earlier/``.
        records: Of the finished runs, by number.
        unreadable: Number of a finished run to the reason why it does not count.
        krown: Numbers of the runs that KROWN made; they never count.
        computed: What was computed from the records, and is kept with them.
    """

    folder: Path
    records: Mapping[int, RunRecord] = field(default_factory=dict[int, RunRecord])
    unreadable: Mapping[int, str] = field(default_factory=dict[int, str])
    krown: tuple[int, ...] = ()
    computed: dict[Any, Any] = field(init=False, default_factory=dict[Any, Any], compare=False)

    @property
    def newest(self) -> RunRecord | None:
        """The record of the run that began last; None if there is none."""
        return max(self.records.values(), key=lambda record: record.began, default=None)

    @cached_property
    def subject(self) -> Subject | None:
        """What its newest run measured; None if there is none."""
        return None if self.newest is None else subject_of(self.newest)

    def alike(self) -> list[RunRecord]:
        """Return the records of what its newest run measured."""
        subject = self.subject
        records = self.records.values()
        return [r for r in records if subject and not differences(subject_of(r), subject)]

    def runs_of(self, flow_run: Mapping[str, Json]) -> list[int]:
        """Return the runs that a flow run executed, or the suite that it is a turn of.

        By their records: a retry goes on under the same id, on whichever host.
        """
        asked = _asker(flow_run)
        records = self.records.items()
        return sorted(run for run, r in records if asked and _asker(r.flow_run) == asked)

    def changes(self, now: Subject) -> tuple[SubjectChange, ...]:
        """Tell in what its newest run's subject differs from what would be measured now."""
        return () if self.subject is None else differences(self.subject, now)


def _asker(flow_run: Mapping[str, Json]) -> Json:
    return flow_run.get("suite") or flow_run.get("id")


def read_campaign(folder: Path, read: Callable[[Path], RunRecord] = read_record) -> Campaign:
    """Read the records of the finished runs in a folder.

    Args:
        read: Reads one record; an excerpt of it serves where little is needed.
    """
    records: dict[int, RunRecord] = {}
    unreadable: dict[int, str] = {}
    krown = tuple(number for number, _ in krown_runs(folder))
    moving = _interrupted(folder)
    staying = [run for place in moving for run in _kept(place)]
    for number, run in Results(folder).marked().items():
        # What a killed lab began to move is no more of this campaign, wherever it lies now.
        if number in krown or (moving and number not in staying):
            continue
        try:
            records[number] = read(run.path)
        except RecordError as error:
            unreadable[number] = str(error)
    return Campaign(folder, records, unreadable, krown)


def earlier_campaigns(results: Path) -> list[Path]:
    """Return the folders of the campaigns before the one in ``results``, newest first."""
    found = [place for place in _below(results / EARLIER) if _NAME.fullmatch(place.name)]
    return sorted((place for place in found if place.is_dir()), key=_order, reverse=True)


def campaigns_before(campaign: Path) -> list[Path]:
    """Return the folders of the campaigns before one, which may be earlier itself, newest first."""
    earlier = is_earlier(campaign)
    every = earlier_campaigns(campaign.parent.parent if earlier else campaign)
    return [place for place in every if not earlier or _order(place) < _order(campaign)]


def _order(place: Path) -> tuple[str, int]:
    name, _, number = place.name.partition("-")[2].partition("-")
    return place.name.partition("-")[0] + name, int(number or 1)


def with_earlier(results: Path) -> list[Path]:
    """Return the folders of all campaigns of a case, newest first."""
    return [results, *earlier_campaigns(results)]


def _below(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def publishable_runs(results: Path) -> list[Path]:
    """Return the folders of the finished runs of the newest campaign and of the one before it.

    A lab may die between a run and its publishing, and the next one begin another campaign. Older
    ones are left: looking after every campaign there ever was would take longer from day to day.
    """
    runs = [run.path for run in Results(results).done().values()]
    for place in earlier_campaigns(results)[:1]:
        before = read_campaign(place)
        # Results of another host are whoever's who made them, and he publishes them.
        if before.subject and before.subject.get("host") == platform.node():
            runs += [run_folder(place, run) for run in sorted(before.records)]
    return runs


def is_earlier(folder: Path) -> bool:
    """Tell whether a folder is, by its place, that of an earlier campaign."""
    return folder.parent.name == EARLIER and _NAME.fullmatch(folder.name) is not None


def chosen_campaigns(results: Path, wanted: str | None) -> list[Path]:
    """Return the folders of the campaigns that a user names, newest first.

    Args:
        wanted: The beginning of a name in ``earlier/`` or of a digest, "all", or None for the
            newest campaign.

    Raises:
        InputError: If none is called so.
    """
    earlier = earlier_campaigns(results)
    if wanted in (None, "all"):
        return with_earlier(results) if wanted else [results]
    found = [place for place in earlier if _is_called(place.name, wanted)]
    if not found:
        known = ", ".join(place.name for place in earlier) or "there is none"
        raise InputError(f"{shown(results)} has no earlier campaign '{wanted}'; known: {known}")
    return found


def _is_called(name: str, wanted: str) -> bool:
    digest = name.partition("-")[2]
    return bool(wanted) and (name.startswith(wanted) or digest.startswith(wanted))


def set_aside(results: Path, keep: Collection[int] = ()) -> Path | None:
    """Move the campaign in ``results`` to the earlier ones, and return where it lies now.

    Args:
        keep: Numbers of runs that stay, since they are the new campaign's.

    Returns:
        Its folder; None if there was nothing to move.
    """
    kept = {run_folder(results, run) for run in keep}
    if not any(folder not in kept for folder in own_runs(results)):
        return None
    name = _free_name(results, _name_of(results, keep))
    moving = results / EARLIER / f"{_MOVING}{name}"
    moving.mkdir(parents=True)
    write_json(moving / _KEPT, [*sorted(keep)])
    return _move(results, moving, keep)


def finish_moving(results: Path) -> None:
    """Finish what a lab that was killed began to move; nothing new was begun since."""
    for moving in _interrupted(results):
        _move(results, moving, _kept(moving))


def _interrupted(results: Path) -> list[Path]:
    return sorted((results / EARLIER).glob(f"{_MOVING}*"))


def _kept(moving: Path) -> list[int]:
    """Return the runs that are not to be moved; none if the lab was killed before it said so."""
    try:
        found: Any = decoded(content(moving / _KEPT))
    except (OSError, ValueError):
        return []
    return [run for run in cast("list[Any]", found) if isinstance(run, int)]


def _move(results: Path, moving: Path, keep: Collection[int]) -> Path:
    for work in left_works(results):
        remove_tree(work)
    kept = {run_folder(results, run) for run in keep}
    for path in campaign_files(results):
        if path not in kept:
            path.rename(moving / path.name)
    (moving / _KEPT).unlink(missing_ok=True)
    sync_folder(moving)
    target = moving.with_name(moving.name.removeprefix(_MOVING))
    moving.rename(target)
    sync_folder(target.parent)
    sync_folder(results)
    return target


def _name_of(results: Path, keep: Collection[int]) -> str:
    records = list(_records(results, keep))
    if not records:
        digest = KROWN if krown_runs(results) else "0" * _DIGITS
        return f"{_first_change(results):{_TIME}}-{digest}"
    try:
        return campaign_name(records)
    except OverflowError:  # a date that no run can have
        return f"{_first_change(results):{_TIME}}-{_digest_in_name(records)}"


def campaign_name(records: Sequence[RunRecord]) -> str:
    """Return the name of a campaign among the earlier ones; see ``add_campaigns`` for errors."""
    began = min(record.began for record in records).astimezone(UTC)
    return f"{began:{_TIME}}-{_digest_in_name(records)}"


def _digest_in_name(records: Sequence[RunRecord]) -> str:
    newest = max(records, key=lambda record: record.began)
    return digest_of(subject_of(newest)).removeprefix("sha256:")[:_DIGITS]


def _records(results: Path, keep: Collection[int]) -> Iterator[RunRecord]:
    for number, run in Results(results).runs().items():
        if number not in keep:
            with suppress(RecordError, OverflowError):
                record = read_record(run.path)
                if record.started_at:
                    yield record


def _first_change(results: Path) -> datetime:
    seconds = min(folder.stat().st_mtime for folder in own_runs(results))
    return datetime.fromtimestamp(seconds, UTC)


def _free_name(results: Path, name: str) -> str:
    taken = {place.name for place in _below(results / EARLIER)}
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if not {one, f"{_MOVING}{one}"} & taken)


def removable(results: Path) -> list[Path]:
    """List what the lab made in a results folder, earlier campaigns included, and nothing else."""
    folders = [*with_earlier(results), *_interrupted(results)]
    files = [path for folder in folders for path in campaign_files(folder)]
    return files + left_works(results)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of results that were to go.

    Args:
        gone: What was removed, as ``removable`` lists it.
        left: What lies in the folder of a run and is not ours: it stays where it is.
    """

    gone: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


def refuse_unremovable(paths: Iterable[Path]) -> None:
    """Check, as far as permissions tell, that everything can be removed.

    Raises:
        InputError: If a folder cannot be written.
    """
    for path in paths:
        folders = [Path(place) for place, _, _ in os.walk(path)]
        for folder in (path.parent, *folders):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise InputError(f"{shown(folder)} cannot be written: nothing was removed")


def clean(results: Path, resources: Collection[str] = ()) -> Cleaned:
    """Remove what ``removable`` lists, and the folders that this leaves empty.

    A link to the results stays, and so does the folder that it leads to.

    Args:
        resources: Names of the folders in which the case's resources keep their outputs.
    """
    gone, earlier = removable(results), [*earlier_campaigns(results), *_interrupted(results)]
    runs = [path for path in gone if path.parent.name != WORK and path.is_dir()]
    left = [stays for run in runs for stays in remove_run(run, resources)]
    others = [*(path for path in gone if path not in runs), *(place / _KEPT for place in earlier)]
    hidden = [path for place in (results, *earlier) for path in passing(place)]
    for path in (*others, *hidden):
        remove_tree(path)
    works = {path.parent for path in gone if path.parent.name == WORK}
    for folder in (*earlier, results / EARLIER, *works):
        _remove_empty(folder)
    if results.is_dir() and gone:
        # Whoever waits for it sees that it is gone, and makes another.
        (results / RESULTS_LOCK).unlink(missing_ok=True)
        with suppress(OSError):  # the case's own folder may be for reading only
            _remove_empty(results)
    return Cleaned(tuple(gone), tuple(left))


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()
