"""The clients that ask Prefect's server: each repeats soon what SQLite had no room for."""

from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx
from prefect.client.orchestration import PrefectClient, SyncPrefectClient, get_client
from prefect.context import AsyncClientContext, SyncClientContext
from prefect.utilities.asyncutils import run_coro_as_sync

#: Waits before the first repetitions of what the server had no room for (s); the lock that another
#: writer holds on SQLite is free again after some ten milliseconds.
SOON = (0.02, 0.1, 0.5)
_TRIES = "benchyard_tries"


def our_client() -> SyncPrefectClient:
    """Return a client that repeats soon what met another writer; use it in a ``with``.

    All of ours are made here.
    """
    return _repeating(get_client(sync_client=True))


def _repeating(client: SyncPrefectClient) -> SyncPrefectClient:
    hooks = _hooks(client)
    if soon_again not in hooks:  # it may be the one of the flow run under way
        hooks.append(soon_again)
    return client


@contextmanager
def one_client() -> Generator[None]:
    """Let Prefect keep the asynchronous client that it would make anew for each child flow run.

    A new one reads all certificate authorities, which takes 23 ms of CPU also where nothing is
    encrypted, connects anew, and asks for a token that the server does not need. What meets
    another writer is repeated soon, by this client and by the synchronous one of the flow run.
    """
    context = AsyncClientContext()
    _hooks(context.client).append(_soon_again)
    synchronous = SyncClientContext.get()
    if synchronous is not None:
        _repeating(synchronous.client)
    # Where Prefect's own synchronous calls of its client work, and look for one of that loop.
    run_coro_as_sync(context.client.__aenter__())
    try:
        with context:
            yield
    finally:
        run_coro_as_sync(context.client.__aexit__(None, None, None))


def soon_again(response: httpx.Response) -> None:
    """Have the client repeat a request soon that met another writer, as a hook of responses.

    On SQLite a transaction that reads and then writes is refused at once when another one wrote
    between; the creation of a child flow run is one. The client would wait for 2 s. It does what a
    server asks for, so this asks; from the fourth time on it is left to itself.
    """
    if response.status_code != HTTPStatus.SERVICE_UNAVAILABLE or "Retry-After" in response.headers:
        return
    tries: int = response.request.extensions.get(_TRIES, 0)
    response.request.extensions[_TRIES] = tries + 1
    if tries < len(SOON):
        response.headers["Retry-After"] = str(SOON[tries])


async def _soon_again(response: httpx.Response) -> None:
    soon_again(response)


def _hooks(client: PrefectClient | SyncPrefectClient) -> list[Any]:
    # Prefect finds a client by its settings: with a hook among them it would make another one. What
    # it wraps has hooks of its own, but no public name.
    wrapped = client._client  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return wrapped.event_hooks["response"]
