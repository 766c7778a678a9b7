"""Keep a lab up, then stop it: flow runs under way may finish, are cancelled, or are killed."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.settings import (
    PREFECT_API_REQUEST_TIMEOUT,
    PREFECT_CLIENT_MAX_RETRIES,
    temporary_settings,
)
from prefect.states import Cancelled, Cancelling

from benchyard.core.quantity import duration
from benchyard.lab.lab import Lab, kill_lab
from benchyard.lab.state import FlowProcess, flow_runs_labelled
from benchyard.lab.supervisor import Requests, listening
from benchyard.process.labels import this_owner
from tasks.names import LAB
from tasks.pools import close_flow_run
from tasks.prefect_internals import our_client

#: Seconds that a cancelled flow run gets to stop its resources before it is told directly, and
#: then before it is killed. Prefect itself kills 30 s after it has told it.
CANCEL_SECONDS = 40.0
TERMINATE_SECONDS = 20.0
#: Seconds for a part to end once nothing needs it any more.
_PART_SECONDS = 10.0
#: For one request to the API, which may be gone already: seconds, and how often it is repeated.
_SOON: dict[Any, Any] = {PREFECT_API_REQUEST_TIMEOUT: 5.0, PREFECT_CLIENT_MAX_RETRIES: 1}
_LOOK_SECONDS = 1.0
_SUITE = "execute-suite"
_MESSAGE = "stopped together with the lab on its host; a retry goes on where it ended"

ResultT = TypeVar("ResultT")


def keep_up(lab: Lab, ready: Callable[[], None], deadline: float | None) -> bool:
    """Keep a lab up until the user asks for the end; then stop it.

    Args:
        ready: Called when signals mean what they mean from now on.
        deadline: Seconds that flow runs under way get at a SIGTERM; None for no limit.

    Returns:
        Whether the flow runs under way could finish.
    """
    with listening() as requests:
        ready()
        lab.keep_up(requests)
        lab.say("stopping")
        finished = Shutdown(lab, requests, deadline if requests.by_machine else None).let_down()
    lab.say("stopped")
    return finished


class Shutdown:
    """The end of a lab.

    Args:
        requests: A second one stops the flow runs under way, a third one kills them.
        deadline: Seconds after which they are stopped all the same; None for never.
    """

    def __init__(self, lab: Lab, requests: Requests, deadline: float | None) -> None:
        self._lab = lab
        self._requests = requests
        self._latest = None if deadline is None else time.monotonic() + deadline
        self._told: set[str] = set()

    def let_down(self) -> bool:
        """End everything; return whether the flow runs under way could finish."""
        workers = self._lab.workers
        for worker in workers:
            worker.again_at = None
            worker.cut()
        finished = True
        while (under_way := _under_way()) or any(worker.alive for worker in workers):
            self._keep_server()
            if self._is_time():
                finished = not under_way
                self._stop(under_way)
                break
            self._tell(under_way)
            self._cancel_suites(under_way)
            self._requests.sleep(_LOOK_SECONDS)
        self._end_parts()
        return finished

    def _keep_server(self) -> None:
        """Start the server again if it died: what is under way reports to it."""
        if self._lab.server is not None:
            self._lab.see_to([self._lab.server])

    def _is_time(self) -> bool:
        late = self._latest is not None and time.monotonic() > self._latest
        return late or self._requests.count > 1

    def _tell(self, under_way: Sequence[FlowProcess]) -> None:
        """Say once of each what is waited for."""
        fresh = [one for one in under_way if one.id not in self._told]
        self._told |= {one.id for one in fresh}
        for one in fresh:
            going = duration(round(one.seconds()))
            self._lab.say(
                f"waiting for {self._name(one)} to finish, which has been going for {going}; "
                "Ctrl-C again stops it"
            )

    def _name(self, one: FlowProcess) -> str:
        flow = one.flow or "a flow run"
        name = _asked(lambda client: client.read_flow_run(UUID(one.id)).name)
        return f"{flow} '{name}'" if name else f"{flow} (pid {one.pid})"

    def _cancel_suites(self, under_way: Sequence[FlowProcess]) -> None:
        """Cancel suites when nothing else is under way: they wait for work that nobody takes."""
        if under_way and all(one.flow == _SUITE for one in under_way):
            for one in under_way:
                if f"cancelled {one.id}" not in self._told:
                    self._told.add(f"cancelled {one.id}")
                    self._lab.say("the suite is cancelled: its next cases would wait here")
                    _ask_to_cancel(one)

    # -- stopping now

    def _stop(self, under_way: Sequence[FlowProcess]) -> None:
        asked = self._requests.count
        for one in under_way:
            self._lab.say(f"stopping {self._name(one)}; Ctrl-C again kills it")
            _ask_to_cancel(one)
        self._wait_until_gone(CANCEL_SECONDS, asked)
        _signal(signal.SIGTERM)
        self._wait_until_gone(TERMINATE_SECONDS, asked)
        _signal(signal.SIGKILL)
        self._wait_until_gone(_PART_SECONDS, None)
        for one in under_way:
            _asked(lambda client, one=one: _end_as_cancelled(client, UUID(one.id)))

    def _wait_until_gone(self, seconds: float, asked: int | None) -> None:
        """Wait until no flow run is under way and its worker has told the server so."""
        latest = time.monotonic() + seconds
        while time.monotonic() < latest:
            workers = any(worker.alive for worker in self._lab.workers)
            hurry = asked is not None and self._requests.count > asked
            if hurry or not (_under_way() or workers):
                return
            self._requests.sleep(_LOOK_SECONDS)

    def _end_parts(self) -> None:
        for part in reversed(self._lab.parts):
            part.end(_PART_SECONDS, at_once=part not in self._lab.workers)
        kill_lab()


def _under_way() -> list[FlowProcess]:
    return flow_runs_labelled(LAB, this_owner())


def _signal(number: signal.Signals) -> None:
    for one in _under_way():
        one.signal(number)


def _ask_to_cancel(one: FlowProcess) -> None:
    """Ask for the end of a flow run as the UI does: its worker then ends it."""
    end = Cancelling(message=_MESSAGE)
    _asked(lambda client: client.set_flow_run_state(UUID(one.id), end, force=True))


def _end_as_cancelled(client: SyncPrefectClient, flow_run: UUID) -> None:
    close_flow_run(client, client.read_flow_run(flow_run), Cancelled(message=_MESSAGE))


def _asked(question: Callable[[SyncPrefectClient], ResultT]) -> ResultT | None:
    """Ask the API; None if there is no answer in time, or an error."""
    # The server may be gone: what it would have told is lost.
    with suppress(Exception), temporary_settings(_SOON), our_client() as client:
        return question(client)
    return None
