"""Stores that are loaded over HTTP: each file sent by the kernel, not through the lab's memory."""

import json
import socket
from abc import ABC
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, responses
from pathlib import Path
from typing import Any, ClassVar, cast

from benchyard.case.resource import CommandResult, InputFile, Workspace, command
from benchyard.core.errors import CommandFailedError, ProgramFailedError, retold
from benchyard.core.model import JsonObject
from resources._containers.base import ServerContainer
from resources._containers.settings import ContainerSettings

#: Bytes of a store's answer that are read.
_TOLD = 2000


def _media_type(file: str) -> str:
    """Return the media type of an RDF file by its suffix, N-Triples if that is of no format."""
    from pyoxigraph import RdfFormat  # noqa: PLC0415 - 11 MB, for few cases

    # OWL has formats of its own; files of that name are RDF/XML, by custom.
    suffix = Path(file).suffix.lower().lstrip(".").replace("owl", "rdf")
    return (RdfFormat.from_extension(suffix) or RdfFormat.N_TRIPLES).media_type


def _counted(said: bytes) -> JsonObject:
    """Read what Fuseki tells of an upload. Source: Fuseki's documentation, "Data Upload"."""
    try:
        told: Any = json.loads(said)
    except ValueError:
        return {}
    number = told.get("count") if isinstance(told, dict) else None  # type: ignore[reportUnknownMemberType]
    return {"triples": number} if isinstance(number, int) else {}


class HttpStore(ServerContainer[ContainerSettings], ABC):
    """A container with a store that takes files by POST.

    The address of the container itself is used: on this host's loopback the engine's proxy
    would copy every byte once more.
    """

    #: The port at which it takes them.
    _port: ClassVar[int]
    #: Where to, with the query.
    _load_path: ClassVar[str]

    def __init__(self, settings: ContainerSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._address: str | None = None
        self._connection: HTTPConnection | None = None

    def wait_until_ready(self) -> None:
        """Wait until it takes files and queries."""
        super().wait_until_ready()
        self._address = self._up().address()

    def abort(self, step: str | None = None) -> None:
        """Kill the container, and break off what is being sent to it."""
        super().abort(step)
        connection = self._connection
        line = cast("socket.socket | None", connection.sock) if connection else None
        if line is not None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    @command
    def load(self, rdf_file: InputFile) -> CommandResult:
        """Load a file into the default graph, or into its own graphs if it names some.

        Args:
            rdf_file: RDF in the format that its suffix says; N-Triples if it says nothing.
        """
        file = self.workspace.file(rdf_file)
        if self._address is None:
            raise CommandFailedError(f"the container of {type(self).__name__} has no address")
        self._connection = HTTPConnection(self._address, self._port)
        try:
            return CommandResult(self._sent(self._connection, file, _media_type(rdf_file)))
        except CommandFailedError as error:
            raise retold(error, f"{type(self).__name__}, '{rdf_file}': {error}") from error

    def _sent(self, connection: HTTPConnection, file: Path, media_type: str) -> JsonObject:
        size = file.stat().st_size
        try:
            response = self._answered(connection, file, media_type, size)
            said = response.read(_TOLD)
        except (OSError, HTTPException) as error:
            is_aborted = self._container_set.aborted
            why = "aborted" if is_aborted else str(error) or type(error).__name__
            raise CommandFailedError(f"the store does not answer: {why}") from error
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            name = f"{response.status} {responses.get(response.status, '')}".strip()
            words = said.decode(errors="replace").strip() or "nothing more"
            raise ProgramFailedError(f"the store refuses it: HTTP {name}; it said: {words}")
        return {"bytes": size, **_counted(said)}

    def _answered(
        self, connection: HTTPConnection, file: Path, media_type: str, size: int
    ) -> HTTPResponse:
        connection.putrequest("POST", self._load_path)
        connection.putheader("Content-Type", media_type)
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        try:
            with file.open("rb") as content:
                cast("socket.socket", connection.sock).sendfile(content)
        except ConnectionError:
            # A store that refuses early does not hear the rest; why it did is still to be read.
            if self._container_set.aborted:
                raise
        return connection.getresponse()
