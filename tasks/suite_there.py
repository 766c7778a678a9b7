"""The turns of a suite on the testbeds of a lab, each as a flow run of its deployment."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment

from benchyard.case.testbeds import Testbed
from benchyard.core.model import Case
from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.ordering import LONGEST, SHARE
from benchyard.suite.course import End, SuiteCourse, Taken, known_places
from benchyard.suite.plan import done_since
from benchyard.suite.request import SuiteRequest
from benchyard.suite.turn_records import Place
from tasks.events import report_in
from tasks.flow_run import flow_run_id, this_flow_run
from tasks.prefect_internals import our_client
from tasks.suite_testbeds import (
    Testbeds,
    cancel,
    cancel_waiting,
    deployment_of,
    is_waiting,
    offer,
    takes,
    testbeds_of,
)

#: Between two looks at the flow runs under way; the server is asked once for all of them.
POLL_SECONDS = 2.0
#: Between two looks at which testbeds are there.
LOOK_SECONDS = 20.0
#: How long a case waits for a testbed that meets it, once nothing else is under way.
PATIENCE_SECONDS = 600.0
#: How long a case waits for a dead testbed where no other will do: a worker that only lost its
#: server is heard of again by then.
GONE_SECONDS = 60.0
#: How the message begins with which the lab's automation ends what has lost its host.
_NO_HEARTBEAT = "no heartbeat"

#: Return how a deployment's parameter names a case that lies below a checkout.
Reference = Callable[[Case, Path], str]


def conduct_there(reference: Reference) -> Callable[[SuiteRequest, SuiteCourse], str]:
    """Return what executes a course on the testbeds of the request's pool."""

    def conduct(request: SuiteRequest, course: SuiteCourse) -> str:
        with our_client() as client:
            return _Dispatcher(client, request, course, reference).work()

    return conduct


