"""What is shown in the UI: artifacts with stable keys, so that it keeps the history of each.

Showing is never in the way: it is done while nothing is measured, a server that does not answer is
waited for a few seconds and not asked again, and nothing that goes wrong here ends a case. Files
hold everything that is shown.
"""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient
from prefect.exceptions import PrefectHTTPStatusError

from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import cell
from tasks.flow_run import flow_run_id
from tasks.prefect_internals import SOON, our_client

logger = logging.getLogger(__name__)

#: How long a server may take for one answer.
SECONDS = 5.0
#: Longest page, in characters: nobody reads more, and the server keeps every version.
LARGEST = 1_000_000


class Showcase:
    """Shows things as artifacts of the flow run under way, if there is one.

    The first thing that goes wrong is logged, and from then on nothing is shown until ``reopen``.
    No events are sent of artifacts: their thread would work on beside what is measured next.
    """

    def __init__(self) -> None:
        self._flow_run = flow_run_id()
        self._closed = self._flow_run is None
        self._told = False

    def show(
        self,
        kind: Literal["markdown", "table", "progress"],
        key: str,
        data: Json,
        description: str,
    ) -> UUID | None:
        """Show something, and return its id; None if it could not be shown.

        Args:
            data: Markdown, in which what comes from outside is escaped; or objects with the same
                members, whose texts the UI renders as Markdown; or percent.
            description: One line, the title in lists.
        """
        body: JsonObject = {
            "type": kind,
            "key": key,
            "data": data,
            "description": cell(description),
            "flow_run_id": self._flow_run,
        }
        made = self.ask("POST", "/artifacts/", json=body)
        return None if made is None else UUID(made.json()["id"])

    def update_progress(self, artifact: UUID, percent: float, description: str) -> None:
        """Show how far it got."""
        body: JsonObject = {"data": round(percent, 1), "description": cell(description)}
        self.ask("PATCH", "/artifacts/{id}", path_params={"id": artifact}, json=body)

    def is_due(self, key: str, every: timedelta) -> bool:
        """Tell whether an artifact is missing or older; False if the API has trouble."""
        body: JsonObject = {"artifacts": {"key": {"any_": [key]}}}
        answer = self.ask("POST", "/artifacts/latest/filter", json=body)
        earliest = datetime.now(UTC) - every
        return answer is not None and all(
            datetime.fromisoformat(one["updated"]) < earliest for one in answer.json()
        )

    def reopen(self) -> None:
        """Try again after trouble."""
        self._closed = self._flow_run is None

    def ask(self, method: Any, path: Any, **about: Any) -> httpx.Response | None:
        """Make a request of the API; None if it has trouble, which is logged once.

        Args:
            method: A method of HTTP, and ``path`` a route: Prefect's literals, which are private.
            about: What else Prefect's client takes for a request.
        """
        if self._closed:
            return None
        try:
            return _soon_again(lambda api: api.request(method, path, timeout=SECONDS, **about))
        except Exception as error:  # noqa: BLE001 - whatever it is, a case must not fail of it
            self.give_up(error)
            return None

    def give_up(self, error: Exception) -> None:
        """Show nothing any more because of an error."""
        self._closed = True
        level = logging.DEBUG if self._told else logging.WARNING
        self._told = True
        words = " ".join(str(error).split())[:200] or type(error).__name__
        logger.log(level, "not shown in the UI, the files have it all: %s", words)


def _soon_again(question: Callable[[SyncPrefectClient], httpx.Response]) -> httpx.Response:
    """Ask, and again soon where the server had no room: the client repeats nothing here."""
    for wait in SOON:
        try:
            return question(our_client())
        except PrefectHTTPStatusError as error:
            if error.response.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
        time.sleep(wait)
    return question(our_client())
