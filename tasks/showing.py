"""What the UI shows of the stages of a case."""

import logging
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from uuid import UUID

from prefect.client.schemas.objects import ArtifactCollection

from benchyard.analysis.executions import collect
from benchyard.analysis.failure_tables import place_of
from benchyard.catalogue.entry import identified
from benchyard.core.errors import RecordError
from benchyard.core.files import content
from benchyard.core.json_text import decoded
from benchyard.core.model import Json
from benchyard.core.wording import cell
from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results, RunFolder, run_folder
from benchyard.results.record import RunRecord, read_record
from benchyard.run.progress import Event, Listener, QuietMoment, RunEnded, Summarized, tell
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.show.curves.panels import read_curves, run_to_draw
from benchyard.show.curves.plot import draw
from benchyard.show.pages.result import key_of, result_page, state_of
from benchyard.show.pages.retries import (
    DAYS,
    Board,
    board_from,
    board_of,
    merged,
    metadata_of,
    retries_page,
    table_of,
)
from tasks.artifacts import LARGEST, Showcase
from tasks.events import announce_run
from tasks.names import EXPLORER
from tasks.server import Watch

logger = logging.getLogger(__name__)

#: Kinds of keys; the words before them tell what an artifact shows.
RETRIES, RETRY_TABLE, RESULT, PROGRESS = "retries", "retry-table", "result", "progress"
#: A progress that changes more often tells nobody more.
_PROGRESS_SECONDS = 1.0
#: The lab's page is made anew so often even if nothing fails, for the rates.
_LAB_PAGE = timedelta(hours=1)
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
        page = f"{_to_explorer(results)}{page}"
        about = f"{title}: {state_of(summary, failed)}"
        self._showcase.show("markdown", key_of(RESULT, title), page[:LARGEST], about)
        self._show_retries(title, results)

    def _show_retries(self, title: str, results: Path) -> None:
        now = datetime.now(UTC)
        collected = collect(with_earlier(results))
        board = board_of(collected, place_of, now)
        hosts = {platform.node(), *(one.host for one in collected.tries)}
        key = key_of(RETRY_TABLE, title)
        kept = self._showcase.latest((key, RETRIES))
        own = _boards([one for one in kept if one.key == key], now)
        whole = merged([board, *(one.without(hosts) for one in own)])
        about = f"failures and retries of {title} in the last {DAYS} days"
        self._showcase.show("table", key, table_of(whole), about, metadata_of(whole))
        page = retries_page(whole, cell(title))
        self._showcase.show("markdown", key_of(RETRIES, title), page, about)
        new = board_of(collected.since(self._began), place_of, now)
        pages = [one.updated for one in kept if one.key == RETRIES]
        if new.rows or not any(page and now - page <= _LAB_PAGE for page in pages):
            show_lab(self._showcase, now)


def show_lab(showcase: Showcase, now: datetime) -> None:
    """Make the lab's retry page anew, from the newest boards of all cases."""
    whole = merged(_boards(showcase.latest(like=f"{RETRY_TABLE}-%"), now))
    about = f"failures and retries of the lab in the last {DAYS} days"
    showcase.show("table", RETRY_TABLE, table_of(whole), about)
    showcase.show("markdown", RETRIES, retries_page(whole, "the lab"), about)


def _boards(kept: Sequence[ArtifactCollection], now: datetime) -> list[Board]:
    """Return the retry boards that the server keeps and that are not too old."""
    since = now - timedelta(days=DAYS)
    return [
        board_from(found.data, found.metadata_, since.date())
        for found in kept
        if found.updated is None or found.updated >= since
    ]


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


def _to_explorer(results: Path) -> str:
    """Return a line that leads to the case in the explorer; empty if none is known."""
    url = os.environ.get(EXPLORER, "")
    if not _EXPLORER_URL.fullmatch(url):
        return ""
    return f"In the explorer: {url.rstrip('/')}/case/{identified(results.resolve())}\n\n"


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
