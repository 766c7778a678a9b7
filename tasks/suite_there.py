"""The turns of a suite on the testbeds of a lab, each as a flow run of its deployment.

Prefect's queues bound what a testbed executes at once, and its workers tell which are alive. What a
queue cannot do is done here: choose by what a case requires, keep a case on one testbed, and move
what waits for a testbed that has gone.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import cast
from uuid import UUID, uuid4

import httpx
from prefect import State, get_run_logger
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment

from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.ordering import LONGEST, SHARE
from benchyard.suite.course import End, SuiteCourse, Taken, known_places
from benchyard.suite.plan import done_since
from benchyard.suite.request import SuiteRequest
from benchyard.suite.turn_records import Place
from tasks.events import report_in
from tasks.flow_run import flow_run_id, turn_end
from tasks.parameters import reference
from tasks.prefect_internals import our_client
from tasks.suite_testbeds import cancel, cancel_waiting, deployment_of, offer, testbeds_of

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


def execute_on_testbeds(request: SuiteRequest, course: SuiteCourse) -> str:
    """Execute a course on the testbeds of a pool; return why it was stopped, or nothing."""
    stop, suite = Event(), UUID(str(flow_run_id()))
    with our_client() as client:
        dispatcher = _Dispatcher(client, suite, request, course)
        cancel_waiting(client, suite, "a retry of its suite begins anew")
        try:
            with two_stage_ctrl_c(stop.set):
                while not stop.is_set() and dispatcher.has_more():
                    time.sleep(POLL_SECONDS)
        finally:
            if course.under_way:
                cancel_waiting(client, suite, "its suite was stopped")
    return "stopped by the user" if stop.is_set() else ""


class _Dispatcher:
    """Gives turns to testbeds, two to each at most, and hears how they end."""

    def __init__(
        self, client: SyncPrefectClient, suite: UUID, request: SuiteRequest, course: SuiteCourse
    ) -> None:
        self._client, self._suite = client, suite
        self._request, self._course = request, course
        self._pool = str(request.pool)
        self._deployment = deployment_of(client, self._pool).id
        self._used: dict[str, float] = {}
        self._there: Sequence[Place] = ()
        self._dead_since: dict[Place, float] = {}
        self._moved: set[int] = set()
        self._looked_at = -LOOK_SECONDS
        self._busy_at = time.monotonic()
        self._is_away = False

    def has_more(self) -> bool:
        """Do what can be done now, and tell whether that was not all.

        A server that is away is asked again.
        """
        try:
            self._look()
            self._hear()
            self._give()
        except httpx.HTTPError as error:
            if not self._is_away:
                get_run_logger().warning("the server does not answer, waiting for it: %s", error)
            self._is_away, self._busy_at = True, time.monotonic()
        else:
            self._is_away = False
        return bool(self._course.left or self._course.under_way)

    def _look(self) -> None:
        """See which testbeds are there."""
        now = time.monotonic()
        if now - self._looked_at >= LOOK_SECONDS:
            self._there, dead = testbeds_of(self._client, self._pool)
            self._dead_since = {place: self._dead_since.get(place, now) for place in dead}
            self._looked_at = now

    # -- giving

    def _give(self) -> None:
        course, now = self._course, time.monotonic()
        gone = [place for place, since in self._dead_since.items() if now - since >= GONE_SECONDS]
        course.give_up_on(gone, self._there)
        while taken := course.take(known_places(course, self._there)):
            try:
                self._begin(taken)
            except BaseException:
                if taken in course.under_way:
                    course.put_back(taken)
                raise
        if course.under_way:
            self._busy_at = now
        elif now - self._busy_at > PATIENCE_SECONDS:
            course.give_up([place for place in self._there if place.queue])

    def _begin(self, taken: Taken) -> None:
        try:
            taken.flow_run = str(self._created(taken).id)
        except httpx.HTTPStatusError as error:
            if error.response.status_code >= 500:
                raise
            self._course.end(taken, End.FAILED, f"Prefect refuses it: {error}")
            return
        # How long one of unknown length will have taken is not known: the longest rest is safe.
        length = self._course.seconds_of_run(taken.turn)
        self._used[taken.place.host] = LONGEST / SHARE if length is None else length

    def _created(self, taken: Taken) -> FlowRun:
        entry = self._course.entries[taken.turn.case]
        name = reference(entry.case, Path.cwd()) if entry.case else ""
        offer(self._client, self._deployment, name)
        child = replace(
            self._request.request_of_case(suite=str(self._suite)),
            case=name,
            runs=entry.wanted,
            only=taken.turn.runs,
            force=entry.again,
            rest_first=self._used.get(taken.place.host, 0.0),
            campaign=entry.campaign,
            # A turn is not yet a case: the last one compares all of them.
            baseline=self._request.baseline if self._course.ends_case(taken) else None,
        )
        made = run_deployment(  # pyright: ignore[reportUnknownVariableType] - two ways in one
            self._deployment,
            parameters=asdict(child),
            flow_run_name=entry.title,
            timeout=0,
            as_subflow=True,
            # The client may repeat a question whose answer was lost.
            idempotency_key=str(uuid4()),
            work_queue_name=taken.place.queue,
        )
        return cast("FlowRun", made)

    # -- hearing

    def _hear(self) -> None:
        under_way = {UUID(taken.flow_run): taken for taken in self._course.under_way}
        if not under_way:
            return
        chosen = FlowRunFilter.model_validate({"id": {"any_": [*under_way]}})
        found = {run.id: run for run in self._client.read_flow_runs(flow_run_filter=chosen)}
        for identity, taken in under_way.items():
            flow_run = found.get(identity)
            if flow_run is None or flow_run.state is None:
                self._course.end(taken, End.FAILED, "its flow run was deleted")
            elif flow_run.state.is_final():
                self._end(taken, flow_run, flow_run.state)
            elif flow_run.state.is_running():
                self._course.note_start(taken)
            elif self._is_stranded(taken.place, flow_run.state):
                cancel(self._client, identity, f"the testbed {taken.place.name} has gone")
                self._put_back(taken)
        if self._request.fail_fast and self._course.failed:
            cancel_waiting(self._client, self._suite, "a case failed, and that is the end")

    def _is_stranded(self, place: Place, state: State[object]) -> bool:
        """Tell whether nobody is there any more who would begin what a testbed was given."""
        if state.is_pending():
            return self._is_dead(place)
        there = {one.name for one in self._there}
        return state.is_scheduled() and bool(place.queue) and place.name not in there

    def _is_dead(self, place: Place) -> bool:
        return any(dead.name == place.name for dead in self._dead_since)

    def _put_back(self, taken: Taken) -> None:
        title = self._course.entries[taken.turn.case].title
        name = taken.place.name
        get_run_logger().warning("%s: the testbed %s has gone, another shall do it", title, name)
        self._course.put_back(taken)

    def _end(self, taken: Taken, flow_run: FlowRun, state: State[object]) -> None:
        ended = turn_end(state)
        results = self._course.entries[taken.turn.case].results
        seen = ()
        if ended.how is not End.DONE and results is not None:
            seen = done_since(results, taken.turn.runs, taken.began_at)
        silent = (state.message or "").startswith(_NO_HEARTBEAT)
        lost = state.is_crashed() and (silent or self._is_dead(taken.place))
        if lost and not seen and taken.number not in self._moved:
            self._moved.add(taken.number)
            self._put_back(taken)
            return
        took = flow_run.total_run_time.total_seconds()
        self._course.end(taken, ended.how, ended.why, seen, took, report_in(flow_run))
