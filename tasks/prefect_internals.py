"""What flow runs and clients use of Prefect's inside, and what all of them have in common.

What the lab's processes need is in ``benchyard.lab.prefect_internals``; what must stand before
Prefect is imported, in ``tasks.trust`` (the way it is imported) and ``tasks.names`` (the variables
of its processes).
"""

from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import TypeVar

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.context import SyncClientContext
from prefect.settings import get_current_settings

T = TypeVar("T")
#: The server gives at most so many at once.
PAGE = 200


def ask_no_more() -> None:
    """Let each further request of this process fail at once, log lines included.

    Prefect repeats each for a minute: a command whose server was gone for good ended 140 s after
    it was given up, instead of some seconds. The settings themselves are changed, for clients and
    threads that are there already: Prefect's ``temporary_settings`` holds for a block of one
    thread.
    """
    settings = get_current_settings()
    settings.client.max_retries = 0
    settings.logging.to_api.enabled = False


#: Waits before the first repetitions of what the server had no room for (s); the lock that another
#: writer holds on SQLite is free again after some ten milliseconds.
SOON = (0.02, 0.1, 0.5)
_TRIES = "benchyard_tries"


def soon_again(response: httpx.Response) -> None:
    """Repeat a request that met another writer; a response hook of the client.

    On SQLite a transaction that reads and then writes is refused at once when another one wrote
    between; the creation of a child flow run is one. Prefect's client then waits for 2, 4, 8 … s,
    or for as long as a server asks it to: so this asks; from the fourth time on it is left to
    itself. In a suite of 40 cases in place 4 requests were refused, on a busier host about 14.
    """
    if response.status_code != HTTPStatus.SERVICE_UNAVAILABLE or "Retry-After" in response.headers:
        return
    tries: int = response.request.extensions.get(_TRIES, 0)
    response.request.extensions[_TRIES] = tries + 1
    if tries < len(SOON):
        response.headers["Retry-After"] = str(SOON[tries])


_REPEATING = {"event_hooks": {"response": [soon_again]}}


def shared_client() -> SyncClientContext:
    """Return a context whose flow runs share a client that repeats soon."""
    return SyncClientContext(httpx_settings=_REPEATING)


def our_client() -> SyncPrefectClient:
    """Return the client of the flow run under way, else one of our own; use it in a ``with``."""
    context = SyncClientContext.get()
    return context.client if context else get_client(_REPEATING, sync_client=True)


def each_of(ask: Callable[..., Sequence[T]]) -> Iterator[T]:
    """Yield all that the server has, page by page.

    Args:
        ask: Asks for one page; takes ``limit`` and ``offset``.
    """
    offset = 0
    while True:
        page = ask(limit=PAGE, offset=offset)
        yield from page
        if len(page) < PAGE:
            return
        offset += len(page)
