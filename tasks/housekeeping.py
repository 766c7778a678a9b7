"""The tasks of ``flows.housekeeping`` and ``flows.publish``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from prefect import get_run_logger, task
from prefect.artifacts import create_markdown_artifact

import resources
from benchyard.case.loading import find_cases
from benchyard.case.registry import Registry
from benchyard.core import places
from benchyard.core.quantity import amount, percent, plural
from benchyard.core.wording import code
from benchyard.process.labels import kill_leftovers
from benchyard.publish import Manner, RetryPolicy
from benchyard.publish.housekeeping import (
    DiskState,
    HousekeepingReport,
    Policy,
    Spool,
    disks,
    old_runs,
    remove,
    spools,
)
from benchyard.publish.outcome import PublishResult, problems, summary
from benchyard.publish.routes import Route
from benchyard.publish.service import publish_all
from benchyard.results.layout import results_folder
from tasks.pools import stuck_flow_runs
from tasks.prefect_internals import our_client

#: The artifact's key: the UI shows its history.
KEY = "housekeeping"
_STUCK = "look-for-stuck-flow-runs"


@task(name="look", task_run_name="look", persist_result=False)
def look(
    root: Path, elsewhere: Path | None, folders: Sequence[Path], policy: Policy
) -> HousekeepingReport:
    """Look at spools, disks, old runs and leftovers; the latter are removed at once.

    Args:
        root: Where cases are looked for.
        elsewhere: Where results are, if not in the cases.
        folders: Further resource classes.
    """
    registry = resources.find(folders)
    results = sorted(set(_results(root, elsewhere, registry)))
    places_used = [root, places.home(), *([elsewhere] if elsewhere else [])]
    return HousekeepingReport(
        spools=spools(),
        disks=disks(places_used),
        old=old_runs(results, policy),
        leftovers=tuple(remove_leftovers(registry)),
    )


def _results(root: Path, elsewhere: Path | None, registry: Registry) -> Iterator[Path]:
    """Yield the results folders of all valid cases; whose case is invalid keeps its results."""
    for loaded in find_cases(root, (), (), registry):
        for case in loaded.cases if not loaded.problems else ():
            yield results_folder(case, root, elsewhere)


def remove_leftovers(registry: Registry) -> list[str]:
    """Kill and remove what labs that are dead left on this host; say what it was."""
    killed = kill_leftovers()
    removed = [f"process {pid}" for pid in killed]
    for resource in registry.classes.values():
        removed += resource.remove_leftovers()
    return list(dict.fromkeys(removed))


@task(name=_STUCK, task_run_name=_STUCK, persist_result=False)
def look_for_stuck_flow_runs(report: HousekeepingReport) -> HousekeepingReport:
    """Add the flow runs that seem to have no process."""
    with our_client() as api:
        return replace(report, stuck=tuple(stuck_flow_runs(api, datetime.now(UTC))))


@task(name="remove-old-runs", task_run_name="remove-old-runs", persist_result=False)
def remove_old_runs(report: HousekeepingReport) -> HousekeepingReport:
    """Remove the old runs that a report names."""
    return replace(report, removed=True, troubles=remove(report.old))


@task(name="show", task_run_name="show", persist_result=False)
def show(report: HousekeepingReport) -> None:
    """Show a report in the UI."""
    create_markdown_artifact(markdown(report), key=KEY, description="The lab's housekeeping.")


def markdown(report: HousekeepingReport) -> str:
    """Return a report for people; everything that is a file's or a flow run's name is quoted."""
    blocks = [
        ("Waiting to be published", list(map(_spool, report.spools)) or ["nothing has been yet"]),
        ("Room on the disks", [_disk(d) for d in report.disks]),
        ("Old runs, removed" if report.removed else "Old runs, which may go", _old(report)),
        ("Removed leftovers of dead runs", [code(one) for one in report.leftovers]),
        ("Flow runs that nobody seems to execute", [code(one) for one in report.stuck]),
    ]
    if report.troubles:
        blocks.append(("Left as it was", [code(one) for one in report.troubles]))
    return "\n\n".join(f"## {title}\n\n{_list(lines)}" for title, lines in blocks)


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines or ["none"])


def _spool(spool: Spool) -> str:
    oldest = f", the oldest for {spool.oldest_days:.1f} days" if spool.oldest_days else ""
    text = f"{code(spool.sink)}: {plural(spool.waiting, 'document')}{oldest}"
    return f"{text}; {spool.rejected} rejected" if spool.rejected else text


def _disk(disk: DiskState) -> str:
    free = f"{amount(disk.free_bytes, 'B')} free, {percent(disk.free_share)}"
    return f"{code(str(disk.folder))}: {free}"


def _old(report: HousekeepingReport) -> list[str]:
    total = amount(sum(one.size_bytes for one in report.old), "B")
    lines = [f"{code(str(one.folder))}: {one.days:.0f} days old" for one in report.old[:100]]
    more = len(report.old) - len(lines)
    lines += [f"and {plural(more, 'more run')}"] if more else []
    return [f"{plural(len(report.old), 'run')}, {total}", *lines] if lines else []


def report_line(report: HousekeepingReport) -> str:
    """Return a report in a line."""
    waiting = sum(spool.waiting for spool in report.spools)
    rejected = sum(spool.rejected for spool in report.spools)
    did = "removed" if report.removed else "may go"
    free = min((disk.free_share for disk in report.disks), default=1.0)
    return (
        f"{waiting} waiting, {rejected} rejected; {plural(len(report.old), 'old run')} {did}; "
        f"{plural(len(report.leftovers), 'leftover')} removed; "
        f"{plural(len(report.stuck), 'flow run')} stuck; {percent(free)} of the disk free"
    )


@task(name="publish", task_run_name="publish/{line.sink}", persist_result=False)
def publish(line: Route, retries: int, *, again: bool) -> tuple[PublishResult, ...]:
    """Publish what waits on a route; what went wrong is logged."""
    outcomes = publish_all([line], Manner(RetryPolicy(retries)), again=again)
    logger = get_run_logger()
    for outcome in outcomes:
        for problem in problems(outcome):
            logger.error(problem)
        logger.info(summary(outcome))
    return outcomes
