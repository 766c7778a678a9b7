"""What Prefect's UI shows of a case beside its task runs: progress, results, failures, retries.

A listener of the case's progress events (``benchyard.run.progress``) makes these artifacts, emits
events of runs, and looks whether the server answers, all while nothing is measured.
"""

import logging
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from uuid import UUID

from benchyard.analysis.executions import StepTry, collect, executions
from benchyard.catalogue.entry import identified
from benchyard.core.errors import RecordError
from benchyard.core.files import content
from benchyard.core.json_text import decoded
from benchyard.core.model import Json
from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results, RunFolder, run_folder
from benchyard.results.record import RunRecord, read_record
from benchyard.run.progress import Event, Listener, QuietMoment, RunEnded, Summarized, tell
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.show.curves.panels import read_curves, run_to_draw
from benchyard.show.curves.plot import draw
from benchyard.show.pages.result import key_of, result_page, state_of
from benchyard.show.pages.retries import DAYS, retries_page, retries_rows
from tasks.artifacts import LARGEST, Showcase
from tasks.events import announce_run
from tasks.names import ALLOWED, EXPLORER
from tasks.server import Watch

logger = logging.getLogger(__name__)

#: Kinds of keys; the words before them tell what an artifact shows.
RETRIES, RETRY_TABLE, RESULT, PROGRESS = "retries", "retry-table", "result", "progress"
#: The progress artifact changes no more often.
_PROGRESS_SECONDS = 1.0
#: The lab's page is made anew after this time even if nothing failed: its rates change.
_LAB_PAGE = timedelta(hours=1)
#: The search for the lab's results ends after this time (s); the next one goes on from there.
_LOOK_SECONDS = 5.0
#: Longest picture (bytes of SVG); base64 in the page makes it a third longer.
_LARGEST_PICTURE = 150_000
#: An address that cannot hold markup of the page that it becomes part of.
_EXPLORER_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_/-]+")


def shown(setting: RunContext, request: Request) -> Listener:
    """Return a listener for the case of a flow run; who listened before hears everything first."""
    watch, artifacts = Watch(), _CaseArtifacts(setting, request)

    def hear(event: Event) -> None:
        tell(setting.listener, event)
        match event:
            case QuietMoment():
                watch.hear(event)
                artifacts.show_moment(event)
            case RunEnded(record, folder):
                artifacts.ended += 1
                announce_run(record, folder)
            case Summarized():
                artifacts.show_summary(event)
            case _:
                pass

    return hear


class _CaseArtifacts:
    """The artifacts of one case in Prefect's UI."""

    def __init__(self, setting: RunContext, request: Request) -> None:
        self._setting = setting
        self._request = request
        self._showcase = Showcase()
        self._progress: UUID | None = None
        self._todo: int | None = None
        self.ended = 0
        self._shown_at = 0.0
        self._began = datetime.now(UTC)

    def show_summary(self, event: Summarized) -> None:
        """Show the results of the case."""
        self._showcase.reopen()
        try:
            self._show(event.case, event.results)
        except Exception as error:  # the case is done; a page must not fail it
            logger.debug("could not show the results of %s", event.case, exc_info=True)
            self._showcase.give_up(error)

    # -- progress

    def show_moment(self, event: QuietMoment) -> None:
        """Show which share of the runs is done, and what follows; at most once a second."""
        now = time.monotonic()
        if self._todo is None:
            self._todo = self._count_missing()
        elif now - self._shown_at < _PROGRESS_SECONDS:
            return
        self._shown_at = now
        percent = 100 * (self.ended + event.share) / max(self._todo, 1)
        what = f"run {event.run}, {self.ended + 1} of {self._todo} to do: {event.next}"
        self._show_progress(min(percent, 99.9), f"{event.case}: {what}")

    def _count_missing(self) -> int:
        done = () if self._request.force else Results(self._setting.results).done()
        return sum(1 for run in self._request.wanted if run not in done)

    def _show_progress(self, percent: float, text: str) -> None:
        if self._progress is None:
            key = key_of(PROGRESS, self._setting.case.title)
            self._progress = self._showcase.show("progress", key, round(percent, 1), text)
        else:
            self._showcase.update_progress(self._progress, percent, text)

    # -- results

    def _show(self, title: str, results: Path) -> None:
        runs = Results(results).failed()
        failed = [*runs]
        summary = _summary(results)
        about = f"{title}: {state_of(summary, failed)}"
        if self._progress is not None:
            self._showcase.update_progress(self._progress, 100.0, about)
        broken = _records(runs.values())
        page = result_page(title, summary, failed, results, _picture(results, summary), broken)
        page = f"{_to_explorer(_page_of_case(results))}{page}"
        self._showcase.show("markdown", key_of(RESULT, title), page[:LARGEST], about)
        self._show_retries(title, results)

    def _show_retries(self, title: str, results: Path) -> None:
        folders = with_earlier(results)
        keys = (key_of(RETRY_TABLE, title), key_of(RETRIES, title))
        found = _show_failures(self._showcase, keys, title, folders, _page_of_case(results))
        failed = any(one.in_trouble and one.began >= self._began for one in found)
        if failed or self._showcase.is_due(RETRIES, _LAB_PAGE):
            folders += _folders_of_lab(self._request.root)
            page = f"/failures?since={DAYS}d"
            _show_failures(self._showcase, (RETRY_TABLE, RETRIES), "the lab", folders, page)


