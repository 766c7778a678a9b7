"""Campaigns that were measured elsewhere, added to the results of a case, each once.

Each is written beside and renamed. The newest of all lies in ``results/``, as it does when a lab
measured it there. A move that was interrupted is finished by who adds next.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain, count
from pathlib import Path

import msgspec

from benchyard.core.clock import now
from benchyard.core.errors import RecordError
from benchyard.core.files import remove_tree, sync_folder
from benchyard.results.campaigns import (
    EARLIER,
    campaign_name,
    earlier_campaigns,
    finish_moving,
    read_campaign,
    set_aside,
)
from benchyard.results.folders import DONE, RUN_FILE, run_folder
from benchyard.results.ownership import make_run
from benchyard.results.record import FORMAT, VERSION, RunRecord, read_record

_ADDING, _RISING = ".adding-", ".rising-"


def add_campaigns(results: Path, campaigns: Iterable[Sequence[RunRecord]]) -> int:
    """Add campaigns, and return how many were not there.

    Args:
        results: Of the case; whoever calls holds its lock.
        campaigns: The runs of each; the ``id`` of their session tells campaigns apart.

    Raises:
        OSError: If something cannot be written.
        OverflowError: If a run began when none can have begun.
    """
    (results / EARLIER).mkdir(parents=True, exist_ok=True)
    finish_moving(results)
    for rising in (results / EARLIER).glob(f"{_RISING}*"):
        _raise(results, rising)
    newest = list(read_campaign(results).records.values())
    first = campaign_name(newest) if newest else ""
    there = {campaign_name(newest): newest[0].session} if newest else {}
    added = sum(_add(results / EARLIER, records, there) for records in campaigns)
    last = next(iter(earlier_campaigns(results)), None)
    if last is not None and last.name[:16] > first[:16]:
        set_aside(results)
        _raise(results, last.rename(last.with_name(_RISING + last.name)))
    sync_folder(results / EARLIER)
    return added


def _add(earlier: Path, records: Sequence[RunRecord], there: Mapping[str, object]) -> bool:
    """Write a campaign, unless it is there under its name or the name with a number."""
    name, session = campaign_name(records), records[0].session
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    known = ((earlier / one, there.get(one) or _session(earlier / one)) for one in names)
    place, found = next(each for each in known if each[1] in (None, session))
    if found is not None:
        return False
    adding = place.with_name(_ADDING + place.name)
    remove_tree(adding)
    for record in records:
        _write(run_folder(adding, record.run), record)
    adding.rename(place)
    return True


def _session(campaign: Path) -> object:
    """Return the session of the first run in a folder; None if there is no such folder."""
    if not campaign.exists():
        return None
    try:
        return read_record(run_folder(campaign, 1)).session
    except RecordError:
        return {}


def _write(folder: Path, record: RunRecord) -> None:
    make_run(folder, ())
    told = {one.name: getattr(record, one.name) for one in fields(record)}
    document = {"format": FORMAT, "version": VERSION, **told}
    (folder / RUN_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(document)))
    (folder / DONE).write_text(now() + "\n", encoding="utf-8")


def _raise(results: Path, rising: Path) -> None:
    """Make an earlier campaign the newest one."""
    for path in list(rising.iterdir()):
        path.rename(results / path.name)
    rising.rmdir()
