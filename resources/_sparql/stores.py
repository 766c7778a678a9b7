"""The base of stores that are loaded over HTTP."""

from abc import ABC
from typing import ClassVar

from benchyard.case.resource import CommandResult, InputFile, Workspace, command
from benchyard.core.errors import CommandFailedError, retold
from resources._containers.servers import ServerContainer
from resources._containers.settings import ContainerSettings
from resources._sparql.uploading import Upload, content_type


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
        self._upload: Upload | None = None

    def wait_until_ready(self) -> None:
        """Wait until it takes files and queries."""
        super().wait_until_ready()
        self._address = self._up().address()

    def abort(self, step: str | None = None) -> None:
        """Kill the container, and break off what is being sent to it."""
        super().abort(step)
        upload = self._upload
        if upload is not None:
            upload.cancel()

    @command
    def load(self, rdf_file: InputFile) -> CommandResult:
        """Load a file into the default graph, or into its own graphs if it names some.

        Args:
            rdf_file: RDF in the format that its suffix says; N-Triples if it says nothing.
        """
        file = self.workspace.file(rdf_file)
        if self._address is None:
            raise CommandFailedError(f"the container of {type(self).__name__} has no address")
        self._upload = Upload(self._address, self._port, self._load_path)
        try:
            return CommandResult(self._upload.send(file, content_type(rdf_file)))
        except CommandFailedError as error:
            raise retold(error, f"{type(self).__name__}, '{rdf_file}': {error}") from error
        finally:
            self._upload = None
