"""One client for all that a flow run and its children ask Prefect's server from its event loop."""

from collections.abc import Generator
from contextlib import contextmanager

from prefect.context import AsyncClientContext
from prefect.utilities.asyncutils import run_coro_as_sync


@contextmanager
def one_client() -> Generator[None]:
    """Let Prefect keep the asynchronous client that it would make anew for each child flow run.

    A new one reads all certificate authorities, which takes 23 ms of CPU also where nothing is
    encrypted, connects anew, and asks for a token that the server does not need.
    """
    context = AsyncClientContext()
    # Where Prefect's own synchronous calls of its client work, and look for one of that loop.
    run_coro_as_sync(context.client.__aenter__())
    try:
        with context:
            yield
    finally:
        run_coro_as_sync(context.client.__aexit__(None, None, None))
