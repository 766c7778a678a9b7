"""The clients with which we ask Prefect's server, and all pages of an answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from prefect.client.orchestration import SyncPrefectClient, get_client

from tasks.prefect_internals import repeat_soon

T = TypeVar("T")
#: The server gives at most so many at once.
PAGE = 200


def our_client() -> SyncPrefectClient:
    """Return a client that repeats soon what met another writer; use it in a ``with``.

    All of ours are made here.
    """
    client = get_client(sync_client=True)
    repeat_soon(client)
    return client


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
