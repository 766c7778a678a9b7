"""The command that executes flow runs in its own process: its server, and how they ended.

Each flow run of a command is noted in a file until the server knows how it ended. The next command
finds the files whose process is gone, or could not reach the server, and tells it: the flow runs
would stay Running for ever.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec
from prefect import State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.settings import get_current_settings

from benchyard.core import places
from benchyard.core.errors import BenchyardError
from benchyard.core.files import write_json
from benchyard.process.labels import owner_is_alive, this_owner
from tasks.flow_run import flow_run_id
from tasks.pools import close_flow_run
from tasks.prefect_internals import our_client, shared_client

logger = logging.getLogger(__name__)


@dataclass
class Caller:
    """The command; it has one for all of its flow runs.

    Args:
        bring_back: Starts its own server again if that ended or hangs, and tells whether it had
            to; None if the server is somebody else's.
        end: What became of the flow run under way, for the case that no server learns of it.
    """

    bring_back: Callable[[], bool] | None = None
    end: State[Any] | None = None
    _under_way: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._server = _this_server(temporary=self.bring_back is not None)
        close_orphans(self._server)

    def begin(self) -> None:
        """Note the flow run under way: if it is killed, the next command tells the server."""
        flow_run = flow_run_id()
        if flow_run:
            self._under_way.add(flow_run)
            self._note(flow_run)

    def told(self, state: State[Any]) -> State[Any]:
        """Take note that the server knows of this end; return it.

        *Cancel* reaches only what a worker started. The server then takes no end from here, and
        nobody else would end the flow run: the true end is forced on it.
        """
        if state.is_cancelling() and self.end is not None:
            with our_client() as client:
                identity = UUID(str(state.state_details.flow_run_id))
                client.set_flow_run_state(identity, self.end, force=True)
            state = self.end.model_copy(update={"state_details": state.state_details})
        self.end = None
        flow_run = str(state.state_details.flow_run_id)
        if flow_run in self._under_way:
            self._under_way.remove(flow_run)
            with suppress(OSError):
                _file_of(flow_run).unlink()
        return state

    def untold(self, end: State[Any]) -> None:
        """Keep for the next command what the server could not be told of what is under way."""
        for flow_run in self._under_way:
            self._note(flow_run, type=end.type.value, name=end.name, message=end.message)

    def _note(self, flow_run: str, **end: str | None) -> None:
        file = _file_of(flow_run)
        with suppress(OSError):  # without a note the flow run may seem to go on; no more is lost
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, {"server": self._server, "owner": this_owner(), **end})


_caller: ContextVar[Caller | None] = ContextVar("_caller", default=None)


def current_caller() -> Caller | None:
    """Return the command in whose process this goes on, if there is one."""
    return _caller.get()


@contextmanager
def called_by(caller: Caller) -> Generator[None]:
    """Let the flow runs of the block know who calls them, and share a client."""
    token = _caller.set(caller)
    try:
        with shared_client():
            yield
    finally:
        _caller.reset(token)


def remember_end(state: State[Any]) -> State[Any]:
    """Tell the command, if one calls, what becomes of the flow run; return the same."""
    caller = _caller.get()
    if caller is not None:
        caller.end = state
    return state


def bring_back_server() -> bool | None:
    """Start the command's own server again if it is gone; nothing is measured meanwhile.

    Returns:
        Whether it had to be started, and is there again; None if the server is somebody else's.
    """
    caller = _caller.get()
    if caller is None or caller.bring_back is None:
        return None
    try:
        return caller.bring_back()
    except BenchyardError:
        return False


# -- notes


class _Note(msgspec.Struct):
    """Whose a flow run is; and how it ended, if its command knew and could not say."""

    server: str
    owner: str
    type: StateType = StateType.CRASHED
    name: str | None = None
    message: str | None = "the process of this flow run was killed"

    def is_orphan_of(self, server: str) -> bool:
        """Tell whether the flow run is of this server, and its command cannot report its end."""
        return self.server == server and (self.name is not None or not owner_is_alive(self.owner))


def _file_of(flow_run: str) -> Path:
    return places.home() / "flow-runs" / f"{flow_run}.json"


def _this_server(*, temporary: bool) -> str:
    """Return what identifies a server: a digest, since its address may hold a password.

    Args:
        temporary: A temporary one has another address each time, but the same database.
    """
    settings = get_current_settings()
    where = str(settings.api.url)
    if temporary:
        url = settings.server.database.connection_url
        where = url.get_secret_value() if url else os.fspath(settings.home)
    return hashlib.sha256(where.encode()).hexdigest()


def close_orphans(server: str) -> None:
    """Tell a server that answers how the flow runs of dead commands ended; never fail.

    Args:
        server: What ``_this_server`` says of it.
    """
    for file in sorted(_file_of("").parent.glob("*.json")):
        try:
            flow_run, note = UUID(file.stem), msgspec.json.decode(file.read_bytes(), type=_Note)
        except (OSError, ValueError, msgspec.MsgspecError):
            continue
        if note.is_orphan_of(server):
            try:
                with our_client() as client:
                    _close(client, flow_run, note)
                file.unlink(missing_ok=True)
            except (httpx.HTTPError, PrefectHTTPStatusError, OSError) as error:
                logger.debug("could not close what was left: %s", error)
                return


def _close(client: SyncPrefectClient, flow_run: UUID, note: _Note) -> None:
    end: State[Any] = State(type=note.type, name=note.name, message=note.message)
    with suppress(ObjectNotFound):  # somebody deleted it
        close_flow_run(client, client.read_flow_run(flow_run), end)