class _Dispatcher:
    """Gives turns to testbeds, two to each at most, and hears how they end."""

    def __init__(
        self,
        client: SyncPrefectClient,
        request: SuiteRequest,
        course: SuiteCourse,
        reference: Reference,
    ) -> None:
        self._client, self._request, self._course = client, request, course
        self._pool = request.pool or ""
        self._suite = this_flow_run()
        self._deployment = deployment_of(client, self._pool)
        here = Path.cwd()
        cases = [entry.case for entry in course.entries]
        self._names = ["" if case is None else reference(case, here) for case in cases]
        self._children: dict[int, UUID] = {}
        self._used: dict[str, float] = {}
        self._tries = 0
        self._testbeds = Testbeds()
        self._places: Sequence[Place] = ()
        self._dead_since: dict[str, float] = {}
        self._moved: set[int] = set()
        self._looked_at = -LOOK_SECONDS
        self._idle_since: float | None = None
        self._trouble = ""
        self._asked = False

    def work(self) -> str:
        """Give all turns away and wait for their ends; return why it was stopped, or nothing."""
        self._cancel_waiting("a retry of its suite begins anew")
        self._offer()
        try:
            with two_stage_ctrl_c(self._ask):
                while not self._asked and (self._course.left or self._course.under_way):
                    self._try_step()
                    if self._course.left or self._course.under_way:
                        self._rest()
        finally:
            if self._course.under_way:
                self._cancel_waiting("its suite was stopped")
        return "stopped by the user" if self._asked else ""

    def _ask(self) -> None:
        self._asked = True

    def _rest(self) -> None:
        until = time.monotonic() + POLL_SECONDS
        while not self._asked and time.monotonic() < until:
            time.sleep(0.1)

    def _try_step(self) -> None:
        """Do what can be done now; a server that is away is asked again."""
        try:
            self._look()
            self._hear()
            self._give()
        except httpx.HTTPError as error:
            if not self._trouble:
                get_run_logger().warning("the server does not answer, waiting for it: %s", error)
            self._trouble = str(error)
        else:
            self._trouble = ""

    # -- giving

    def _look(self) -> None:
        """See which testbeds are there."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        seen = testbeds_of(self._client, self._pool)
        self._places = seen.there or ([Place("", Testbed(""))] if seen.untold else [])
        self._dead_since = {
            place.name: self._dead_since.get(place.name, now) for place in seen.dead
        }
        self._testbeds, self._looked_at = seen, now

    def _gone(self) -> list[Place]:
        """Return the dead testbeds that do not come back."""
        before = time.monotonic() - GONE_SECONDS
        return [one for one in self._testbeds.dead if self._dead_since[one.name] <= before]

    def _give(self) -> None:
        course = self._course
        course.give_up_on(self._gone(), self._places)
        while taken := course.take(known_places(course, self._places)):
            try:
                self._begin(taken)
            except BaseException:
                if taken in course.under_way:
                    course.put_back(taken)
                raise
        if course.under_way or not course.left:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since > PATIENCE_SECONDS:
            course.give_up([place for place in self._places if place.queue])

    def _begin(self, taken: Taken) -> None:
        try:
            self._children[taken.number] = self._create(taken)
        except httpx.HTTPStatusError as error:
            if error.response.status_code >= 500:
                raise
            self._offer()  # somebody deployed anew meanwhile
            try:
                self._children[taken.number] = self._create(taken)
            except httpx.HTTPStatusError as again:
                self._course.end(taken, End.FAILED, f"Prefect refuses it: {again}")
                return
        taken.flow_run = str(self._children[taken.number])
        # How long one of unknown length will have taken is not known: the longest rest is safe.
        length = self._course.seconds_of_run(taken.turn)
        self._used[taken.place.host] = LONGEST / SHARE if length is None else length

    def _create(self, taken: Taken) -> UUID:
        entry = self._course.entries[taken.turn.case]
        name = self._names[taken.turn.case]
        rest = self._used.get(taken.place.host, 0.0)
        child = replace(
            self._request.request_of_case(suite=flow_run_id()),
            case=name,
            runs=entry.wanted,
            only=taken.turn.runs,
            force=entry.again,
            rest_first=rest,
            campaign=entry.campaign,
            # A turn is not yet a case: the last one compares all of them.
            baseline=self._request.baseline if self._course.ends_case(taken) else None,
        )
        self._tries += 1
        made = run_deployment(  # pyright: ignore[reportUnknownVariableType] - two ways in one
            self._deployment.id,
            parameters=takes(self._deployment, asdict(child)),
            flow_run_name=entry.title,
            timeout=0,
            as_subflow=True,
            idempotency_key=f"{self._suite.get('id')}:{self._suite.get('attempt')}:{self._tries}",
            work_queue_name=taken.place.queue,
        )
        return cast("FlowRun", made).id

    def _offer(self) -> None:
        wanted = [
            name
            for name, entry in zip(self._names, self._course.entries, strict=True)
            if entry.runs
        ]
        offer(self._client, self._deployment, wanted)

    # -- hearing

    def _hear(self) -> None:
        under_way = list(self._course.under_way)
        if not under_way:
            return
        ids = [self._children[taken.number] for taken in under_way]
        chosen = FlowRunFilter.model_validate({"id": {"any_": ids}})
        found = {run.id: run for run in self._client.read_flow_runs(flow_run_filter=chosen)}
        for taken in under_way:
            flow_run = found.get(self._children[taken.number])
            if flow_run is None or flow_run.state is None:
                self._course.end(taken, End.FAILED, "its flow run was deleted")
            elif flow_run.state.is_final():
                self._end(taken, flow_run)
            elif flow_run.state.is_running():
                self._course.note_start(taken)
            elif self._is_stranded(taken, flow_run):
                cancel(self._client, flow_run.id, f"the testbed {taken.place.name} has gone")
                self._put_back(taken)

    def _is_stranded(self, taken: Taken, flow_run: FlowRun) -> bool:
        """Tell whether nobody is there any more who would begin a flow run."""
        name = taken.place.name
        if flow_run.state is not None and flow_run.state.is_pending():
            return name in self._dead_since
        known = {place.name for place in self._places}
        return is_waiting(flow_run) and bool(taken.place.queue) and name not in known

    def _put_back(self, taken: Taken) -> None:
        title = self._course.entries[taken.turn.case].title
        name = taken.place.name
        get_run_logger().warning("%s: the testbed %s has gone, another shall do it", title, name)
        self._course.put_back(taken)

    def _end(self, taken: Taken, flow_run: FlowRun) -> None:
        state = flow_run.state
        assert state is not None  # noqa: S101 - asked just before
        took = flow_run.total_run_time.total_seconds()
        report = report_in(flow_run)
        if state.is_completed():
            self._course.end(taken, End.DONE, took=took, report=report)
            return
        results = self._course.entries[taken.turn.case].results
        seen = () if results is None else done_since(results, taken.turn.runs, taken.began_at)
        if not seen and taken.number not in self._moved and self._lost_its_host(taken, flow_run):
            self._moved.add(taken.number)
            self._put_back(taken)
            return
        end = End.CANCELLED if state.is_cancelled() else End.FAILED
        why = f"{state.name}: {state.message}" if state.message else str(state.name)
        self._course.end(taken, end, why, seen, took, report)

    def _lost_its_host(self, taken: Taken, flow_run: FlowRun) -> bool:
        """Tell whether a flow run has crashed because its host did, and not only its process."""
        state = flow_run.state
        if state is None or not state.is_crashed():
            return False
        silent = (state.message or "").startswith(_NO_HEARTBEAT)
        return silent or taken.place.name in self._dead_since

    def _cancel_waiting(self, why: str) -> None:
        suite = self._suite.get("id")
        if suite:
            cancel_waiting(self._client, UUID(str(suite)), why)
