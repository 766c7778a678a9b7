"""What the lab's processes use of Prefect's inside: names that are private or undocumented.

Flow runs and clients have ``tasks.prefect_internals``; the order of events is in
``benchyard.lab.ordering``, which a setting names. Each docstring says what Prefect 3.8.8 does by
itself, and what that costs.

Modules of Prefect's server are imported where they are used: in a worker they would be 45 MB.
"""

import abc
import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from prefect.client.schemas.filters import FlowRunFilter
from prefect.context import refresh_global_settings_context
from prefect.utilities.processutils import command_to_string, get_sys_executable
from prefect.workers.process import ProcessWorker

from benchyard.core.errors import InputError
from benchyard.lab.state import flow_runs_labelled
from tasks.names import LAB
from tasks.trust import forbidden_variables, out_of_reach

if TYPE_CHECKING:
    import anyio.abc
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.objects import FlowRun
    from prefect.workers.process import ProcessJobConfiguration, ProcessWorkerResult
    from sqlalchemy.ext.asyncio import AsyncSession

#: Seconds between two tries while the server does not answer: of a worker, and at its start.
_PATIENCE, _FIRST_PATIENCE = 5.0, 2.0


def take_environment() -> None:
    """Let Prefect's settings be what the environment says now.

    Prefect reads it once, at its import. Without this a lab would ask the server of the shell that
    started it; ``temporary_settings`` holds for a block, and not for what that starts in threads.
    """
    with out_of_reach():
        refresh_global_settings_context()


# -- the server


def let_triggers_wait_for_writers() -> None:
    """Have the server's triggers begin their transactions with the right to write.

    Prefect's read first: SQLite refuses to let them write once another one wrote in between. The
    event is then taken again, and an automation that had acted on it acts twice; or, after four
    such refusals, never. Beside a busy host two of two alerts were wrong.
    """
    from prefect.server.database import provide_database_interface  # noqa: PLC0415 - see above
    from prefect.server.events import triggers  # noqa: PLC0415 - see above

    @asynccontextmanager
    async def writing_at_once(begin_transaction: bool = False) -> "AsyncGenerator[AsyncSession]":  # noqa: FBT001, FBT002 - as Prefect calls it
        sessions = provide_database_interface().session_context
        async with sessions(begin_transaction, with_for_update=begin_transaction) as session:
            yield session

    triggers.automations_session = writing_at_once  # pyright: ignore[reportPrivateImportUsage]


def give_time(automation: str, seconds: float) -> None:
    """Let each flow run that an automation watches have so much time from now, after an outage.

    Call it before the server starts. Prefect looks for missing events as soon as it is up again,
    before anybody could send one: it would take every flow run for dead that lived through an
    outage of a minute. When that happens it has in a table of its own (``AutomationBucket``).
    Nobody waits in a database that is not there yet.
    """
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415 - see above

    with suppress(DBAPIError, OSError):
        asyncio.run(_give_time(automation, seconds))


async def _give_time(automation: str, seconds: float) -> None:
    import sqlalchemy as sa  # noqa: PLC0415 - see above
    from prefect.server.database import provide_database_interface  # noqa: PLC0415 - see above

    db = provide_database_interface()
    buckets = db.AutomationBucket
    ours = sa.select(db.Automation.id).where(db.Automation.name == automation)
    latest = datetime.now(UTC) + timedelta(seconds=seconds)
    wait = sa.update(buckets).where(buckets.automation_id.in_(ours), buckets.end < latest)
    try:
        async with db.session_context(begin_transaction=True) as session:
            await session.execute(wait.values(end=latest))
    finally:
        await (await db.engine()).dispose()


# -- the worker


