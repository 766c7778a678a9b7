"""The process of the lab's Prefect server: uvicorn, and an ear for the lab's end."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from prefect.server.api.server import create_app
from prefect.server.database import provide_database_interface
from prefect.server.events import triggers
from sqlalchemy.ext.asyncio import AsyncSession

from benchyard.lab import lifeline
from benchyard.lab.guard import Guard
from benchyard.lab.heartbeats import after_outage
from tasks.names import LAB, ORIGINS

#: Seconds that open connections get at the end; browsers keep theirs for ever.
_FAREWELL = 3


@asynccontextmanager
async def _writing_at_once(begin_transaction: bool = False) -> AsyncGenerator[AsyncSession]:  # noqa: FBT001, FBT002 - as Prefect calls it
    """Open a session of the triggers, whose transaction waits for other writers as it begins.

    Prefect's reads first: SQLite refuses to let it write once another one wrote in between. The
    event is then taken again, and an automation that had acted on it acts twice; or, after four
    such refusals, never.
    """
    sessions = provide_database_interface().session_context
    async with sessions(begin_transaction, with_for_update=begin_transaction) as session:
        yield session


def main(host: str, port: int) -> None:
    """Serve Prefect's API and UI until the lab ends, and the flow runs that need it.

    Args:
        host: Address to bind.
        port: Of it.
    """
    after_outage()
    triggers.automations_session = _writing_at_once  # pyright: ignore[reportPrivateImportUsage]
    config = uvicorn.Config(
        Guard(create_app(), os.environ[ORIGINS].split(",")),
        host=host,
        port=port,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=_FAREWELL,
    )
    server = uvicorn.Server(config)

    def end() -> None:
        lifeline.wait_for_others(os.environ[LAB])
        server.should_exit = True

    lifeline.when_cut(end)
    server.run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
