"""Two kinds of containers: those that do one thing and end, and those that serve."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from benchyard.case.resource import CommandResult
from benchyard.core.errors import ResourceError
from resources._containers.base import ContainerResource, ContainerSettingsT
from resources._containers.container import LiveContainer
from resources._containers.engine import EngineError
from resources._containers.specification import Mount, Specification
from resources._files import refuse_missing
from resources._readiness import Readiness, wait_until_ready


class ProgramContainer(ContainerResource[ContainerSettingsT]):
    """A resource whose every command is a container of its own, run to its end."""

    def _call(
        self, arguments: Sequence[str], output_file: str | None = None, mounts: Sequence[Mount] = ()
    ) -> CommandResult:
        """Run a container with these arguments.

        Args:
            output_file: What it must have made in the run's shared folder.
            mounts: What it sees beside what all of this resource's containers see.

        Raises:
            CommandFailedError: If it fails, or the file is not there.
        """
        output = self.workspace.new_file(output_file) if output_file else None
        if output is not None:
            # What an earlier repetition made must not pass for the answer of this one.
            output.unlink(missing_ok=True)
        spec = self._specification()
        seen = (*spec.mounts, *mounts)
        result = self._run(replace(spec, command=tuple(arguments), mounts=seen))
        if output is not None:
            refuse_missing(output, str(output_file), f"'{self._image_name}'")
        return CommandResult(result.values, output or result.output)


#: Begin of the names of the files with a server's own output.
SERVER = "server"


class ServerContainer(ContainerResource[ContainerSettingsT]):
    """A resource that is one container which serves commands until the run ends."""

    _server: LiveContainer | None = None

    def _readiness(self) -> Sequence[Readiness]:
        """Return the ways in which it must be ready; all must say so."""
        return ()

    def start(self) -> None:
        """Create and start the container."""
        super().start()
        self._serve(self._specification())

    def _serve(self, spec: Specification, name: str = SERVER) -> LiveContainer:
        """Create and start the container that serves; for classes whose command does that.

        Args:
            name: Begin of the names of the files with its output.
        """
        container = self._created(spec, name)
        self._server = container
        for way in self._readiness():
            way.prepare(container)
        self._container_set.start(container)
        return container

    def wait_until_ready(self) -> None:
        """Wait until commands are accepted.

        Raises:
            NotReadyError: After the deadline, or as soon as the container died.
        """
        wait_until_ready(self._up(), self._readiness(), self.settings.ready_seconds)

    def _up(self) -> LiveContainer:
        """Return the container.

        Raises:
            ResourceError: If it was never started.
        """
        if self._server is None:
            raise ResourceError(f"the container of {type(self).__name__} was not started")
        return self._server

    def alive(self) -> bool:
        """Tell whether the container runs."""
        with suppress(EngineError):
            return self._server is not None and self._server.running
        return False