class DrainingWorker(ProcessWorker, abc.ABC):
    """A process worker that works until it is told to drain; then it finishes what it has.

    Prefect's own kills the flow runs under way when it is told to stop, and gives up after some
    minutes without a server, which kills them too. This one stops asking for more and waits. It
    also does not ask while it could take nothing: nothing of it is awake while a run is measured.

    Prefect takes a class that names ``ABC`` among its bases for an abstract one and does not put
    it into its registry, where it would replace Prefect's own.

    Args:
        query_seconds: Between two questions for flow runs.
        note: Takes a line for the log.
        options: Of Prefect's worker.
    """

    def __init__(
        self, *, query_seconds: float, note: Callable[[str], None], **options: Any
    ) -> None:
        super().__init__(**options)
        self._query_seconds = query_seconds
        self._note = note
        self._draining = asyncio.Event()
        self._changed = asyncio.Event()
        self._trouble: str | None = None
        self._forbidden: dict[UUID, list[str]] = {}
        self._under_way: set[UUID] = set()

    @property
    def draining(self) -> bool:
        """Whether it was told to drain."""
        return self._draining.is_set()

    def drain(self) -> None:
        """Take no further flow run, and return from ``work`` once those under way have ended."""
        self._draining.set()
        self._changed.set()

    async def until_it_works(self, action: Callable[[], object]) -> None:
        """Call the server, in a thread, until it takes it or draining was asked for."""
        while not (self.draining or await self._try(partial(asyncio.to_thread, action))):
            await self.wait_for_change(_FIRST_PATIENCE)

    async def work(self, beat: Callable[[], Awaitable[None]]) -> None:
        """Execute flow runs until drained.

        Args:
            beat: Called at each heartbeat, beside Prefect's own.
        """
        async with self:
            beating = asyncio.create_task(self._beat(beat))
            try:
                await self._ask_again_and_again()
                while self.limiter.borrowed_tokens:
                    await self.wait_for_change(None)
            finally:
                beating.cancel()

    async def _ask_again_and_again(self) -> None:
        while not self.draining:
            if not self.limiter.available_tokens:
                await self.wait_for_change(None)
                continue
            fine = await self._try(self.get_and_submit_flow_runs)
            await self.wait_for_change(self._query_seconds if fine else _PATIENCE)

    async def wait_for_change(self, seconds: float | None) -> None:
        """Wait until a flow run has ended or draining was asked for, at most ``seconds``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
            self._changed.clear()

    async def _beat(self, beat: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(self.heartbeat_interval_seconds)
            if await self._try(self.sync_with_backend):
                await self._try(beat)
                await self._try(self._stop_deleted)

    async def _stop_deleted(self) -> None:
        """Stop the flow runs that somebody deleted at the server while they ran, as Cancel does."""
        ours = FlowRunFilter.model_validate({"id": {"any_": [*self._under_way]}})
        known = {one.id for one in await self.client.read_flow_runs(flow_run_filter=ours)}
        for deleted in self._under_way - known:
            self._note(f"flow run {deleted} was deleted while it ran, and is stopped")
            self._under_way.discard(deleted)
            for one in await asyncio.to_thread(flow_runs_labelled, LAB, os.environ[LAB]):
                if one.id == str(deleted):
                    one.signal(signal.SIGTERM)

    async def _try(self, action: Callable[[], Awaitable[object]]) -> bool:
        """Call the server; say of trouble once, and once when it is over."""
        try:
            await action()
        except Exception as error:  # noqa: BLE001 - whatever the server does, what runs goes on
            trouble = f"{type(error).__name__}: {error}".partition("\n")[0]
            if trouble != self._trouble:
                self._note(f"the server makes trouble, it is tried again: {trouble}")
            self._trouble = trouble
            return False
        if self._trouble is not None:
            self._note("the server answers again")
            self._trouble = None
        return True

    async def _submit_run(self, flow_run: "FlowRun") -> None:
        """Begin a flow run; one that cannot begin must not end the others, as it would."""
        # Looked at now: Prefect takes variables out of it on the way to run().
        self._forbidden[flow_run.id] = forbidden_variables(flow_run.job_variables)
        try:
            await super()._submit_run(flow_run)
        except Exception as error:  # noqa: BLE001 - see above
            self._note(f"flow run {flow_run.id} did not begin: {type(error).__name__}: {error}")
            self._submitting_flow_run_ids.discard(flow_run.id)
            self._release_limit_slot(flow_run.id)
        finally:
            del self._forbidden[flow_run.id]

    async def run(
        self,
        flow_run: "FlowRun",
        configuration: "ProcessJobConfiguration",
        task_status: "anyio.abc.TaskStatus[int] | None" = None,
    ) -> "ProcessWorkerResult":
        """Execute a flow run, unless its job would choose what is executed here.

        Raises:
            InputError: If it would; Prefect puts the sentence into the flow run's state.
        """
        refused = self._forbidden[flow_run.id]
        own = command_to_string([get_sys_executable(), "-m", "prefect.engine"])
        if configuration.command != own:
            refused = sorted({"command", *refused})
        if refused:
            raise InputError(
                "this worker takes no job variables that choose what is executed, or how: "
                f"{', '.join(refused)}"
            )
        self._under_way.add(flow_run.id)
        try:
            return await super().run(flow_run, configuration, task_status)
        finally:
            self._under_way.discard(flow_run.id)

    async def _propose_crashed_state(
        self, flow_run: "FlowRun", message: str, client: "PrefectClient | None" = None
    ) -> None:
        """Report a crash once, and not one of an attempt that has been followed by another.

        Prefect reports a process that failed when it ends, and once more some seconds later, when
        all of it is cleared away: by then a retry may wait or run, and would be ended by that. So
        what has ended is left alone, too: a retry might come between the look and the report.
        """
        with suppress(Exception):  # a crash is reported whatever the server does here
            now = await self.client.read_flow_run(flow_run.id)
            if now.state is not None and (now.state.is_final() or _is_followed(flow_run, now)):
                return
        await super()._propose_crashed_state(flow_run, message, client)

    def _release_limit_slot(self, flow_run_id: UUID) -> None:
        super()._release_limit_slot(flow_run_id)
        self._changed.set()


def _is_followed(taken: "FlowRun", now: "FlowRun") -> bool:
    """Tell whether a flow run that a worker took has begun another attempt since."""
    if now.state is None:
        return False
    attempts = now.run_count - taken.run_count
    return now.state.is_scheduled() or attempts > (1 if now.state.is_running() else 0)
