"""The turns of a suite on the testbeds of a lab, each a flow run of the deployment.

Prefect's work queues bound what a testbed executes at a time, and its workers' states tell which
testbeds are online. The rest is done here, in one loop that polls the server: choose a testbed by
what a case requires, keep a case on one testbed, and move what waits for one that is offline.
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
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment

from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.ordering import LONGEST, SHARE
from benchyard.suite.course import End, SuiteCourse, Taken
from benchyard.suite.plan import done_since
from benchyard.suite.request import SuiteRequest
from benchyard.suite.turn_records import Place
from tasks.events import report_in
from tasks.flow_run import flow_run_id, turn_end
from tasks.parameters import reference
from tasks.pools import flow_runs
from tasks.prefect_internals import our_client
from tasks.suite_testbeds import cancel, cancel_waiting, deployment_of, offer, testbeds_of

#: Between two polls of the flow runs under way (s), one request for all of them.
POLL_SECONDS = 2.0
#: Between two polls of which testbeds are online (s).
LOOK_SECONDS = 20.0
#: How long a case waits for a testbed that meets its requirements, once no turn is under way (s).
PATIENCE_SECONDS = 600.0
#: How long a case waits for an offline testbed where no other meets its requirements (s): a worker
#: that only lost its connection is online again by then.
GONE_SECONDS = 60.0
#: How the state's message begins where the lab's automation ended a flow run (``automations``).
_NO_HEARTBEAT = "no heartbeat"


def execute_on_testbeds(request: SuiteRequest, course: SuiteCourse) -> str:
    """Execute the turns of a suite on the testbeds of a pool; return why it was stopped, or ""."""
    stop, suite = Event(), UUID(str(flow_run_id()))
    with our_client() as client:
        dispatcher = _Dispatcher(client, suite, request, course)
        cancel_waiting(client, suite, "a retry of its suite begins anew")
        try:
            with two_stage_ctrl_c(stop.set):
                while not stop.is_set() and dispatcher.poll():
                    time.sleep(POLL_SECONDS)
        finally:
            if course.under_way:
                cancel_waiting(client, suite, "its suite was stopped")
    return "stopped by the user" if stop.is_set() else ""


class _Dispatcher:
    """Submits turns to testbeds, two to each at most, and follows their flow runs."""

    def __init__(
        self, client: SyncPrefectClient, suite: UUID, request: SuiteRequest, course: SuiteCourse
    ) -> None:
        self._client, self._suite = client, suite
        self._request, self._course = request, course
        self._pool = str(request.pool)
        self._deployment = deployment_of(client, self._pool).id
        self._seconds_of_last_turn: dict[str, float] = {}
        self._online: Sequence[Place] = ()
        self._offline_since: dict[Place, float] = {}
        self._moved: set[int] = set()
        self._testbeds_read_at = -LOOK_SECONDS
        self._last_busy_at = time.monotonic()
        self._server_is_away = False

    def poll(self) -> bool:
        """Follow the flow runs, submit what testbeds can take; tell whether turns are left.

        A server that is away is polled again by the next call.
        """
        try:
            self._follow()
            self._read_testbeds()
            self._submit_turns()
        except httpx.HTTPError as error:
            if not self._server_is_away:
                get_run_logger().warning("the server does not answer, waiting for it: %s", error)
            self._server_is_away, self._last_busy_at = True, time.monotonic()
        else:
            self._server_is_away = False
        return bool(self._course.left or self._course.under_way)

    def _read_testbeds(self) -> None:
        now = time.monotonic()
        if now - self._testbeds_read_at >= LOOK_SECONDS:
            self._online, offline = testbeds_of(self._client, self._pool)
            since = self._offline_since
            self._offline_since = {place: since.get(place, now) for place in offline}
            self._testbeds_read_at = now

    # -- submitting

    def _submit_turns(self) -> None:
        course, now = self._course, time.monotonic()
        gone = [
            place for place, since in self._offline_since.items() if now - since >= GONE_SECONDS
        ]
        course.give_up_on(gone, self._online)
        while taken := course.take(course.known_places(self._online)):
            try:
                self._submit(taken)
            except BaseException:
                if taken in course.under_way:
                    course.put_back(taken)
                raise
        if course.under_way:
            self._last_busy_at = now
        elif now - self._last_busy_at > PATIENCE_SECONDS:
            course.give_up([place for place in self._online if place.queue])

    def _submit(self, taken: Taken) -> None:
        try:
            taken.flow_run = str(self._create_flow_run(taken).id)
        except httpx.HTTPStatusError as error:
            if error.response.status_code >= 500:
                raise
            self._course.end(taken, End.FAILED, f"Prefect refuses it: {error}")
            return
        # Before the next turn the host rests by what this one takes; if unknown, as long as any.
        length = self._course.seconds_of_run(taken.turn)
        self._seconds_of_last_turn[taken.place.host] = LONGEST / SHARE if length is None else length

    def _create_flow_run(self, taken: Taken) -> FlowRun:
        entry = self._course.entries[taken.turn.case]
        name = reference(entry.case, Path.cwd()) if entry.case else ""
        offer(self._client, self._deployment, name)
        child = replace(
            self._request.request_of_case(suite=str(self._suite)),
            case=name,
            runs=entry.wanted,
            only=taken.turn.runs,
            force=entry.again,
            rest_first=self._seconds_of_last_turn.get(taken.place.host, 0.0),
            campaign=entry.campaign,
            control=not self._request.no_control,
            # The last turn of a case compares all runs of it.
            baseline=self._request.baseline if self._course.ends_case(taken) else None,
        )
        flow_run = run_deployment(  # pyright: ignore[reportUnknownVariableType] - sync and async
            self._deployment,
            parameters=asdict(child),
            flow_run_name=entry.title,
            timeout=0,
            as_subflow=True,
            # The client may repeat a request whose answer was lost.
            idempotency_key=str(uuid4()),
            work_queue_name=taken.place.queue,
        )
        return cast("FlowRun", flow_run)

    # -- following

    def _follow(self) -> None:
        under_way = {UUID(taken.flow_run): taken for taken in self._course.under_way}
        if not under_way:
            return
        found = {run.id: run for run in flow_runs(self._client, id={"any_": [*under_way]})}
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
        """Tell whether no worker is left to begin a flow run that a testbed was given."""
        if state.is_pending():
            return self._is_offline(place)
        online = {one.name for one in self._online}
        return state.is_scheduled() and bool(place.queue) and place.name not in online

    def _is_offline(self, place: Place) -> bool:
        return any(one.name == place.name for one in self._offline_since)

    def _put_back(self, taken: Taken) -> None:
        title = self._course.entries[taken.turn.case].title
        name = taken.place.name
        get_run_logger().warning("%s: the testbed %s has gone, another shall do it", title, name)
        self._course.put_back(taken)
        self._testbeds_read_at = -LOOK_SECONDS  # whoever comes next may have gone as well

    def _end(self, taken: Taken, flow_run: FlowRun, state: State[object]) -> None:
        ended = turn_end(state)
        results = self._course.entries[taken.turn.case].results
        seen = ()
        if ended.how is not End.DONE and results is not None:
            seen = done_since(results, taken.turn.runs, taken.began_at)
        silent = (state.message or "").startswith(_NO_HEARTBEAT)
        lost = state.is_crashed() and (silent or self._is_offline(taken.place))
        if lost and not seen and taken.number not in self._moved:
            self._moved.add(taken.number)
            self._put_back(taken)
            return
        took = flow_run.total_run_time.total_seconds()
        self._course.end(taken, ended.how, ended.why, seen, took, report_in(flow_run))
