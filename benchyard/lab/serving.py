"""The process of the lab's Prefect server: uvicorn, and an ear for the lab's end."""

import os
import sys

import uvicorn
from prefect.server.api.server import create_app

from benchyard.lab.guard import OriginGuard
from benchyard.lab.prefect_internals import give_time, let_triggers_wait_for_writers
from benchyard.lab.state import wait_for_others, when_cut
from tasks.names import HEARTBEATS, LAB, ORIGINS, WITHIN_SECONDS

#: Seconds that open connections get at the end; browsers keep theirs for ever.
_FAREWELL = 3


def main(host: str, port: int) -> None:
    """Serve Prefect's API and UI until the lab ends, and the flow runs that need it.

    Args:
        host: Address to bind.
        port: Of it.
    """
    give_time(HEARTBEATS, WITHIN_SECONDS)
    let_triggers_wait_for_writers()
    config = uvicorn.Config(
        OriginGuard(create_app(), os.environ[ORIGINS].split(",")),
        host=host,
        port=port,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=_FAREWELL,
    )
    server = uvicorn.Server(config)

    def end() -> None:
        wait_for_others(os.environ[LAB])
        server.should_exit = True

    when_cut(end)
    server.run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
