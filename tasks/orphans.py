"""Close what killed flow runs leave at the server, where they would stay Running for ever.

Prefect's hooks close the task runs of a deployment's flow run. Each flow run of a command is noted
in a file for as long as its process can tell the server itself how it ends; the next command finds
the files whose process is gone.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import httpx
from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.settings import get_current_settings
from prefect.states import Cancelled, Crashed

from benchyard.core import places
from benchyard.core.files import write_json
from benchyard.core.json_text import decoded
from benchyard.process.labels import owner_is_alive, this_owner
from tasks.prefect_internals import each_of, our_client

logger = logging.getLogger(__name__)

_KILLED = "the process of this flow run was killed"


def close_task_runs(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Give each open task run of a crashed or cancelled flow run the end that it had.

    A hook of Prefect's, called in a process of its own or in the last moment of the flow's; it
    must not fail, whatever the server does. Prefect passes the arguments by these names.
    """
    del flow
    try:
        with our_client() as client:
            close_open(client, flow_run, state)
    except Exception:
        logger.debug("could not close the task runs of %s", flow_run.name, exc_info=True)


def close_open(client: SyncPrefectClient, flow_run: FlowRun, state: State[Any]) -> list[str]:
    """Close the open task runs of a flow run and return their names."""
    make_end = Crashed if state.is_crashed() else Cancelled
    message = f"the flow run ended as {state.name}: {state.message or 'no reason was told'}"
    chosen = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run.id]))
    found = [
        task
        for task in each_of(partial(client.read_task_runs, flow_run_filter=chosen))
        if task.state is None or not task.state.is_final()
    ]
    for task in found:
        client.set_task_run_state(task.id, make_end(message=message), force=True)
    return [task.name for task in found]


# -- of commands


class OrphanNote:
    """The note of one flow run of this process.

    Args:
        flow_run: Its id at the server.
        server: What tells this server from others.
    """

    def __init__(self, flow_run: str, server: str) -> None:
        self._file = folder() / f"{flow_run}.json"
        self._about = {"server": server, "owner": this_owner()}
        self._write({})

    def keep(self, end: State[Any]) -> None:
        """Write this end into the note: the server could not be told of it."""
        self._write({"type": end.type.value, "name": end.name, "message": end.message})

    def remove(self) -> None:
        """Remove it: the server knows."""
        with suppress(OSError):
            self._file.unlink()

    def _write(self, end: "dict[str, str | None]") -> None:
        with suppress(OSError):  # without a note the flow run may seem to go on; no more is lost
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._file, {**self._about, **end})


def folder() -> Path:
    """Return where the notes lie."""
    return places.home() / "flow-runs"


def this_server(*, temporary: bool) -> str:
    """Return what tells a server from others; it may hold no password, and so is a digest.

    Args:
        temporary: A temporary one has another address each time, but the same database.
    """
    settings = get_current_settings()
    if temporary:
        url = settings.server.database.connection_url
        where = url.get_secret_value() if url else os.fspath(settings.home)
    else:
        where = str(settings.api.url)
    return hashlib.sha256(where.encode()).hexdigest()


def close_orphans(server: str) -> None:
    """Tell a server that answers how the flow runs of dead commands ended; never fail.

    Args:
        server: What ``this_server`` says of it.
    """
    found = [(file, note) for file, note in _notes() if _is_orphan(note, server)]
    if not found:
        return
    try:
        with our_client() as client:
            for file, note in found:
                _close(client, UUID(file.stem), note)
                file.unlink(missing_ok=True)
    except (httpx.HTTPError, PrefectHTTPStatusError, OSError) as error:
        logger.debug("could not close what was left: %s", error)


def _notes() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(folder().glob("*.json")):
        try:
            UUID(file.stem)
            note: Any = decoded(file.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(note, dict):
            yield file, cast("dict[str, Any]", note)


def _is_orphan(note: dict[str, Any], server: str) -> bool:
    if note.get("server") != server:
        return False
    return "type" in note or not owner_is_alive(str(note.get("owner")))


def _close(client: SyncPrefectClient, flow_run_id: UUID, note: dict[str, Any]) -> None:
    with suppress(ObjectNotFound):  # somebody deleted it
        flow_run = client.read_flow_run(flow_run_id)
        end = _end_of(note)
        if flow_run.state is None or not flow_run.state.is_final():
            client.set_flow_run_state(flow_run_id, end, force=True)
        close_open(client, flow_run, end)


def _end_of(note: dict[str, Any]) -> State[Any]:
    try:
        kind = StateType(note.get("type"))
    except ValueError:
        return Crashed(message=_KILLED)
    return State(type=kind, name=str(note.get("name")), message=str(note.get("message") or ""))
