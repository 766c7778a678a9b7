"""The lab's side of the child process that sends queries."""

from pathlib import Path
from typing import Any

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError, NotReadyError, ProgramFailedError
from benchyard.core.model import JsonObject
from resources._workers import Worker

WORKER = Path(__file__).with_name("worker") / "sparql_worker.py"

#: Seconds that its start may take.
READY_DEADLINE = 30.0


class Client(Worker):
    """A child process that takes one request at a time; starts when it is made."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(WORKER, workspace, name="client")

    def wait_until_ready(self) -> None:
        """Wait until it takes requests.

        Raises:
            NotReadyError: If it died or took too long.
        """
        try:
            _values(self.first(READY_DEADLINE))
        except CommandFailedError as error:
            raise NotReadyError(f"the client for queries did not start: {error}") from error

    def request(self, request: JsonObject) -> JsonObject:
        """Let it do something, and wait for what comes of it.

        Raises:
            CommandFailedError: If it cannot, or died.
        """
        return _values(self.ask(request))


def _values(answer: dict[str, Any]) -> JsonObject:
    if "error" in answer:
        kind = ProgramFailedError if answer["refused"] else CommandFailedError
        raise kind(answer["error"])
    return answer["values"]
