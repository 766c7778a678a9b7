"""Campaigns that were measured elsewhere, added to the results of a case, each once.

Each is written beside and renamed. The newest of all lies in ``results/``, as it does when a lab
measured it there. A move that was interrupted is finished by who adds next.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
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
    with_earlier,
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
    there = {_session(place) for place in with_earlier(results)}
    before = len(there)
    for records in campaigns:
        if (session := str(records[0].session.get("id"))) not in there:
            there.add(session)
            _add(results / EARLIER, records)
    last = next(iter(earlier_campaigns(results)), None)
    if last is not None and last.name[:16] > first[:16]:
        set_aside(results)
        _raise(results, last.rename(last.with_name(_RISING + last.name)))
    sync_folder(results / EARLIER)
    return len(there) - before


def _add(earlier: Path, records: Sequence[RunRecord]) -> None:
    name = campaign_name(records)
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    place = next(one for one in map(earlier.joinpath, names) if not one.exists())
    adding = place.with_name(_ADDING + place.name)
    remove_tree(adding)
    for record in records:
        _write(run_folder(adding, record.run), record)
    adding.rename(place)


def _session(campaign: Path) -> str:
    with suppress(RecordError):
        return str(read_record(run_folder(campaign, 1)).session.get("id"))
    return ""


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
