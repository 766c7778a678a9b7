"""Explain jobs by the calls of MindInsight's ``ExplainManager``."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import Entry, identified
from benchyard.catalogue.formats.mindspore import MindsporeExplain
from benchyard.catalogue.loaders import LIMIT_BYTES, LoaderPool
from benchyard.catalogue.mindspore.explain_job import ExplainJob
from benchyard.catalogue.query import EntryQuery, Page
from benchyard.catalogue.repeated import Repeated
from benchyard.core.errors import InputError, NotFoundError, RecordError

#: So many of the newest jobs are loaded before anybody asks. Source: MindInsight.
NEWEST = 3


class ExplainStatus(StrEnum):
    """How far an ``ExplainManager`` is."""

    INIT = "INIT"
    LOADING = "LOADING"
    DONE = "DONE"
    INVALID = "INVALID"


def explain_jobs(catalogue: Catalogue, offset: int = 0, limit: int | None = None) -> Page:
    """Return a page of the explain jobs, those that changed last first.

    Raises:
        InputError: If ``offset`` is negative or ``limit`` less than 1.
    """
    if offset < 0 or (limit is not None and limit < 1):
        raise InputError("offset must be 0 or more, and limit 1 or more")
    # Jobs do not say when they began, so this is by their last change; the index has this order.
    query = EntryQuery(
        formats=(MindsporeExplain.name,), sort="-started_s", offset=offset, limit=limit
    )
    return catalogue.page(query)


def train_id(entry: Entry) -> str:
    """Return what MindInsight calls a job: its path below the root, with ``./`` before it."""
    return "./" if entry.path == "." else f"./{entry.path}"


def listed(entry: Entry) -> dict[str, Any]:
    """Return what a list says of a job: MindInsight's keys, then ours."""
    return {
        "relative_path": train_id(entry),
        "create_time": datetime.fromtimestamp(entry.created_s, UTC),
        "update_time": datetime.fromtimestamp(entry.updated_s, UTC),
        **{kind: entry.counts.get(kind, 0) for kind in _COUNTS},
        "saliency_map": entry.parameters.get("saliency_map", True),
        "hierarchical_occlusion": entry.parameters.get("hierarchical_occlusion", False),
        "id": entry.id,
        "broken": entry.broken,
    }


_ID = re.compile("[0-9a-f]{16}")
_COUNTS = ("summary_files", "lineage_files", "explain_files", "graph_files")


class ExplainManager:
    """The explain jobs of a catalogue, or below a folder.

    Args:
        summary_base_dir: A folder, which is searched at any depth; one that is not there has no
            jobs until it is.
        limit_bytes: Memory for loaded jobs.
    """

    def __init__(
        self, summary_base_dir: Catalogue | Path | str, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        given = summary_base_dir
        self._catalogue = given if isinstance(given, Catalogue) else Catalogue([Path(given)])
        #: As it was given; of a catalogue its first root.
        self.summary_base_dir = str(given.roots[0] if isinstance(given, Catalogue) else given)
        self._pool = LoaderPool(limit_bytes)
        self._loading = Repeated("load explain jobs", self._load)
        self._status = ExplainStatus.INIT
        self._trouble = ""
        self._newest: dict[str, float] = {}

    @property
    def status(self) -> ExplainStatus:
        """``INVALID`` says that the last round found no job that can be loaded."""
        return self._status

    @property
    def troubles(self) -> list[str]:
        """Why the last round failed, and why jobs cannot be loaded."""
        return [*filter(None, [self._trouble]), *self._pool.failures.values()]

    def start_load_data(self, reload_interval: float = 0) -> None:
        """Load the newest jobs, and reload what changed, in a thread.

        Args:
            reload_interval: Seconds from one round to the next; 0 makes one round.

        Raises:
            InputError: If it is negative.
        """
        self._loading.start(reload_interval)

    def stop_load_data(self) -> None:
        """Stop it. What is loaded can still be asked for."""
        self._loading.stop()

    def get_job_list(
        self, offset: int = 0, limit: int | None = None, *, page_number: bool = False
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of all jobs, and some of them, those that changed last first.

        While rounds go on, it is as the last one found it; else each call looks anew.

        Args:
            offset: Jobs to skip.
            limit: At most so many; None is all, wherever the offset is.
            page_number: Whether ``offset`` counts pages of ``limit`` jobs, as in MindInsight.

        Raises:
            InputError: If ``offset`` is negative or ``limit`` less than 1.
        """
        if not self._loading.is_running:
            self._catalogue.refresh()
        skipped = offset * (limit or 0) if page_number or limit is None else offset
        page = explain_jobs(self._catalogue, skipped, limit)
        return page.total, [listed(entry) for entry in page.entries]

    def get_job(self, loader_id: str) -> ExplainJob | None:
        """Return a job as its file is now; None if there is none. It waits for no other job.

        Args:
            loader_id: ``relative_path`` or ``id`` of the list.

        Raises:
            RecordError: If it cannot be read.
        """
        entry = self._entry(loader_id)
        if entry is None:
            self._catalogue.refresh()
            entry = self._entry(loader_id)
        return None if entry is None else self._pool.get(entry)

    def _entry(self, name: str) -> Entry | None:
        with suppress(ValueError):  # of a name that no file can have
            for place in (root / name for root in self._catalogue.roots):
                if entry := self._known(identified(place, MindsporeExplain.name)):
                    return entry
        return self._known(name) if _ID.fullmatch(name) else None

    def _known(self, entry_id: str) -> Entry | None:
        try:
            entry = self._catalogue.entry(entry_id)
        except NotFoundError:
            return None
        return entry if entry.format == MindsporeExplain.name else None

    def _load(self, stopped: Callable[[], bool]) -> None:
        self._status = ExplainStatus.LOADING
        self._trouble = ""
        try:
            self._catalogue.refresh()
            self._load_newest(stopped)
            self._pool.reload(stopped)
        except Exception as error:  # noqa: BLE001 - the next round may do better
            self._trouble = f"{type(error).__name__}: {error}"
        found = self._pool.ids and not self._trouble
        self._status = ExplainStatus.DONE if found else ExplainStatus.INVALID

    def _load_newest(self, stopped: Callable[[], bool]) -> None:
        """Load what became one of the newest; what was asked for keeps its place in the pool."""
        newest = explain_jobs(self._catalogue, limit=NEWEST).entries
        before, self._newest = self._newest, {}
        for entry in newest:
            if stopped():
                return
            if before.get(entry.id) != entry.updated_s:
                with suppress(RecordError):  # told by whoever asks for this job
                    self._pool.get(entry)
            self._newest[entry.id] = entry.updated_s