def _show_failures(
    showcase: Showcase, keys: tuple[str, str], whose: str, folders: Iterable[Path], page: str
) -> list[StepTry]:
    """Show the steps that failed or were retried lately, and return all that were executed.

    Args:
        keys: Keys of the table and of the page.
        whose: Title of a case, or ``the lab``.
        folders: Folders with results; one run may lie in several of them.
        page: Path of the explorer's page to link to.
    """
    tries = collect(folders).since(datetime.now(UTC) - timedelta(days=DAYS)).tries
    each = {(one.case, one.run, one.host, one.started_at): one for one in tries}
    found = list(executions(each.values()))
    about = f"failures and retries of {whose} in the last {DAYS} days"
    showcase.show("table", keys[0], retries_rows(found), about)
    text = f"{_to_explorer(page)}{retries_page(found, whose)}"
    showcase.show("markdown", keys[1], text, about)
    return found


def _folders_of_lab(root: str) -> list[Path]:
    """Return the results folders on this host with recent runs, as the catalogue knows them.

    Args:
        root: Folder with cases; a lab names its own folders in the environment instead.
    """
    from benchyard.catalogue.catalogue import Catalogue  # noqa: PLC0415 - takes long, seldom needed

    roots = [Path(one) for one in os.environ.get(ALLOWED, root).split(os.pathsep) if one]
    latest = time.monotonic() + _LOOK_SECONDS
    since = datetime.now(UTC) - timedelta(days=DAYS)
    with closing(Catalogue(roots, look=False)) as catalogue:
        catalogue.refresh(lambda: time.monotonic() > latest)
        return [case.results for case in catalogue.changed_since(since.timestamp())]


def _summary(results: Path) -> dict[str, Json]:
    try:
        found = decoded(content(Results(results).summary))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def _records(runs: Iterable[RunFolder]) -> list[RunRecord]:
    """Return the records of those runs whose records can be read."""
    found: list[RunRecord] = []
    for run in runs:
        with suppress(RecordError):
            found.append(read_record(run.path))
    return found


def _page_of_case(results: Path) -> str:
    return f"/case/{identified(results.resolve())}"


def _to_explorer(page: str) -> str:
    """Return a line with the address of the explorer's page; empty if no explorer is known."""
    url = os.environ.get(EXPLORER, "")
    if not _EXPLORER_URL.fullmatch(url):
        return ""
    return f"In the explorer: {url.rstrip('/')}{page}\n\n"


def _picture(results: Path, summary: Mapping[str, Json]) -> tuple[int, str] | None:
    """Return a run and its curves as SVG, with fewer points where that would be too long."""
    run = run_to_draw(results, summary)
    if run is None:
        return None
    try:
        for points in (480, 240, 120):
            drawn = draw(read_curves(run_folder(results, run), points)).svg()
            if len(drawn.encode()) <= _LARGEST_PICTURE:
                return run, drawn
    except RecordError as error:
        logger.debug("no curves to show: %s", error)
    return None
