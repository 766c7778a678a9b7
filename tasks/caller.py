"""The command that executes flow runs in its own process: its server, and how they ended."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from prefect import State

from benchyard.core.errors import BenchyardError
from tasks.flow_run import this_flow_run
from tasks.orphans import OrphanNote, close_orphans, this_server


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
    _server: str = ""
    _notes: dict[str, OrphanNote] = field(default_factory=dict[str, OrphanNote])

    def __post_init__(self) -> None:
        self._server = this_server(temporary=self.bring_back is not None)
        close_orphans(self._server)

    def begin(self) -> None:
        """Note the flow run under way: if it is killed, the next command tells the server."""
        flow_run = str(this_flow_run().get("id", ""))
        if flow_run:
            self._notes[flow_run] = OrphanNote(flow_run, self._server)

    def told(self, state: State[Any]) -> State[Any]:
        """Take note that the server knows of this end; return the same."""
        self.end = None
        note = self._notes.pop(str(state.state_details.flow_run_id), None)
        if note is not None:
            note.remove()
        return state

    def untold(self, end: State[Any]) -> None:
        """Keep for the next command what the server could not be told of what is under way."""
        for note in self._notes.values():
            note.keep(end)


_caller: ContextVar[Caller | None] = ContextVar("_caller", default=None)


def current_caller() -> Caller | None:
    """Return the command in whose process this goes on, if there is one."""
    return _caller.get()


@contextmanager
def called_by(caller: Caller) -> Generator[None]:
    """Let the flow runs of the block know who calls them."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def remember_end(state: State[Any]) -> State[Any]:
    """Tell the command, if one calls, what becomes of the flow run; return the same."""
    caller = _caller.get()
    if caller is not None:
        caller.end = state
    return state


def bring_back_server() -> bool:
    """Start the command's own server again if it is gone; nothing is measured meanwhile.

    Returns:
        Whether it had to be started, and is there again.
    """
    caller = _caller.get()
    if caller is None or caller.bring_back is None:
        return False
    with suppress(BenchyardError):
        return caller.bring_back()
    return False
