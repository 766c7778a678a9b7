"""The process of one worker of a lab: it begins flow runs, and ends when the lab does.

SIGTERM, SIGINT and the end of the lab all mean the same to it: take nothing more, wait for what
is under way. Only the flow runs themselves can be stopped, through Prefect.
"""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from prefect.variables import Variable

from benchyard.case.testbeds import this_testbed
from benchyard.core.clock import now
from benchyard.core.model import JsonObject
from benchyard.core.wording import printable
from benchyard.lab.prefect_internals import DrainingWorker
from benchyard.lab.state import flow_runs_here, flow_runs_labelled, when_cut
from benchyard.process.labels import kill_leftovers
from tasks import pools
from tasks.names import DEFAULT_QUEUE, TESTBED, TESTBEDS, variable_of
from tasks.prefect_internals import our_client

#: Between two looks while a flow run of an earlier worker is still under way.
_LOOK_SECONDS = 5.0
#: A testbed says that it is still there at every so many heartbeats.
_TELL_EVERY = 10
#: At this heartbeat, which is a minute after the start, flow runs that a dead worker took and
#: forgot are looked for: those taken longer ago than any worker needs to put its name on one.
_FORGOTTEN_BEATS = 2
_FORGOTTEN = timedelta(seconds=45)
#: Prefect asks every 10 s; a suite of short cases would mostly wait for a testbed. Nothing is asked
#: while a testbed is busy, so that this costs only an idle host something. The control worker asks
#: while something is measured, and each question costs the server 20 ms.
_TESTBED_QUERY_SECONDS, _OTHERS_QUERY_SECONDS = 2.0, 10.0


def note(text: str) -> None:
    """Write a line to the part's log."""
    sys.stderr.write(f"{now()} {printable(text)}\n")
    sys.stderr.flush()


def query_seconds(pool: str) -> float:
    """Return how often a worker of a pool asks for flow runs."""
    usual = _TESTBED_QUERY_SECONDS if pool == TESTBEDS else _OTHERS_QUERY_SECONDS
    return float(os.environ.get("PREFECT_WORKER_QUERY_SECONDS") or usual)


class Working:
    """One worker's life.

    Args:
        pool: Work pool.
        queues: Queues of it; of a testbed its own comes first.
        name: Of the worker, and of the testbed if it serves one.
        limit: Flow runs at a time.
    """

    def __init__(self, pool: str, queues: list[str], name: str, limit: int) -> None:
        self._pool, self._queues, self._name, self._limit = pool, queues, name, limit
        self._testbed = os.environ.get(TESTBED) if pool == TESTBEDS else None
        self._beats = 0

    async def live(self) -> None:
        """Prepare, work until told to end, take leave."""
        loop = asyncio.get_running_loop()
        worker = DrainingWorker(
            work_pool_name=self._pool,
            work_queues=self._queues,
            name=self._name,
            limit=self._limit,
            query_seconds=query_seconds(self._pool),
            note=note,
        )
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, worker.drain)
        when_cut(lambda: loop.call_soon_threadsafe(worker.drain))
        await self._prepare(worker)
        if not worker.draining:
            note(f"worker '{self._name}' takes flow runs of {self._pool}: {self._queues}")
            await worker.work(self._beat)
        await self._leave()
        note(f"worker '{self._name}' has ended")

    async def _prepare(self, worker: DrainingWorker) -> None:
        """Wait for what an earlier worker began; close what it lost; say who is here."""
        if self._testbed is not None:
            killed = kill_leftovers()
            if killed:
                note(f"killed processes that a dead lab had left: {killed}")
            while flow_runs_labelled(TESTBED, self._testbed) and not worker.draining:
                await worker.wait_for_change(_LOOK_SECONDS)
        await worker.until_it_works(self._close_lost)
        await worker.until_it_works(self._tell)

    def _close_lost(self) -> None:
        with our_client() as client:
            pools.ensure_pools(client)
            for text in pools.close_lost(client, self._name, self._pool, flow_runs_here()):
                note(text)

    def _tell(self) -> None:
        if self._testbed is None:
            return
        queue = next((queue for queue in self._queues if queue != DEFAULT_QUEUE), DEFAULT_QUEUE)
        told: JsonObject = {**this_testbed().to_json(), "queue": queue, "seen": now()}
        with our_client() as client:
            if queue != DEFAULT_QUEUE:
                pools.ensure_queue(client, queue)
        Variable.set(variable_of(self._testbed), told, tags=["benchyard"], overwrite=True)

    async def _beat(self) -> None:
        self._beats += 1
        if self._beats == _FORGOTTEN_BEATS:
            await asyncio.to_thread(self._reschedule_forgotten)
        if self._beats % _TELL_EVERY == 0:
            await asyncio.to_thread(self._tell)

    def _reschedule_forgotten(self) -> None:
        """Once, some time after the start: only a worker that died forgets, and this came after."""
        with our_client() as client:
            before = datetime.now(UTC) - _FORGOTTEN
            for text in pools.reschedule_forgotten(client, self._pool, before):
                note(text)

    async def _leave(self) -> None:
        if self._testbed is None:
            return
        try:
            await asyncio.to_thread(Variable.unset, variable_of(self._testbed))
        except Exception as error:  # noqa: BLE001 - nobody is left to be told
            note(f"could not take leave: {error}")


def main(arguments: list[str]) -> Any:
    """Live the life of a worker: pool, name, limit, queues."""
    pool, name, limit, *queues = arguments
    return asyncio.run(Working(pool, queues, name, int(limit)).live())


if __name__ == "__main__":
    main(sys.argv[1:])
