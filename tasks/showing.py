"""What the UI shows of the stages of a case."""

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
#: A progress that changes more often tells nobody more.
_PROGRESS_SECONDS = 1.0
#: The lab's page is made anew so often even if nothing fails, for the rates.
_LAB_PAGE = timedelta(hours=1)
#: So long its results are looked for; what was found counts, and the next look goes on there.
_LOOK_SECONDS = 5.0
#: Longest picture, as SVG; in the page it takes a third more.
_LARGEST_PICTURE = 150_000
#: What cannot be markup of the page that it becomes part of.
_EXPLORER_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_/-]+")


def shown(setting: RunContext, request: Request) -> Listener:
    """Return who listens to a case: whoever did, the UI, and the watch of the server.

    The UI shows how far it is and what came of it, while nothing is measured.
    """
    watch, screen = Watch(), _Screen(setting, request)

    def hear(event: Event) -> None:
        tell(setting.listener, event)
        match event:
            case QuietMoment():
                watch.hear(event)
                screen.progress(event)
            case RunEnded(record, folder):
                screen.ended += 1
                announce_run(record, folder)
            case Summarized():
                screen.summarized(event)
            case _:
                pass

    return hear


class _Screen:
    """What the UI shows of one case."""

    def __init__(self, setting: RunContext, request: Request) -> None:
        self._setting = setting
        self._request = request
        self._showcase = Showcase()
        self._progress: UUID | None = None
        self._todo: int | None = None
        self.ended = 0
        self._shown_at = 0.0
        self._began = datetime.now(UTC)

    def summarized(self, event: Summarized) -> None:
        """Show what came of the case."""
        self._showcase.reopen()
        try:
            self._show(event.case, event.results)
        except Exception as error:  # the case is done; a page must not fail it
            logger.debug("could not show what came of %s", event.case, exc_info=True)
            self._showcase.give_up(error)

    # -- progress

    def progress(self, event: QuietMoment) -> None:
        """Show how far it is, at most once a second."""
        now = time.monotonic()
        if self._todo is None:
            self._todo = self._count()
        elif now - self._shown_at < _PROGRESS_SECONDS:
            return
        self._shown_at = now
        percent = 100 * (self.ended + event.share) / max(self._todo, 1)
        what = f"run {event.run}, {self.ended + 1} of {self._todo} to do: {event.next}"
        self._show_progress(min(percent, 99.9), f"{event.case}: {what}")

    def _count(self) -> int:
        done = () if self._request.force else Results(self._setting.results).done()
        return sum(1 for run in self._request.wanted if run not in done)

    def _show_progress(self, percent: float, text: str) -> None:
        if self._progress is None:
            key = key_of(PROGRESS, self._setting.case.title)
            self._progress = self._showcase.show("progress", key, round(percent, 1), text)
        else:
            self._showcase.update_progress(self._progress, percent, text)

    # -- what came of it

    def _show(self, title: str, results: Path) -> None:
        runs = Results(results).failed()
        failed = [*runs]
        summary = _summary(results)
        if self._progress is not None:
            text = f"{title}: {state_of(summary, failed)}"
            self._showcase.update_progress(self._progress, 100.0, text)
        broken = _records(runs.values())
        page = result_page(title, summary, failed, results, _picture(results, summary), broken)
        page = f"{_to_explorer(_page_of_case(results))}{page}"
        about = f"{title}: {state_of(summary, failed)}"
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
    """Show what failed and was retried of late, and return what was executed.

    Args:
        keys: Of the table and of the page.
        whose: Title of a case, or ``the lab``.
        folders: With results; one run may lie in several of them.
        page: Of the explorer.
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
    """Return the results folders on this host with runs of late, as the catalogue knows them.

    Args:
        root: Where cases are looked for, unless a lab says which folders are its.
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
    """Return the records of runs that can be read."""
    found: list[RunRecord] = []
    for run in runs:
        with suppress(RecordError):
            found.append(read_record(run.path))
    return found


def _page_of_case(results: Path) -> str:
    return f"/case/{identified(results.resolve())}"


def _to_explorer(page: str) -> str:
    """Return a line that leads to a page of the explorer; empty if none is known."""
    url = os.environ.get(EXPLORER, "")
    if not _EXPLORER_URL.fullmatch(url):
        return ""
    return f"In the explorer: {url.rstrip('/')}{page}\n\n"


def _picture(results: Path, summary: Mapping[str, Json]) -> tuple[int, str] | None:
    """Draw the curves of one run, with fewer points where they would get too large."""
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
