"""What flow runs and clients use of Prefect's inside: names that are private or undocumented.

All of it is here, but for what the lab's processes need (``benchyard.lab.prefect_internals``) and
what must stand before Prefect is imported: the way it is imported (``tasks.trust``), the variables
of its processes (``tasks.names``), the program of a temporary server (``benchyard.lab.server``).
Each docstring says what Prefect 3.8.8 does by itself, and what that would cost. Beside it
stands what all tasks have in common: their options, and the clients that ask the server.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypedDict, TypeVar
from uuid import UUID

import httpx
from prefect import State
from prefect.cache_policies import NO_CACHE, CachePolicy
from prefect.client.orchestration import PrefectClient, SyncPrefectClient, get_client
from prefect.context import (
    AsyncClientContext,
    FlowRunContext,
    SettingsContext,
    SyncClientContext,
)
from prefect.futures import PrefectFuture
from prefect.settings import get_current_settings
from prefect.utilities.asyncutils import run_coro_as_sync

#: Waits before the first repetitions of what the server had no room for (s); the lock that another
#: writer holds on SQLite is free again after some ten milliseconds.
SOON = (0.02, 0.1, 0.5)
_TRIES = "benchyard_tries"


# -- clients


def repeat_soon(client: SyncPrefectClient) -> None:
    """Have a client repeat soon what met another writer.

    By itself it waits 2 s: a case of a suite in place took 0.62 s on average, and 0.41 s since.
    Prefect finds a client by its settings: with a hook among them it would make another one. The
    client of httpx that it wraps (``_client``) has hooks of its own, but no public name.
    """
    hooks = _hooks(client)
    if soon_again not in hooks:  # it may be the one of the flow run under way
        hooks.append(soon_again)


def soon_again(response: httpx.Response) -> None:
    """Repeat a request that met another writer; a response hook of the client.

    On SQLite a transaction that reads and then writes is refused at once when another one wrote
    between; the creation of a child flow run is one. The client waits for as long as a server asks
    it to, so this asks; from the fourth time on it is left to itself.
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
    return client._client.event_hooks["response"]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


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
        repeat_soon(synchronous.client)
    # Where Prefect's own synchronous calls of its client work, and look for one of that loop.
    run_coro_as_sync(context.client.__aenter__())
    try:
        with context:
            yield
    finally:
        run_coro_as_sync(context.client.__aexit__(None, None, None))


@contextmanager
def without_repetitions() -> Generator[None]:
    """Let Prefect's client try everything once; by itself it tries for about a minute.

    Prefect's own ``temporary_settings`` reads all settings anew: 0.1 s of CPU each time, 0.6 s a
    case.
    """
    context = SettingsContext.get()
    if context is None:
        yield
        return
    client = context.settings.client.model_copy(update={"max_retries": 0})
    settings = context.settings.model_copy(update={"client": client})
    with SettingsContext(profile=context.profile, settings=settings):
        yield


def ask_no_more() -> None:
    """Let each further request of this process fail at once, log lines included.

    Prefect repeats each for a minute: a command whose server is gone for good took five minutes
    to end. The settings themselves are changed, for clients and threads that are there already.
    """
    settings = get_current_settings()
    settings.client.max_retries = 0
    settings.logging.to_api.enabled = False


# -- task runs


class EndedFuture(PrefectFuture[Any]):
    """The future of a task run that has ended, such as a failed one, which returned nothing.

    Prefect draws an edge from what a task run is told to wait for. A future it asks for its state;
    a state it searches field by field, several times a task run, with a question to an event loop
    of another thread. With futures, and plain objects for what completed (``StageCall``), the gap
    between two steps is 14.1 ms instead of 19.9 ms.
    """

    def __init__(self, state: State[Any]) -> None:
        task_run_id = state.state_details.task_run_id
        if task_run_id is None:
            raise ValueError(f"{state} is not the state of a task run")
        self._task_run_id = task_run_id
        self._state = state

    @property
    def task_run_id(self) -> UUID:
        """Whose end it was."""
        return self._task_run_id

    @property
    def state(self) -> State[Any]:
        """How it ended."""
        return self._state

    def wait(self, timeout: float | None = None) -> None:
        """Return at once."""

    def result(self, timeout: float | None = None, raise_on_failure: bool = True) -> Any:  # noqa: ARG002, FBT001, FBT002 - Prefect's signature
        """Return what the task returned, or raise what it raised."""
        return self._state.result(raise_on_failure=raise_on_failure)

    def add_done_callback(self, fn: Callable[[PrefectFuture[Any]], None]) -> None:
        """Call it at once."""
        fn(self)


def forget_results() -> None:
    """Drop what Prefect keeps of each task run until its flow run ends: nothing here needs it.

    Together with records that leave memory, this took a run from 43 kB to 10 kB (200 runs of two
    steps).
    """
    context = FlowRunContext.get()
    if context is not None:
        context.run_results.clear()
        context.task_run_assets.clear()


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


class _Options(TypedDict):
    cache_policy: CachePolicy
    persist_result: bool


#: A measurement is never answered from a cache, and a live session is never stored.
UNCACHED = _Options(cache_policy=NO_CACHE, persist_result=False)
